// Elementwise kernels, strided loops, structures by value, double precision functions.
struct Affine { float scale; double offset; int shift[3]; };

extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void grid_stride_sum(const int *x, long long *y, int n) {
    long long total = 0;
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) total += x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

extern "C" __global__ void by_value(Affine f, const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = f.scale * x[i] + f.offset + f.shift[i % 3];
}

extern "C" __global__ void functions(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = exp(x[i]);
    y[4 * i + 1] = sin(x[i]);
    y[4 * i + 2] = log(fabs(x[i]) + 1.0);
    y[4 * i + 3] = pow(fabs(x[i]), 0.3);
}

extern "C" __global__ void single_functions(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = expf(x[i]);
    y[4 * i + 1] = cosf(x[i] * 1000.0f);
    y[4 * i + 2] = tanhf(x[i]);
    y[4 * i + 3] = 1.0f / sqrtf(fabsf(x[i]) + 0.5f);
}

extern "C" __global__ void integers(const unsigned *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = x[(i + 1) % n] | 1;
    y[6 * i] = a / b + a % b;
    y[6 * i + 1] = __brev(a) ^ (unsigned)__popc(b);
    y[6 * i + 2] = __umulhi(a, b) + (unsigned)__clz((int)a);
    y[6 * i + 3] = __funnelshift_l(a, b, a & 31);
    y[6 * i + 4] = __byte_perm(a, b, 0x3715);
    y[6 * i + 5] = (unsigned)((int)a / (int)b) + (unsigned)((long long)a * b >> 13);
}
