// Matrix products of f32, directly and as tf32, and of f64.
#include <cuda_tf32.h>

#include "dot.h"

__tile_global__ void f32(const float* a, const float* b, float* c) { dot(a, b, c); }
__tile_global__ void f64(const double* a, const double* b, double* c) { dot(a, b, c); }

__tile_global__ void tf32(const float* a, const float* b, float* c) {
  using whole = ct::shape<32, 32>;
  auto x = ct::element_cast<__nv_tf32>(tiles_of<whole>(a).load(0, 0));
  auto y = ct::element_cast<__nv_tf32>(tiles_of<whole>(b).load(0, 0));
  auto out = tiles_of<whole>(c);
  out.store(ct::mma(x, y, out.load(0, 0)), 0, 0);
}
