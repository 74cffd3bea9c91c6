// Single and double precision: rounding, fast functions, conversions, iterations.
extern "C" __global__ void rounding(const float *a, const float *b, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *row = y + 8 * i;
    row[0] = __fadd_rz(a[i], b[i]);
    row[1] = __fmul_ru(a[i], b[i]);
    row[2] = __fmaf_rd(a[i], b[i], a[i]);
    row[3] = __fdiv_rn(a[i], b[i]);
    row[4] = __fsqrt_rn(fabsf(a[i]));
    row[5] = rintf(a[i]) + floorf(b[i]);
    row[6] = __saturatef(a[i]);
    row[7] = copysignf(fminf(a[i], b[i]), b[i]);
}

extern "C" __global__ void rounding_double(const double *a, const double *b, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double *row = y + 6 * i;
    row[0] = __dadd_rd(a[i], b[i]);
    row[1] = __dmul_rz(a[i], b[i]);
    row[2] = __fma_ru(a[i], b[i], b[i]);
    row[3] = a[i] / b[i];
    row[4] = sqrt(fabs(a[i]));
    row[5] = nearbyint(a[i]) + trunc(b[i]);
}

extern "C" __global__ void fast_functions(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *row = y + 6 * i;
    row[0] = __expf(x[i]);
    row[1] = __logf(x[i]);
    row[2] = __sinf(x[i]);
    row[3] = __cosf(x[i]);
    row[4] = __fdividef(1.0f, x[i]);
    row[5] = rsqrtf(x[i]);
}

extern "C" __global__ void more_functions(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double *row = y + 6 * i;
    row[0] = erf(x[i]);
    row[1] = cbrt(x[i]);
    row[2] = atan2(x[i], 2.0);
    row[3] = tanh(x[i]);
    row[4] = hypot(x[i], 3.0);
    row[5] = log1p(fabs(x[i]));
}

extern "C" __global__ void conversions(const double *x, long long *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long *row = y + 6 * i;
    row[0] = __double2ll_rn(x[i]);
    row[1] = (long long)__double2uint_ru(x[i]);
    row[2] = __double2int_rd(x[i]);
    row[3] = __float2int_rz((float)x[i]);
    row[4] = __double_as_longlong((double)__double2float_rd(x[i]));
    row[5] = __double_as_longlong(__ll2double_rz(row[0] * 1000003));
}

extern "C" __global__ void mandelbrot(int *y, int width, int height, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    float cr = -2.0f + 3.0f * (i % width) / width, ci = -1.5f + 3.0f * (i / width) / height;
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (n < most && __fadd_rn(__fmul_rn(zr, zr), __fmul_rn(zi, zi)) <= 4.0f) {
        float next = __fadd_rn(__fsub_rn(__fmul_rn(zr, zr), __fmul_rn(zi, zi)), cr);
        zi = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, zr), zi), ci);
        zr = next;
        n++;
    }
    y[i] = n;
}

extern "C" __global__ void bodies(const float4 *x, float3 *force, int n) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = x[i];
    float3 f = {0.0f, 0.0f, 0.0f};
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = x[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.25f), s = tile[j].w * r * r * r;
            f.x += s * dx; f.y += s * dy; f.z += s * dz;
        }
        __syncthreads();
    }
    force[i] = f;
}

extern "C" __global__ void newton(const double *a, double *y, int n) {
    // Roots of x^5 = a.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = 1.0 + a[i] / 5.0;
    for (int step = 0; step < 60; step++) x -= (x * x * x * x * x - a[i]) / (5.0 * x * x * x * x);
    y[i] = x;
}

extern "C" __global__ void quantize(const float *x, signed char *y, float scale, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float4 v = *(const float4 *)(x + i);
    char4 q = make_char4(max(-128, min(127, __float2int_rn(v.x / scale))), max(-128, min(127, __float2int_rn(v.y / scale))),
                         max(-128, min(127, __float2int_rn(v.z / scale))), max(-128, min(127, __float2int_rn(v.w / scale))));
    *(char4 *)(y + i) = q;
}
