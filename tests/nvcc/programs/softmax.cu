// Rows that are normalized, with padding of negative infinity.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using namespace ct::literals;

__tile_global__ void softmax(const float* x, float* y, int rows, int columns) {
  using pair = ct::extents<int, ct::dynamic_extent, ct::dynamic_extent>;
  auto source = ct::partition_view(ct::tensor_span(x, pair{rows, columns}), ct::shape<1, 128>{});
  auto target = ct::partition_view(ct::tensor_span(y, pair{rows, columns}), ct::shape<1, 128>{});
  auto step = int(ct::num_blocks().x);
  for (int row : ct::irange(int(ct::bid().x), rows, step)) {
    auto v = source.load_masked(ct::view_padding_negative_inf_t{}, row, 0);
    auto e = ct::exp(v - ct::reduce_max(v, 1_ic));
    target.store_masked(e / ct::sum(e, 1_ic), row, 0);
  }
}
