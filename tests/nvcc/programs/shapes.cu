// Operations that only rearrange elements.
#include <cuda_tile.h>

namespace ct = cuda::tiles;
using namespace ct::literals;

template <class Shape, class T>
__tile__ auto view(T* p) {
  using extents = ct::extents<int, Shape::static_extent(0), Shape::static_extent(1)>;
  return ct::partition_view(ct::tensor_span(p, extents{}), Shape{});
}

__tile_global__ void rearrange(const int* x, int* transposed, int* joined, int* part, int* spread) {
  auto v = view<ct::shape<8, 16>>(x).load(0, 0);
  view<ct::shape<16, 8>>(transposed).store(ct::transpose(v), 0, 0);
  view<ct::shape<8, 32>>(joined).store(ct::cat(v, v + 1000, 1_ic), 0, 0);
  view<ct::shape<4, 4>>(part).store(ct::extract(v, ct::shape<4, 4>{}, 1, 2), 0, 0);
  auto row = ct::reshape(ct::iota<ct::tile<int, ct::shape<16>>>(), ct::shape<1, 16>{});
  view<ct::shape<8, 16>>(spread).store(ct::broadcast(row, ct::shape<8, 16>{}), 0, 0);
}

__tile_global__ void cube(const float* x, float* y) {
  using whole = ct::extents<int, 4, 8, 16>;
  auto v = ct::partition_view(ct::tensor_span(x, whole{}), ct::shape<4, 8, 16>{}).load(0, 0, 0);
  auto turned = ct::permute(v, ct::dimension_map{2_ic, 0_ic, 1_ic});
  ct::partition_view(ct::tensor_span(y, ct::extents<int, 16, 4, 8>{}), ct::shape<16, 4, 8>{})
      .store(turned, 0, 0, 0);
}
