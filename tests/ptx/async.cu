// Copies that run beside threads, and barriers in memory.
#include <cuda/barrier>
#include <cuda_pipeline.h>

extern "C" __global__ void pipeline(const float *x, float *y, int tiles) {
    // Three stages of 128 floats each, by cp.async.
    __shared__ float4 stages[3][32];
    int t = threadIdx.x;
    const float4 *from = (const float4 *)x;
    float4 total = make_float4(0, 0, 0, 0);
    for (int s = 0; s < 2; s++) {
        if (s < tiles) __pipeline_memcpy_async(&stages[s][t], &from[s * 32 + t], 16);
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles) __pipeline_memcpy_async(&stages[(k + 2) % 3][t], &from[(k + 2) * 32 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        float4 v = stages[k % 3][31 - t];
        total.x += v.x; total.y += v.y; total.z += v.z; total.w += v.w;
        __syncthreads();
    }
    ((float4 *)y)[t] = total;
}

extern "C" __global__ void padded(const int *x, int *y, int n) {
    // Copies of 4 bytes, some of which are filled with zeros.
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 60 + t - 2;
    bool in = i >= 0 && i < n;
    __pipeline_memcpy_async(&tile[t], &x[in ? i : 0], 4, in ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (t >= 2 && t < 62 && i < n) y[i] = tile[t - 2] + tile[t - 1] + tile[t] + tile[t + 1] + tile[t + 2];
}

extern "C" __global__ void gemm_pipelined(const float *a, const float *b, float *c, int n) {
    // 32 x 32 of C by 256 threads, slices of 32, two stages.
    __shared__ float as[2][32][32], bs[2][32][32];
    int t = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
    auto fetch = [&](int stage, int k) {
        __pipeline_memcpy_async(&as[stage][t / 8][t % 8 * 4], &a[(row + t / 8) * n + k + t % 8 * 4], 16);
        __pipeline_memcpy_async(&bs[stage][t / 8][t % 8 * 4], &b[(k + t / 8) * n + column + t % 8 * 4], 16);
        __pipeline_commit();
    };
    float sums[4] = {};
    fetch(0, 0);
    for (int k = 0; k < n; k += 32) {
        if (k + 32 < n) { fetch((k / 32 + 1) % 2, k + 32); __pipeline_wait_prior(1); }
        else __pipeline_wait_prior(0);
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int u = 0; u < 4; u++) sums[u] += as[k / 32 % 2][t / 32 + 8 * u][i] * bs[k / 32 % 2][i][t % 32];
        __syncthreads();
    }
    for (int u = 0; u < 4; u++) c[(row + t / 32 + 8 * u) * n + column + t % 32] = sums[u];
}

extern "C" __global__ void barrier_object(const int *x, int *y) {
    // Arrive, do something else, wait.
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(8) unsigned char raw[sizeof(barrier)];
    barrier &bar = *(barrier *)raw;
    __shared__ int values[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    int mine = 0;
    for (int round = 0; round < 3; round++) {
        values[t] = x[round * 128 + t];
        auto token = bar.arrive();
        mine = mine * 3 + t;
        bar.wait(std::move(token));
        mine += values[127 - t];
        bar.arrive_and_wait();
    }
    y[t] = mine;
}
