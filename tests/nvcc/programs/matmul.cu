// A matrix product of any size: a two-dimensional grid, padded tiles, kernels by template.
#include <cuda_fp16.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

namespace gemm {

template <class T, int M, int N, int K>
__tile_global__ void matmul(const T* a, const T* b, float* c, int m, int n, int k) {
  using pair = ct::extents<int, ct::dynamic_extent, ct::dynamic_extent>;
  auto rows = ct::partition_view(ct::tensor_span(a, pair{m, k}), ct::shape<M, K>{});
  auto columns = ct::partition_view(ct::tensor_span(b, pair{k, n}), ct::shape<K, N>{});
  auto out = ct::partition_view(ct::tensor_span(c, pair{m, n}), ct::shape<M, N>{});
  auto accumulator = ct::zeros<ct::tile<float, ct::shape<M, N>>>();
  int row = int(ct::bid().y), column = int(ct::bid().x);
  for (int i : ct::irange(0, (k + K - 1) / K)) {
    accumulator = ct::mma(rows.load_masked(row, i), columns.load_masked(i, column), accumulator);
  }
  out.store_masked(accumulator, row, column);
}

template __tile_global__ void matmul<__half, 32, 32, 16>(const __half*, const __half*, float*, int,
                                                         int, int);
template __tile_global__ void matmul<float, 16, 16, 16>(const float*, const float*, float*, int,
                                                        int, int);

}  // namespace gemm
