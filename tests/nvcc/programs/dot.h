// C += A B for matrices of 32 x 32, in two steps over K.
#pragma once
#include <cuda_tile.h>

namespace ct = cuda::tiles;

template <class Shape, class T>
__tile__ auto tiles_of(T* matrix) {
  return ct::partition_view(ct::tensor_span(matrix, ct::extents<int, 32, 32>{}), Shape{});
}

template <class T, class Accumulator>
__tile__ void dot(const T* a, const T* b, Accumulator* c) {
  auto rows = tiles_of<ct::shape<32, 16>>(a);
  auto columns = tiles_of<ct::shape<16, 32>>(b);
  auto out = tiles_of<ct::shape<32, 32>>(c);
  auto accumulator = out.load(0, 0);
  for (int k : ct::irange(0, 2)) {
    accumulator = ct::mma(rows.load(0, k), columns.load(k, 0), accumulator);
  }
  out.store(accumulator, 0, 0);
}
