// Integers: division, wide products, bits, bytes, carries, hashes.
extern "C" __global__ void divide_64(const long long *a, const long long *b, long long *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = a[i] / b[i];
    y[4 * i + 1] = a[i] % b[i];
    y[4 * i + 2] = (long long)((unsigned long long)a[i] / (unsigned long long)b[i]);
    y[4 * i + 3] = (long long)((unsigned long long)a[i] % (unsigned long long)b[i]);
}

extern "C" __global__ void divide_constants(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = x[i] / 7;
    y[4 * i + 1] = x[i] % 1000;
    y[4 * i + 2] = (int)((unsigned)x[i] / 641u);
    y[4 * i + 3] = x[i] / 8 + x[i] % 16;
}

extern "C" __global__ void mod_power(const unsigned long long *base, const unsigned *exponent, unsigned long long *y) {
    // Modulo 2^61 - 1, by products of 128 bits.
    const unsigned long long p = (1ull << 61) - 1;
    unsigned long long b = base[threadIdx.x] % p, result = 1;
    for (unsigned e = exponent[threadIdx.x]; e; e >>= 1) {
        unsigned long long *into = e & 1 ? &result : nullptr;
        for (int square = 0; square < 2; square++) {
            unsigned long long l = square ? b : result, low = l * b, high = __umul64hi(l, b);
            unsigned long long r = (low & p) + (low >> 61 | high << 3);
            r = r >= p ? r - p : r;
            if (square) b = r;
            else if (into) *into = r;
        }
    }
    y[threadIdx.x] = result;
}

extern "C" __global__ void bits(const unsigned long long *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned low = (unsigned)x[i], high = (unsigned)(x[i] >> 32);
    int *row = y + 8 * i;
    row[0] = __popcll(x[i]);
    row[1] = __clzll(x[i]);
    row[2] = __ffs(low);
    row[3] = (int)(__brevll(x[i]) >> 32);
    row[4] = (int)__funnelshift_r(low, high, 11);
    row[5] = __sad((int)low, (int)high, 5u);
    row[6] = __mulhi((int)low, (int)high) + __mul24((int)low, (int)high);
    row[7] = (int)__rhadd((int)low, (int)high) ^ __hadd((int)low, (int)high);
}

extern "C" __global__ void bytes(const unsigned *a, const unsigned *b, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned *row = y + 7 * i;
    row[0] = __byte_perm(a[i], b[i], 0x6240);
    row[1] = __dp4a(a[i], b[i], 100u);
    row[2] = (unsigned)__dp4a((int)a[i], (int)b[i], -7);
    row[3] = (unsigned)__dp2a_lo((int)a[i], (int)b[i], 3);
    row[4] = __vadd4(a[i], b[i]);
    row[5] = __vabsdiffu4(a[i], b[i]);
    row[6] = __vmaxs2(a[i], b[i]);
}

__constant__ unsigned crc_table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

extern "C" __global__ void crc32(const unsigned char *text, unsigned *y, int length) {
    unsigned c = 0xffffffffu;
    for (int i = 0; i < length; i++) {
        c ^= text[threadIdx.x * length + i];
        c = c >> 4 ^ crc_table[c & 15];
        c = c >> 4 ^ crc_table[c & 15];
    }
    y[threadIdx.x] = ~c;
}

extern "C" __global__ void add_large(const unsigned *a, const unsigned *b, unsigned *y) {
    // Numbers of 160 bits.
    const unsigned *p = a + 5 * threadIdx.x, *q = b + 5 * threadIdx.x;
    unsigned r0, r1, r2, r3, r4;
    asm("add.cc.u32 %0, %5, %10; addc.cc.u32 %1, %6, %11; addc.cc.u32 %2, %7, %12;"
        "addc.cc.u32 %3, %8, %13; addc.u32 %4, %9, %14;"
        : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3), "=r"(r4)
        : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]), "r"(q[4]));
    unsigned *r = y + 5 * threadIdx.x;
    r[0] = r0; r[1] = r1; r[2] = r2; r[3] = r3; r[4] = r4;
}

extern "C" __global__ void wide_product(const long long *a, const long long *b, unsigned long long *y) {
    int i = threadIdx.x;
    __int128 p = (__int128)a[i] * b[i];
    y[2 * i] = (unsigned long long)p;
    y[2 * i + 1] = (unsigned long long)(p >> 64);
}

extern "C" __global__ void gcd(const unsigned *a, const unsigned *b, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = a[i], v = b[i];
    while (v) { unsigned r = u % v; u = v; v = r; }
    y[i] = u;
}

extern "C" __global__ void random_numbers(unsigned *y, unsigned seed, int rounds) {
    unsigned long long state = seed + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned long long old = state;
        state = old * 6364136223846793005ull + 1442695040888963407ull;
        unsigned shifted = (unsigned)((old >> 18 ^ old) >> 27), turn = (unsigned)(old >> 59);
        x ^= __funnelshift_r(shifted, shifted, turn);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__device__ unsigned turn(unsigned v, int n) { return __funnelshift_r(v, v, n); }

extern "C" __global__ void sha256(const unsigned *blocks, unsigned *digests) {
    // One block of 64 bytes each; round constants from the fractions of cube roots.
    __shared__ unsigned k[64];
    if (threadIdx.x < 64) {
        int prime = 1, found = -1;
        while (found < (int)threadIdx.x) {
            prime++;
            bool is_prime = true;
            for (int d = 2; d * d <= prime; d++) is_prime &= prime % d != 0;
            found += is_prime;
        }
        double root = cbrt((double)prime);
        k[threadIdx.x] = (unsigned)(unsigned long long)((root - floor(root)) * 4294967296.0);
    }
    __syncthreads();
    unsigned w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++) w[i] = __byte_perm(blocks[16 * threadIdx.x + i], 0, 0x0123);
    // Not unrolled: the PTX would be ten times as long and test the same.
#pragma unroll 1
    for (int i = 16; i < 64; i++) {
        unsigned a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    unsigned v[8];
    for (int i = 0; i < 8; i++) v[i] = h[i];
#pragma unroll 1
    for (int i = 0; i < 64; i++) {
        unsigned t1 = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        unsigned t2 = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) digests[8 * threadIdx.x + i] = __byte_perm(h[i] + v[i], 0, 0x0123);
}
