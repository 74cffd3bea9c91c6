// Prefix sums and products, in both directions.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using namespace ct::literals;

template <class T>
__tile__ auto view(T* p) {
  return ct::partition_view(ct::tensor_span(p, ct::extents<int, 4, 64>{}), ct::shape<4, 64>{});
}

__tile_global__ void add(const int* x, int* forward, int* backward) {
  auto v = view(x).load(0, 0);
  view(forward).store(ct::partial_sum(v, 1_ic), 0, 0);
  view(backward).store(ct::partial_sum(v, 0_ic, ct::scan_backward_t{}), 0, 0);
}

__tile_global__ void prod(const double* x, double* out) {
  view(out).store(ct::partial_prod(view(x).load(0, 0), 1_ic), 0, 0);
}
