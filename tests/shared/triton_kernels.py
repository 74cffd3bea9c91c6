"""Kernels in Triton of the usual kinds; tests run them on the emulator."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * row_stride + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * row_stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def matmul(
    a, b, c, m, n, k, a_stride, b_stride, c_stride,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    steps = tl.arange(0, K)
    accumulator = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        inside = first + steps < k
        left = tl.load(
            a + rows[:, None] * a_stride + (first + steps)[None, :],
            mask=(rows[:, None] < m) & inside[None, :], other=0.0,
        )  # fmt: skip
        right = tl.load(
            b + (first + steps)[:, None] * b_stride + columns[None, :],
            mask=inside[:, None] & (columns[None, :] < n), other=0.0,
        )  # fmt: skip
        accumulator = tl.dot(left, right, accumulator)
    tl.store(
        c + rows[:, None] * c_stride + columns[None, :], accumulator.to(c.dtype.element_ty),
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )  # fmt: skip


@triton.jit
def matmul_of_descriptors(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    accumulator = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        accumulator = tl.dot(a.load([row, first]), b.load([first, column]), accumulator)
    c.store([row, column], accumulator.to(c.dtype))


@triton.jit
def copy_by_own_descriptors(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(out, [m, n], [n, 1], [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    target.store(at, source.load(at) * 2)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    normal = centred * scale * tl.load(weight + at, mask=inside)
    tl.store(out + row + at, normal + tl.load(bias + at, mask=inside), mask=inside)


@triton.jit
def atomics(x, totals, largest, lock, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(totals + at % 8, values, mask=at < n)
    tl.atomic_max(largest, tl.max(values, axis=0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(lock + 1, volatile=True)
    tl.store(lock + 1, count + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def histogram(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def scan(x, out, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def gather(x, index, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    near = tl.gather(tl.load(x + at), tl.load(index + at), axis=0)
    tl.store(out + at, near)


@triton.jit
def collatz(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=1)
    steps = tl.zeros((BLOCK,), dtype=tl.int32)
    while tl.max(values, axis=0) > 1:
        odd = values % 2 == 1
        running = values > 1
        values = tl.where(running, tl.where(odd, 3 * values + 1, values // 2), values)
        steps += running.to(tl.int32)
    tl.store(out + at, steps, mask=at < n)


@triton.jit
def sort_rows(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * M + tl.arange(0, M)
    inner = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + inner[None, :])
    largest = tl.full((M,), -float("inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    accumulator = tl.zeros((M, D), tl.float32)
    for first in range(0, length, N):
        columns = first + tl.arange(0, N)
        keys = tl.load(k + head + columns[None, :] * D + inner[:, None])
        scores = tl.dot(queries, keys) * scale
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp(largest - new_largest)
        powers = tl.exp(scores - new_largest[:, None])
        values = tl.load(v + head + columns[:, None] * D + inner[None, :])
        weight = weight * shrink + tl.sum(powers, 1)
        accumulator = tl.dot(powers.to(values.dtype), values, accumulator * shrink[:, None])
        largest = new_largest
    tl.store(out + head + rows[:, None] * D + inner[None, :], accumulator / weight[:, None])


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    kept = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=mask) / (1 - p), 0.0), mask=mask)


@triton.jit
def scalars(out, a, b, c, d, flag, pair, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = a + b * c + d + pair[0] * pair[1]
    tl.store(out + at, tl.where(flag, value, 0.0).to(tl.float64))


@triton.jit
def print_values(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x + at))


@triton.jit
def without_mask(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2)  # out of bounds


@triton.jit
def racing_blocks(out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, at + tl.program_id(0))  # all blocks


@triton.jit
def small_values(x, limit, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + at) < limit, "a value is too large")  # fails


@triton.jit
def twice(x):
    return tl.load(x) * 2  # in a function


@triton.jit
def through_function(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, twice(x + at))  # calls it


@triton.jit
def endless(x):
    while tl.load(x, volatile=True) == 0:
        pass


def first_fitting_configurations():
    """Configurations of which the first does not fit into shared memory, and the others do."""
    sizes = ((128, 256, 128), (32, 32, 32), (16, 32, 32))
    return [triton.Config({"M": m, "N": n, "K": k}, num_warps=4, num_stages=4) for m, n, k in sizes]


tuned_matmul = triton.autotune(configs=first_fitting_configurations(), key=["m", "n", "k"])(matmul)
