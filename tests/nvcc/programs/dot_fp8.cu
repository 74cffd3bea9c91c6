// Matrix products of eight-bit floating-point numbers.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "dot.h"

__tile_global__ void e4m3(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* c) { dot(a, b, c); }
__tile_global__ void e5m2(const __nv_fp8_e5m2* a, const __nv_fp8_e5m2* b, float* c) { dot(a, b, c); }
