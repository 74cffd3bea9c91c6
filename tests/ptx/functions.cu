// Calls, recursion, function pointers, switches, local arrays, printf, assert.
#include <cassert>
#include <cstdio>

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *y) {
    int t = threadIdx.x;
    y[t] = ackermann(t / 8 % 3, t % 8);
}

struct Pair { int low, high; };

__device__ __noinline__ Pair sorted(int a, int b) {
    Pair result = {a < b ? a : b, a < b ? b : a};
    return result;
}

extern "C" __global__ void sort_small(int *data) {
    int *mine = data + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    int local[8];
    for (int i = 0; i < 8; i++) local[i] = mine[i];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j + 1 < 8 - i; j++) {
            Pair p = sorted(local[j], local[j + 1]);
            local[j] = p.low;
            local[j + 1] = p.high;
        }
    for (int i = 0; i < 8; i++) mine[i] = local[i];
}

__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
__device__ __noinline__ float difference(float a, float b) { return a - b; }
typedef float (*Binary)(float, float);
__device__ Binary table[3] = {add, multiply, difference};

extern "C" __global__ void pointers(const float *x, float *y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    y[t] = table[t % 3](x[t], 3.0f);
}

extern "C" __global__ void interpreter(const int *code, int length, int *y) {
    int t = threadIdx.x;
    int stack[16];
    int top = 0;
    for (int pc = 0; pc < length; pc++) {
        switch (code[pc]) {
        case 0: stack[top++] = t; break;
        case 1: stack[top++] = code[++pc]; break;
        case 2: top--; stack[top - 1] += stack[top]; break;
        case 3: top--; stack[top - 1] *= stack[top]; break;
        case 4: top--; stack[top - 1] -= stack[top]; break;
        case 5: stack[top] = stack[top - 1]; top++; break;
        case 6: if (stack[--top] > 0) pc += code[pc + 1]; else pc++; break;
        case 7: stack[top - 1] = -stack[top - 1]; break;
        }
    }
    y[t] = stack[0];
}

extern "C" __global__ void collatz(const unsigned *x, unsigned *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i];
    unsigned count = 0;
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void greet(const char *name, float value) {
    if (threadIdx.x < 2)
        printf("%s %d: %5.2f %llx %c%%\n", name, threadIdx.x, value, 0x123456789abcULL, 'z');
}

extern "C" __global__ void checked(const int *x) { assert(x[threadIdx.x] > 0); }
