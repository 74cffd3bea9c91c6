// A program with host code: it launches a kernel, and checks the result.
#include <cstdio>
#include <cuda_runtime.h>
#include <cuda_tile.h>

namespace ct = cuda::tiles;

__tile_global__ void axpy(const float* x, float* y, float a, int n) {
  auto i = ct::iota<ct::tile<int, ct::shape<64>>>() + int(ct::bid().x) * 64;
  auto inside = i < n;
  auto value = a * ct::load_masked(x + i, inside) + ct::load_masked(y + i, inside);
  ct::store_masked(y + i, value, inside);
}

constexpr int no_gpu = 77;

int main() {
  constexpr int n = 100;
  float *x, *y;
  if (cudaMallocManaged(&x, n * sizeof(float)) || cudaMallocManaged(&y, n * sizeof(float))) {
    std::puts("no GPU");
    return no_gpu;
  }
  for (int i = 0; i < n; ++i) x[i] = float(i), y[i] = 1.0f;
  axpy<<<2, 1>>>(x, y, 2.0f, n);
  if (cudaError_t error = cudaDeviceSynchronize()) {
    std::puts(cudaGetErrorString(error));
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (y[i] != 2.0f * float(i) + 1.0f) {
      std::printf("expected %g at %d, got %g\n", 2.0f * i + 1.0f, i, y[i]);
      return 1;
    }
  }
  std::puts("done");
}
