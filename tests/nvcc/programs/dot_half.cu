// Matrix products of f16 and bf16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "dot.h"

__tile_global__ void f16_f32(const __half* a, const __half* b, float* c) { dot(a, b, c); }
__tile_global__ void f16_f16(const __half* a, const __half* b, __half* c) { dot(a, b, c); }
__tile_global__ void bf16_f32(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  dot(a, b, c);
}
