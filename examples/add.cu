// A kernel in CUDA Tile C++: each block adds 16 elements of two arrays.
//
//   tilewright run add.cu --grid 4 --arg iota:64xf32 --arg ones:64xf32 --arg sum.npy=zeros:64xf32 --arg 64 --show 2
//   tilewright nvcc --enable-tile -std=c++20 -arch=sm_90 --tilecubin add.cu -o add.cubin
#include <cuda_tile.h>

namespace ct = cuda::tiles;

__tile_global__ void add(const float* x, const float* y, float* sum, int n) {
  auto i = ct::iota<ct::tile<int, ct::shape<16>>>() + int(ct::bid().x) * 16;
  auto inside = i < n;
  ct::store_masked(sum + i, ct::load_masked(x + i, inside) + ct::load_masked(y + i, inside), inside);
}

// RUN grid=4
// ARG x = random:64xf32:1
// ARG y = random:64xf32:2
// ARG sum = zeros:64xf32
// ARG n = 64
