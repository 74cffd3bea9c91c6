// Products of matrices by mma.sync.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// C (m x n) = A (m x k) B^T (n x k), a warp for each 16 x 16 of C, through ldmatrix.
extern "C" __global__ void mma_f16(const __half *a, const __half *b, float *c, int n, int k) {
    __shared__ __half as[16][24], bs[16][24];
    int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
    float d[2][4] = {};
    for (int at = 0; at < k; at += 16) {
        for (int i = lane; i < 256; i += 32) {
            as[i / 16][i % 16] = a[(row + i / 16) * k + at + i % 16];
            bs[i / 16][i % 16] = b[(column + i / 16) * k + at + i % 16];
        }
        __syncwarp();
        unsigned p[4], q[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(p[0]), "=r"(p[1]), "=r"(p[2]), "=r"(p[3]) : "r"(shared_address(&as[lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3]) : "r"(shared_address(&bs[lane % 16][lane / 16 * 8])));
        for (int j = 0; j < 2; j++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[j]), "r"(q[j + 2]));
        __syncwarp();
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            c[(row + lane / 4 + i / 2 * 8) * n + column + j * 8 + lane % 4 * 2 + i % 2] = d[j][i];
}

extern "C" __global__ void mma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int k) {
    // 16 x 8 of C by one warp, fragments straight from memory.
    int lane = threadIdx.x, r = lane / 4, s = lane % 4 * 2;
    float d[4] = {};
    for (int at = 0; at < k; at += 16) {
        const unsigned *p = (const unsigned *)(a + r * k + at + s), *q = (const unsigned *)(b + r * k + at + s);
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(p[0]), "r"(p[4 * k]), "r"(p[4]), "r"(p[4 * k + 4]), "r"(q[0]), "r"(q[4]));
    }
    for (int i = 0; i < 4; i++) c[(r + i / 2 * 8) * 8 + s + i % 2] = d[i];
}

extern "C" __global__ void mma_tf32(const float *a, const float *b, float *c, int k) {
    int lane = threadIdx.x, r = lane / 4, s = lane % 4;
    float d[4] = {};
    auto round = [](float v) { unsigned u; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(v)); return u; };
    for (int at = 0; at < k; at += 8) {
        const float *p = a + r * k + at + s, *q = b + r * k + at + s;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(round(p[0])), "r"(round(p[8 * k])), "r"(round(p[4])), "r"(round(p[8 * k + 4])), "r"(round(q[0])), "r"(round(q[4])));
    }
    for (int i = 0; i < 4; i++) c[(r + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

extern "C" __global__ void mma_s8(const signed char *a, const signed char *b, int *c, int k) {
    int lane = threadIdx.x, r = lane / 4, s = lane % 4 * 4, d[4] = {};
    for (int at = 0; at < k; at += 32) {
        const int *p = (const int *)(a + r * k + at + s), *q = (const int *)(b + r * k + at + s);
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(p[0]), "r"(p[2 * k]), "r"(p[4]), "r"(p[2 * k + 4]), "r"(q[0]), "r"(q[4]));
    }
    for (int i = 0; i < 4; i++) c[(r + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

extern "C" __global__ void mma_f64(const double *a, const double *b, double *c, int k) {
    int lane = threadIdx.x, r = lane / 4, s = lane % 4;
    double d[2] = {};
    for (int at = 0; at < k; at += 4)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[0]), "+d"(d[1]) : "d"(a[r * k + at + s]), "d"(b[r * k + at + s]));
    c[r * 8 + s * 2] = d[0];
    c[r * 8 + s * 2 + 1] = d[1];
}
