// f16, bf16 and f8: arithmetic in pairs, comparisons, conversions, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_axpy(const __half2 *x, __half2 *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

extern "C" __global__ void half_ops(const __half *a, const __half *b, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half *row = y + 8 * i;
    row[0] = __hadd(a[i], b[i]);
    row[1] = __hsub(a[i], b[i]);
    row[2] = __hmul(a[i], b[i]);
    row[3] = __hdiv(a[i], b[i]);
    row[4] = __hmax(a[i], b[i]);
    row[5] = __hneg(__habs(a[i]));
    row[6] = hsqrt(__habs(a[i]));
    row[7] = __hadd_sat(a[i], b[i]);
}

extern "C" __global__ void half_compare(const __half2 *a, const __half2 *b, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[3 * i] = __hlt2_mask(a[i], b[i]);
    y[3 * i + 1] = (unsigned)__hbeq2(a[i], b[i]) * 2 + (unsigned)__hisnan(__low2half(a[i]));
    __half2 larger = __hge2(a[i], b[i]);
    y[3 * i + 2] = *(unsigned *)&larger;
}

extern "C" __global__ void half_integers(const __half *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = __half2int_rn(x[i]);
    y[4 * i + 1] = __half2int_rz(x[i]);
    y[4 * i + 2] = __half2short_rd(x[i]);
    y[4 * i + 3] = __half_as_ushort(__int2half_rn(__half2int_ru(x[i]) * 3));
}

extern "C" __global__ void bf16_ops(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 *row = y + 5 * i;
    row[0] = __hadd(a[i], b[i]);
    row[1] = __hmul(a[i], b[i]);
    row[2] = __hfma(a[i], b[i], a[i]);
    row[3] = __hmin(a[i], b[i]);
    row[4] = __float2bfloat16_rn(__bfloat162float(a[i]) * 1.0078125f + __bfloat162float(b[i]));
}

extern "C" __global__ void bf16_pairs(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[3 * i] = __hfma2_relu(a[i], b[i], a[i]);
    y[3 * i + 1] = __hmax2(a[i], b[i]);
    float2 p = __bfloat1622float2(a[i]);
    y[3 * i + 2] = __floats2bfloat162_rn(p.y * 3.0f, p.x / 3.0f);
}

extern "C" __global__ void softmax_half(const __half *x, __half *y, int columns) {
    int lane = threadIdx.x, row = blockIdx.x;
    float high = -1e30f, total = 0.0f;
    for (int i = lane; i < columns; i += 32) high = fmaxf(high, __half2float(x[row * columns + i]));
    for (int step = 16; step > 0; step /= 2) high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, step));
    for (int i = lane; i < columns; i += 32) total += expf(__half2float(x[row * columns + i]) - high);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    for (int i = lane; i < columns; i += 32)
        y[row * columns + i] = __float2half(expf(__half2float(x[row * columns + i]) - high) / total);
}

extern "C" __global__ void half_atomics(const __half2 *x, __half2 *sums, __nv_bfloat162 *others, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&sums[i % 4], x[i]);
    float2 p = __half22float2(x[i]);
    atomicAdd(&others[i % 4], __floats2bfloat162_rn(p.x, p.y));
}

extern "C" __global__ void quantize_f8(const float2 *x, unsigned short *e4m3, unsigned short *e5m2, float2 *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    e4m3[i] = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E4M3);
    e5m2[i] = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E5M2);
    __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(e4m3[i], __NV_E4M3);
    back[i] = __half22float2(*(__half2 *)&raw);
}
