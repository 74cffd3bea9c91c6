// Output of kernels.
#include <cstdio>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

__tile_global__ void show(int n, float x) {
  printf("n = %d, x = %5.2f%%\n", n, x);
  if (n > 2) printf("%i more\n", n - 2);
}
