// An assertion that some arguments violate.
#include <cassert>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

__tile_global__ void reciprocal(float* x, int n) {
  assert(n > 0 && n <= 16);
  auto i = ct::iota<ct::tile<int, ct::shape<16>>>();
  auto inside = i < n;
  ct::store_masked(x + i, 1.0f / ct::load_masked(x + i, inside, 1.0f), inside);
}
