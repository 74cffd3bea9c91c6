// Shared memory, barriers, atomics, locks between blocks.
extern "C" __global__ void reduce(const float *x, float *y, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
}

extern "C" __global__ void scan(const int *x, int *y) {
    extern __shared__ int buffer[];
    int t = threadIdx.x, n = blockDim.x;
    int from = 0, to = 1;
    buffer[t] = x[blockIdx.x * n + t];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        int value = buffer[from * n + t];
        if (t >= offset) value += buffer[from * n + t - offset];
        buffer[to * n + t] = value;
        int swap = from;
        from = to;
        to = swap;
        __syncthreads();
    }
    y[blockIdx.x * n + t] = buffer[from * n + t];
}

extern "C" __global__ void transpose(const float *x, float *y, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8) {
        int row = blockIdx.y * 32 + j;
        if (row < rows && column < columns) tile[j][threadIdx.x] = x[row * columns + column];
    }
    __syncthreads();
    int row = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8) {
        int out = blockIdx.x * 32 + j;
        if (out < columns && row < rows) y[out * rows + row] = tile[threadIdx.x][j];
    }
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (mine[i]) atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float total = 0.0f;
    for (int at = 0; at < k; at += 16) {
        int ka = at + threadIdx.x, kb = at + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) total += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = total;
}

__device__ unsigned lock = 0;

extern "C" __global__ void locked_list(int *list, int *length) {
    if (threadIdx.x % 3) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0u, 1u) == 0u) {
            int at = *(volatile int *)length;
            *(volatile int *)(list + at) = blockIdx.x * 1000 + threadIdx.x;
            *(volatile int *)length = at + 1;
            __threadfence();
            atomicExch(&lock, 0u);
            done = true;
        }
    }
}

__device__ unsigned arrived = 0;

extern "C" __global__ void last_block_sums(const int *x, int *parts, int *total) {
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int i = 0; i < gridDim.x; i++) all += ((volatile int *)parts)[i];
        *total = all;
    }
}
