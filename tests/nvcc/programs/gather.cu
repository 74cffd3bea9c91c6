// Elements by computed addresses, and rows by a list of indices.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using namespace ct::literals;

__tile_global__ void permute(const float* x, const int* order, float* gathered, float* scattered) {
  auto i = ct::iota<ct::tile<int, ct::shape<128>>>();
  auto at = ct::load(order + i);
  ct::store(gathered + i, ct::load(x + at));
  ct::store(scattered + at, ct::load(x + i));
}

__tile_global__ void rows(const float* table, const int* which, float* out, int count) {
  auto source = ct::gather_scatter_view(ct::tensor_span(table, ct::extents<int, 64, 16>{}),
                                        ct::shape<8, 16>{}, 0_ic);
  auto target = ct::partition_view(ct::tensor_span(out, ct::extents<int, 8, 16>{}),
                                   ct::shape<8, 16>{});
  auto i = ct::iota<ct::tile<int, ct::shape<8>>>();
  auto index = ct::load_masked(which + i, i < count, 0);
  target.store(source.load(index, 0), 0, 0);
}
