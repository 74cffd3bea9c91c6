// Sums, extremes and their like over warps, blocks and grids.
#include <cuda_fp16.h>

__device__ float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void sum_rows(const float *x, float *y, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    float total = 0.0f;
    for (int i = threadIdx.x % 32; i < columns; i += 32) total += x[row * columns + i];
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) y[row] = total;
}

extern "C" __global__ void sum_block(const float *x, float *y, int n) {
    __shared__ float parts[32];
    float total = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 32) {
        total = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
        total = warp_sum(total);
        if (threadIdx.x == 0) atomicAdd(y, total);
    }
}

extern "C" __global__ void arg_max(const float *x, unsigned long long *best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // Order of floats as order of integers; of equal ones the first index wins.
    unsigned bits = __float_as_uint(x[i]);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    atomicMax(best, (unsigned long long)bits << 32 | (0xffffffffu - i));
}

extern "C" __global__ void dot_half(const __half2 *a, const __half2 *b, float *y, int n) {
    float total = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float2 p = __half22float2(__hmul2(a[i], b[i]));
        total += p.x + p.y;
    }
    total = warp_sum(total);
    if (threadIdx.x == 0) *y = total;
}

extern "C" __global__ void reduce_integers(const unsigned *x, unsigned *y) {
    unsigned v = x[blockIdx.x * 32 + threadIdx.x];
    unsigned all = 0xffffffffu;
    unsigned sum = __reduce_add_sync(all, v), low = __reduce_min_sync(all, v);
    int high = __reduce_max_sync(all, (int)v);
    unsigned both = __reduce_and_sync(all, v), any = __reduce_or_sync(all, v);
    unsigned odd = __reduce_xor_sync(all, v);
    if (threadIdx.x == 0) {
        unsigned *row = y + 6 * blockIdx.x;
        row[0] = sum; row[1] = low; row[2] = (unsigned)high; row[3] = both; row[4] = any; row[5] = odd;
    }
}

extern "C" __global__ void segmented_sum(const int *keys, const int *x, int *y, int n) {
    // Neighbours with the same key are summed by the first of them in the warp.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, key = i < n ? keys[i] : -1, v = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_down_sync(0xffffffffu, v, step);
        int its = __shfl_down_sync(0xffffffffu, key, step);
        if (lane + step < 32 && its == key) v += other;
    }
    int before = __shfl_up_sync(0xffffffffu, key, 1);
    if (key >= 0 && (lane == 0 || before != key)) atomicAdd(&y[key], v);
}

extern "C" __global__ void max_double(const double *x, double *best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long *place = (unsigned long long *)best, old = *place;
    while (__longlong_as_double(old) < x[i]) {
        unsigned long long seen = atomicCAS(place, old, __double_as_longlong(x[i]));
        if (seen == old) break;
        old = seen;
    }
}

struct Moments { double n, mean, m2; };

__device__ Moments combine(Moments a, Moments b) {
    if (a.n == 0.0) return b;
    if (b.n == 0.0) return a;
    double n = a.n + b.n, d = b.mean - a.mean;
    return {n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n};
}

extern "C" __global__ void variance(const float *x, double *y, int n) {
    __shared__ Moments parts[128];
    Moments mine = {0.0, 0.0, 0.0};
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine = combine(mine, {1.0, (double)x[i], 0.0});
    parts[threadIdx.x] = mine;
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + step]);
    }
    if (threadIdx.x == 0) { y[0] = parts[0].mean; y[1] = parts[0].m2 / n; }
}
