// Loops whose length depends on data, and branches that leave early.
#include <cuda_tile.h>

namespace ct = cuda::tiles;

__tile_global__ void collatz(const int* x, int* steps) {
  int block = int(ct::bid().x);
  int n = int(ct::load(x + block)), count = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    if (++count == 100) break;
  }
  ct::store(steps + block, count);
}

__tile_global__ void first_blocks(float* x, int limit) {
  int block = int(ct::bid().x);
  if (block >= limit) return;
  auto i = ct::iota<ct::tile<int, ct::shape<16>>>() + block * 16;
  auto v = ct::load(x + i);
  for (int k : ct::irange(0, block)) {
    if (k == 2) continue;
    v = v + float(k + 1);
  }
  switch (block) {
    case 0: v = -v; break;
    case 1: v = v * 2.0f; [[fallthrough]];
    default: v = v + 100.0f;
  }
  ct::store(x + i, v);
}
