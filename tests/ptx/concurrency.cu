// Threads that wait for each other: locks, queues, named barriers, tiles of threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void spin_lock(int *lock, int *value) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)value += (int)threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void ticket_lock(unsigned *tickets, int *log, int *length) {
    // Only one thread of a block at a time; log[i] is who held the lock i-th.
    if (threadIdx.x != 0) return;
    unsigned mine = atomicAdd(&tickets[0], 1);
    while (*(volatile unsigned *)&tickets[1] != mine) {}
    __threadfence();
    int at = *(volatile int *)length;
    log[at] = (int)mine * 100;
    *(volatile int *)length = at + 1;
    __threadfence();
    atomicAdd(&tickets[1], 1);
}

extern "C" __global__ void pass_on(int *values, int *flags, int rounds) {
    // Blocks in a ring; each adds one and hands over to the next.
    if (threadIdx.x == 0)
        for (int r = 0; r < rounds; r++) {
            int turn = r * gridDim.x + blockIdx.x;
            while (atomicAdd(flags, 0) != turn) {}
            __threadfence();
            values[turn + 1] = ((volatile int *)values)[turn] + (int)blockIdx.x + 1;
            __threadfence();
            atomicExch(flags, turn + 1);
        }
}

extern "C" __global__ void push_stack(unsigned long long *head, unsigned *next) {
    // Head: a counter of changes above an index; 0 is the end.
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x + 1;
    unsigned long long old = *(volatile unsigned long long *)head, seen;
    do {
        seen = old;
        next[me] = (unsigned)seen;
        __threadfence();
        old = atomicCAS(head, seen, (seen >> 32) + 1 << 32 | me);
    } while (old != seen);
}

extern "C" __global__ void count_words(const unsigned char *text, unsigned long long *counts, int n) {
    __shared__ unsigned long long mine[32];
    if (threadIdx.x < 32) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&mine[text[i] & 31], 1ull << 33 | text[i]);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void rings(unsigned *up, unsigned *down, unsigned *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[i] = atomicInc(up, 9);
    atomicDec(down, 6);
}

extern "C" __global__ void votes(const int *x, int *y) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int count = __syncthreads_count(v > 0), all = __syncthreads_and(v > -90), any = __syncthreads_or(v > 95);
    unsigned odd = __ballot_sync(0xffffffffu, v & 1);
    bool warp_all = __all_sync(0xffffffffu, v < 99), warp_any = __any_sync(0xffffffffu, v == 42);
    int *row = y + 6 * (blockIdx.x * blockDim.x + threadIdx.x);
    row[0] = count; row[1] = all != 0; row[2] = any != 0; row[3] = (int)odd; row[4] = warp_all; row[5] = warp_any;
}

extern "C" __global__ void specialists(const int *x, int *y, int rounds) {
    // Warp 0 produces into two buffers, warp 1 consumes; they meet at barriers 1 to 4.
    __shared__ int buffer[2][32];
    int lane = threadIdx.x % 32, total = 0;
    for (int r = 0; r < rounds; r++) {
        int full = 1 + r % 2, empty = 3 + r % 2;
        if (threadIdx.x < 32) {
            if (r >= 2) asm volatile("barrier.sync %0, 64;" ::"r"(empty) : "memory");
            buffer[r % 2][lane] = x[r * 32 + lane] * 2;
            asm volatile("barrier.arrive %0, 64;" ::"r"(full) : "memory");
        } else {
            asm volatile("barrier.sync %0, 64;" ::"r"(full) : "memory");
            total += buffer[r % 2][31 - lane];
            if (r + 2 < rounds) asm volatile("barrier.arrive %0, 64;" ::"r"(empty) : "memory");
        }
    }
    if (threadIdx.x >= 32) y[lane] = total;
}

extern "C" __global__ void tiles(const int *x, int *y) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int v = x[block.group_index().x * block.size() + block.thread_rank()];
    int sum = cg::reduce(tile, v, cg::plus<int>()), high = cg::reduce(tile, v, cg::greater<int>());
    int turned = tile.shfl(v, (tile.thread_rank() + 3) % tile.size());
    auto some = cg::coalesced_threads();
    int *row = y + 4 * (block.group_index().x * block.size() + block.thread_rank());
    row[0] = sum; row[1] = high; row[2] = turned;
    row[3] = 0;
    if (v % 2) {
        auto odd = cg::coalesced_threads();
        row[3] = (int)odd.size() * 100 + (int)odd.thread_rank();
    }
    some.sync();
}

extern "C" __global__ void group_by_key(const int *keys, int *counts, int *ranks, int n) {
    // One atomic for all threads of a warp that have the same key.
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    unsigned same = __match_any_sync(active, keys[i]);
    int leader = __ffs(same) - 1, start = 0;
    if (lane == leader) start = atomicAdd(&counts[keys[i]], __popc(same));
    start = __shfl_sync(same, start, leader);
    ranks[i] = start + __popc(same & ((1u << lane) - 1));
}

extern "C" __global__ void last_writer(int *grid_sum, const int *x, int *result, unsigned *done) {
    // Blocks publish sums with system fences; the last one reads all of them.
    __shared__ bool last;
    int v = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        grid_sum[blockIdx.x] = v;
        __threadfence_system();
        last = atomicAdd_system(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int total = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 32) total += ((volatile int *)grid_sum)[i];
    total = __reduce_add_sync(0xffffffffu, total);
    if (threadIdx.x == 0) *result = total;
}
