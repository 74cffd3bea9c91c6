// Clusters, distributed shared memory, bulk copies, wgmma.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *x, int *bins, int n) {
    // 256 bins over the shared memory of four blocks.
    __shared__ int mine[64];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 64) mine[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int *there = cluster.map_shared_rank(mine, x[i] / 64);
        atomicAdd(there + x[i] % 64, 1);
    }
    cluster.sync();
    if (threadIdx.x < 64) atomicAdd(&bins[cluster.block_rank() * 64 + threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_exchange(const float *x, float *y) {
    __shared__ float values[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    values[t] = x[blockIdx.x * 64 + t];
    cluster.sync();
    float *other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
    float sum = values[t] * 2.0f + other[63 - t];
    cluster.sync();
    y[blockIdx.x * 64 + t] = sum;
}

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
                 " @done bra over; bra again; over: }" ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void bulk_reverse(const int *x, int *y, int tiles) {
    // Tiles of 256 integers come in by bulk copies, are reversed, and go out by bulk copies.
    __shared__ alignas(128) int in[2][256], out[256];
    __shared__ alignas(8) unsigned long long full[2];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    auto fetch = [&](int k) {
        unsigned bar = shared_address(&full[k % 2]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     ::"r"(shared_address(in[k % 2])), "l"(x + (blockIdx.x * tiles + k) * 256), "r"(bar) : "memory");
    };
    if (t == 0) fetch(0);
    for (int k = 0; k < tiles; k++) {
        if (t == 0 && k + 1 < tiles) fetch(k + 1);
        wait(shared_address(&full[k % 2]), k / 2 % 2);
        out[255 - t] = in[k % 2][t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;"
                         ::"l"(y + (blockIdx.x * tiles + k) * 256), "r"(shared_address(out)) : "memory");
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncthreads();
    }
}

__device__ unsigned long long descriptor(const void *p) {
    // Eight rows of 16 bytes at a time, without swizzle: 128 bytes along k, 256 along m or n.
    unsigned long long at = shared_address(p);
    return (at & 0x3ffff) >> 4 | (unsigned long long)(128 >> 4) << 16 | (unsigned long long)(256 >> 4) << 32;
}

extern "C" __global__ void __launch_bounds__(128) wgmma_tile(const __half *a, const __half *b, float *c, int k) {
    // 64 x 16 of C from A (64 x k) and B (16 x k, rows are columns of the product).
    __shared__ alignas(128) __half as[64 * 16], bs[16 * 16];
    int t = threadIdx.x;
    float d[8] = {};
    for (int at = 0; at < k; at += 16) {
        for (int i = t; i < 64 * 16; i += 128) {
            int r = i / 16, s = i % 16;
            as[(r / 8) * 128 + (s / 8) * 64 + r % 8 * 8 + s % 8] = a[r * k + at + s];
        }
        for (int i = t; i < 16 * 16; i += 128) {
            int r = i / 16, s = i % 16;
            bs[(r / 8) * 128 + (s / 8) * 64 + r % 8 * 8 + s % 8] = b[r * k + at + s];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "l"(descriptor(as)), "l"(descriptor(bs)));
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            c[(row + 8 * j) * 16 + column + 8 * i] = d[4 * i + 2 * j];
            c[(row + 8 * j) * 16 + column + 8 * i + 1] = d[4 * i + 2 * j + 1];
        }
}
