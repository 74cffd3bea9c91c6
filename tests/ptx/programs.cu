// Functions, objects, memory on the heap and the stack, jumps, texts.
#include <cstdio>

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recurse(int *y) { y[threadIdx.x] = fibonacci(threadIdx.x % 12); }

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Disk : Shape {
    float radius;
    __device__ Disk(float radius) : radius(radius) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};

extern "C" __global__ void shapes(const float *x, float *y) {
    int i = threadIdx.x;
    Shape *shape = i % 3 ? (Shape *)new Square(x[i]) : (Shape *)new Disk(x[i]);
    y[i] = shape->area();
    delete shape;
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__constant__ Operation operations[3] = {plus, minus, times};

extern "C" __global__ void by_table(const int *which, const int *a, const int *b, int *y) {
    int i = threadIdx.x;
    y[i] = operations[which[i]](a[i], b[i]);
}

struct Pair { double mean; int count; unsigned char tag; };

__device__ __noinline__ Pair make_pair(Pair old, float v) {
    old.mean += ((double)v - old.mean) / ++old.count;
    old.tag ^= (unsigned char)old.count;
    return old;
}

extern "C" __global__ void structures(const float *x, double *y, int n) {
    Pair p = {0.0, 0, 'a'};
    for (int i = 0; i < n; i++) p = make_pair(p, x[threadIdx.x * n + i]);
    y[2 * threadIdx.x] = p.mean;
    y[2 * threadIdx.x + 1] = p.count * 1000 + p.tag;
}

__device__ int total_visits;
__device__ int visits[4] = {10, 20, 30, 40};

extern "C" __global__ void remember(int *y) {
    atomicAdd(&total_visits, 1);
    int old = atomicAdd(&visits[threadIdx.x % 4], 1);
    y[blockIdx.x * blockDim.x + threadIdx.x] = old / 10;
}

extern "C" __global__ void jump_table(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], r;
    switch (v % 11) {
        case 0: r = v * 3; break;
        case 1: r = v ^ 0x55; break;
        case 2: r = v << 2;
        case 3: r = v - 9; break;
        case 4: r = __popc(v); break;
        case 5: r = v * v; break;
        case 6: r = ~v; break;
        case 7: r = v / 5; break;
        case 8: r = v & 0xff; break;
        case 9: r = -v; break;
        default: r = 1;
    }
    y[i] = r;
}

extern "C" __global__ void linked_list(int *y) {
    struct Node { int value; Node *next; };
    Node *head = nullptr;
    for (int i = 0; i < (int)threadIdx.x % 7 + 1; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->value = i * i;
        node->next = head;
        head = node;
    }
    int total = 0, weight = 1;
    while (head) {
        total += weight++ * head->value;
        Node *next = head->next;
        free(head);
        head = next;
    }
    y[threadIdx.x] = total;
}

extern "C" __global__ void on_the_stack(int *y) {
    int n = threadIdx.x % 9 + 1;
    int *a = (int *)alloca(n * sizeof(int));
    for (int i = 0; i < n; i++) a[i] = i ? a[i - 1] * 2 + i : 1;
    y[threadIdx.x] = a[n - 1] + a[n / 2];
}

extern "C" __global__ void quick_sort(int *x, int n) {
    int *data = x + threadIdx.x * n, stack[32], top = 0;
    stack[top++] = 0;
    stack[top++] = n - 1;
    while (top) {
        int high = stack[--top], low = stack[--top];
        if (low >= high) continue;
        int pivot = data[high], i = low;
        for (int j = low; j < high; j++)
            if (data[j] < pivot) { int s = data[i]; data[i] = data[j]; data[j] = s; i++; }
        data[high] = data[i];
        data[i] = pivot;
        stack[top++] = low; stack[top++] = i - 1;
        stack[top++] = i + 1; stack[top++] = high;
    }
}

extern "C" __global__ void report(const float *x) {
    if (x[threadIdx.x] > 0.0f)
        printf("%2d|%-6.2f|%+d|%05x|%s|%lld|%c|%%\n", (int)threadIdx.x, x[threadIdx.x], -(int)threadIdx.x,
               threadIdx.x * 77u, threadIdx.x % 2 ? "odd" : "even", 1ll << (40 + threadIdx.x), 'a' + threadIdx.x);
}

extern "C" __global__ void two_arrays(const int *x, int *y, int n) {
    extern __shared__ char raw[];
    int *first = (int *)raw;
    short *second = (short *)(first + n);
    int t = threadIdx.x;
    first[t] = x[t];
    second[n - 1 - t] = (short)(x[t] * 3);
    __syncthreads();
    y[t] = first[n - 1 - t] + second[t];
}

extern "C" __global__ void __launch_bounds__(64) early_exit(const int *x, int *y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x, found = -1;
    for (int step = 0; step < n; step++) {
        if (x[(i + step) % n] % 17 == 3) { found = step; break; }
        if (step > 40 && threadIdx.x & 1) return;
    }
    y[i] = found;
}

extern "C" __global__ void life(const unsigned char *x, unsigned char *y, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    int around = 0;
    for (int di = n - 1; di <= n + 1; di++)
        for (int dj = n - 1; dj <= n + 1; dj++)
            if (di != n || dj != n) around += x[(i + di) % n * n + (j + dj) % n];
    y[i * n + j] = around == 3 || (around == 2 && x[i * n + j]);
}

template <int N> struct Polynomial {
    float c[N];
    __device__ float operator()(float x) const {
        float r = 0.0f;
#pragma unroll
        for (int i = N - 1; i >= 0; i--) r = fmaf(r, x, c[i]);
        return r;
    }
};

template <class F> __device__ float integrate(F f, float a, float b, int n) {
    float total = 0.0f, h = (b - a) / n;
    for (int i = 0; i < n; i++) total += f(a + (i + 0.5f) * h);
    return total * h;
}

extern "C" __global__ void integrals(const float *c, float *y) {
    Polynomial<4> p = {c[0], c[1], c[2], c[3]};
    float shift = threadIdx.x * 0.25f;
    y[threadIdx.x] = integrate([=](float x) { return p(x - shift); }, 0.0f, 2.0f, 64);
}
