// Prefix sums, compaction, sorting.
__device__ int warp_scan(int v) {
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffffu, v, step);
        if (lane >= step) v += other;
    }
    return v;
}

extern "C" __global__ void scan_block(const int *x, int *y) {
    __shared__ int totals[32];
    int t = threadIdx.x, warp = t / 32, i = blockIdx.x * blockDim.x + t;
    int v = warp_scan(x[i]);
    if (t % 32 == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) totals[t] = warp_scan(t < blockDim.x / 32 ? totals[t] : 0);
    __syncthreads();
    y[i] = v + (warp ? totals[warp - 1] : 0);
}

extern "C" __global__ void scan_blelloch(const unsigned *x, unsigned *y) {
    extern __shared__ unsigned tree[];
    int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n;
    tree[t] = x[base + t];
    tree[t + n / 2] = x[base + t + n / 2];
    int offset = 1;
    for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    if (t == 0) tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            unsigned left = tree[a];
            tree[a] = tree[b];
            tree[b] += left;
        }
    }
    __syncthreads();
    y[base + t] = tree[t];
    y[base + t + n / 2] = tree[t + n / 2];
}

// Each block publishes its sum and then its prefix; the next ones look back, waiting.
extern "C" __global__ void scan_look_back(const int *x, int *y, volatile unsigned long long *state) {
    __shared__ int before, totals[32];
    int t = threadIdx.x, warp = t / 32, i = blockIdx.x * blockDim.x + t;
    int v = warp_scan(x[i]);
    if (t % 32 == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) totals[t] = warp_scan(t < blockDim.x / 32 ? totals[t] : 0);
    __syncthreads();
    if (warp) v += totals[warp - 1];
    if (t == blockDim.x - 1) {
        int prefix = 0;
        if (blockIdx.x == 0) {
            state[0] = 2ull << 32 | (unsigned)v;
        } else {
            state[blockIdx.x] = 1ull << 32 | (unsigned)v;
            for (int b = blockIdx.x - 1; b >= 0; b--) {
                unsigned long long seen;
                do seen = state[b]; while (seen >> 32 == 0);
                prefix += (int)(unsigned)seen;
                if (seen >> 32 == 2) break;
            }
            state[blockIdx.x] = 2ull << 32 | (unsigned)(prefix + v);
        }
        before = prefix;
    }
    __syncthreads();
    y[i] = v + before;
}

extern "C" __global__ void compact(const int *x, int *y, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = i < n && x[i] % 3 == 0;
    unsigned mask = __ballot_sync(0xffffffffu, keep);
    int start = 0;
    if (lane == 0) start = atomicAdd(count, __popc(mask));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keep) y[start + __popc(mask & ((1u << lane) - 1))] = x[i];
}

extern "C" __global__ void radix_sort(unsigned *x) {
    __shared__ unsigned values[256], totals[8];
    int t = threadIdx.x;
    values[t] = x[blockIdx.x * 256 + t];
    for (int bit = 0; bit < 32; bit++) {
        __syncthreads();
        unsigned v = values[t], zero = ~v >> bit & 1;
        unsigned mask = __ballot_sync(0xffffffffu, zero);
        if (t % 32 == 0) totals[t / 32] = __popc(mask);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; w++) {
            if (w < t / 32) before += totals[w];
            all += totals[w];
        }
        int zeros = before + __popc(mask & ((1u << t % 32) - 1));
        values[zero ? zeros : all + t - zeros] = v;
    }
    __syncthreads();
    x[blockIdx.x * 256 + t] = values[t];
}

extern "C" __global__ void bitonic_sort(float *x) {
    __shared__ float v[128];
    int t = threadIdx.x;
    v[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                bool up = (t & size) == 0;
                float a = v[t], b = v[other];
                if ((a > b) == up) { v[t] = b; v[other] = a; }
            }
            __syncthreads();
        }
    x[blockIdx.x * 128 + t] = v[t];
}

extern "C" __global__ void merge_paths(const int *a, int na, const int *b, int nb, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= na + nb) return;
    int low = max(0, i - nb), high = min(i, na);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[i - mid - 1]) low = mid + 1;
        else high = mid;
    }
    int j = i - low;
    out[i] = j >= nb || (low < na && a[low] <= b[j]) ? a[low] : b[j];
}
