// Matrices, stencils, constant memory, vector loads.
__constant__ float weights[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};

extern "C" __global__ void transpose_swizzled(const int *x, int *y, int n) {
    __shared__ int tile[32 * 32];
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int j = ty; j < 32; j += 8)
        tile[j * 32 + (tx ^ j)] = x[(blockIdx.y * 32 + j) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    for (int j = ty; j < 32; j += 8)
        y[(blockIdx.x * 32 + j) * n + blockIdx.y * 32 + tx] = tile[tx * 32 + (j ^ tx)];
}

extern "C" __global__ void matvec(const double *a, const double *x, double *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    double total = 0.0;
    for (int i = threadIdx.x; i < columns; i += 32) total += a[row * columns + i] * x[i];
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    if (threadIdx.x == 0) y[row] = total;
}

extern "C" __global__ void gemm_registers(const float *a, const float *b, float *c, int n) {
    // 64 x 64 of C by 256 threads, 4 x 4 each; n is a multiple of 64.
    __shared__ float as[16][64], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sums[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        float4 v = *(const float4 *)&a[(row + t / 4) * n + k + t % 4 * 4];
        as[t % 4 * 4][t / 4] = v.x;
        as[t % 4 * 4 + 1][t / 4] = v.y;
        as[t % 4 * 4 + 2][t / 4] = v.z;
        as[t % 4 * 4 + 3][t / 4] = v.w;
        *(float4 *)&bs[t / 16][t % 16 * 4] = *(const float4 *)&b[(k + t / 16) * n + column + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 p = *(const float4 *)&as[i][ty * 4], q = *(const float4 *)&bs[i][tx * 4];
            float left[4] = {p.x, p.y, p.z, p.w}, right[4] = {q.x, q.y, q.z, q.w};
            for (int u = 0; u < 4; u++)
                for (int w = 0; w < 4; w++) sums[u][w] += left[u] * right[w];
        }
        __syncthreads();
    }
    for (int u = 0; u < 4; u++)
        *(float4 *)&c[(row + ty * 4 + u) * n + column + tx * 4] =
            make_float4(sums[u][0], sums[u][1], sums[u][2], sums[u][3]);
}

extern "C" __global__ void blur(const unsigned char *x, unsigned char *y, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    float total = 0.0f;
    for (int di = -2; di <= 2; di++)
        for (int dj = -2; dj <= 2; dj++) {
            int r = min(max(i + di, 0), height - 1), s = min(max(j + dj, 0), width - 1);
            total += weights[(di + 2) * 5 + dj + 2] * x[r * width + s];
        }
    y[i * width + j] = (unsigned char)__float2int_rn(total / 256.0f);
}

extern "C" __global__ void stencil(const float *x, float *y, int n) {
    __shared__ float tile[10][10][10];
    int lx = threadIdx.x, ly = threadIdx.y, lz = threadIdx.z;
    for (int t = (lz * 8 + ly) * 8 + lx; t < 1000; t += 512) {
        int i = blockIdx.z * 8 + t / 100 - 1, j = blockIdx.y * 8 + t / 10 % 10 - 1, k = blockIdx.x * 8 + t % 10 - 1;
        bool in = i >= 0 && i < n && j >= 0 && j < n && k >= 0 && k < n;
        tile[t / 100][t / 10 % 10][t % 10] = in ? x[(i * n + j) * n + k] : 0.0f;
    }
    __syncthreads();
    float s = tile[lz][ly + 1][lx + 1] + tile[lz + 2][ly + 1][lx + 1] + tile[lz + 1][ly][lx + 1] +
              tile[lz + 1][ly + 2][lx + 1] + tile[lz + 1][ly + 1][lx] + tile[lz + 1][ly + 1][lx + 2];
    int i = blockIdx.z * 8 + lz, j = blockIdx.y * 8 + ly, k = blockIdx.x * 8 + lx;
    if (i < n && j < n && k < n) y[(i * n + j) * n + k] = s - 6.0f * tile[lz + 1][ly + 1][lx + 1];
}

__device__ void grid_barrier(unsigned *arrived, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < goal) {}
        __threadfence();
    }
    __syncthreads();
}

// All blocks meet after every step.
extern "C" __global__ void jacobi(double *x, double *next, int n, int steps, unsigned *arrived) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < steps; step++) {
        double *from = step % 2 ? next : x, *to = step % 2 ? x : next;
        if (i > 0 && i < n - 1) to[i] = 0.5 * (((volatile double *)from)[i - 1] + ((volatile double *)from)[i + 1]);
        else if (i < n) to[i] = ((volatile double *)from)[i];
        grid_barrier(arrived, gridDim.x * (step + 1));
    }
}

extern "C" __global__ void invert(const float *x, float *y, int count) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;
    float a[3][6];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++) a[i][j] = j < 3 ? x[9 * m + 3 * i + j] : (j - 3 == i);
    for (int c = 0; c < 3; c++) {
        int pivot = c;
        for (int r = c + 1; r < 3; r++) if (fabsf(a[r][c]) > fabsf(a[pivot][c])) pivot = r;
        for (int j = 0; j < 6; j++) { float s = a[c][j]; a[c][j] = a[pivot][j]; a[pivot][j] = s; }
        float scale = 1.0f / a[c][c];
        for (int j = 0; j < 6; j++) a[c][j] *= scale;
        for (int r = 0; r < 3; r++) {
            if (r == c) continue;
            float f = a[r][c];
            for (int j = 0; j < 6; j++) a[r][j] -= f * a[c][j];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) y[9 * m + 3 * i + j] = a[i][j + 3];
}

extern "C" __global__ void sparse(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0.0f;
    for (int i = starts[row]; i < starts[row + 1]; i++) total += values[i] * __ldg(&x[columns[i]]);
    y[row] = total;
}
