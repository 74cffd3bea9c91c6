"""Programs on arrays: reductions, scans, sorting, matrices."""

from __future__ import annotations

import numpy as np
from program_table import Case, Close, Sorted, program, small

F32, F64, I32, U32 = np.float32, np.float64, np.int32, np.uint32


@program("reductions", 3, 128)
def sum_rows(rng: np.random.Generator) -> Case:
    x = small(rng, (12, 77))
    return [x, np.zeros(12, F32), 77], {1: x.sum(axis=1)}


@program("reductions", 3, 128)
def sum_block(rng: np.random.Generator) -> Case:
    x = small(rng, 1111)
    return [x, np.zeros(1, F32), 1111], {1: x.sum(keepdims=True)}


@program("reductions", 4, 64)
def arg_max(rng: np.random.Generator) -> Case:
    x = rng.normal(size=250).astype(F32)
    x[[7, 200]] = 9.5
    bits = int(x[7:8].view(U32)[0]) | 0x80000000
    best = np.array([bits << 32 | (0xFFFFFFFF - 7)], np.uint64)
    return [x, np.zeros(1, np.uint64), 250], {1: best}


@program("reductions", 1, 32)
def dot_half(rng: np.random.Generator) -> Case:
    a, b = (small(rng, (50, 2), np.float16) for _ in range(2))
    dot = (a.astype(F32) * b.astype(F32)).sum(keepdims=True).reshape(1)
    return [a, b, np.zeros(1, F32), 50], {2: dot}


@program("reductions", 5, 32)
def reduce_integers(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 1 << 32, (5, 32)).astype(U32)
    rows = [x.sum(axis=1, dtype=U32), x.min(axis=1), x.view(I32).max(axis=1).view(U32)]
    rows += [op.reduce(x, axis=1) for op in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    return [x, np.zeros((5, 6), U32)], {1: np.stack(rows, axis=1)}


@program("reductions", 3, 64)
def segmented_sum(rng: np.random.Generator) -> Case:
    keys = np.sort(rng.integers(0, 20, 170)).astype(I32)
    x = small(rng, 170, I32, 1000)
    segments = np.bincount(keys, x, 20).astype(I32)
    return [keys, x, np.zeros(20, I32), 170], {2: segments}


@program("reductions", 2, 64)
def max_double(rng: np.random.Generator) -> Case:
    x = rng.normal(size=100)
    return [x, np.full(1, -1e300), 100], {1: x.max(keepdims=True)}


@program("reductions", 1, 128)
def variance(rng: np.random.Generator) -> Case:
    x = rng.normal(3, 2, 500).astype(F32)
    exact = np.array([x.astype(F64).mean(), x.astype(F64).var()])
    return [x, np.zeros(2), 500], {1: Close(exact, 1e-13)}


@program("scans", 3, 256)
def scan_block(rng: np.random.Generator) -> Case:
    x = small(rng, (3, 256), I32, 1000)
    return [x, np.zeros_like(x)], {1: np.cumsum(x, axis=1, dtype=I32)}


@program("scans", 2, 64, shared=128 * 4)
def scan_blelloch(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 1000, (2, 128)).astype(U32)
    return [x, np.zeros_like(x)], {1: np.cumsum(x, axis=1, dtype=U32) - x}


@program("scans", 7, 64)
def scan_look_back(rng: np.random.Generator) -> Case:
    x = small(rng, 7 * 64, I32, 1000)
    state = np.zeros(7, np.uint64)
    return [x, np.zeros_like(x), state], {1: np.cumsum(x, dtype=I32)}


@program("scans", 4, 96)
def compact(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 1000, 350).astype(I32)
    kept = np.sort(x[x % 3 == 0])
    count = np.array([len(kept)], I32)
    return [x, np.zeros(350, I32), np.zeros(1, I32), 350], {1: Sorted(kept), 2: count}


@program("scans", 2, 256)
def radix_sort(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 1 << 32, (2, 256)).astype(U32)
    return [x], {0: np.sort(x, axis=1)}


@program("scans", 3, 128)
def bitonic_sort(rng: np.random.Generator) -> Case:
    x = rng.normal(size=(3, 128)).astype(F32)
    return [x], {0: np.sort(x, axis=1)}


@program("scans", 3, 64)
def merge_paths(rng: np.random.Generator) -> Case:
    a, b = (np.sort(rng.integers(0, 99, n)).astype(I32) for n in (80, 90))
    merged = np.sort(np.concatenate((a, b)))
    return [a, 80, b, 90, np.zeros(170, I32)], {4: merged}


@program("matrices", (2, 2), (32, 8))
def transpose_swizzled(rng: np.random.Generator) -> Case:
    x = small(rng, (64, 64), I32, 9999)
    return [x, np.zeros_like(x), 64], {1: np.ascontiguousarray(x.T)}


@program("matrices", 3, (32, 4))
def matvec(rng: np.random.Generator) -> Case:
    a, x = small(rng, (11, 70), F64), small(rng, 70, F64)
    return [a, x, np.zeros(11), 11, 70], {2: a @ x}


@program("matrices", (2, 2), 256)
def gemm_registers(rng: np.random.Generator) -> Case:
    a, b = small(rng, (128, 128)), small(rng, (128, 128))
    return [a, b, np.zeros((128, 128), F32), 128], {2: a @ b}


@program("matrices", (2, 3), (16, 8))
def blur(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 256, (20, 30)).astype(np.uint8)
    row = np.array([1, 4, 6, 4, 1])
    padded = np.pad(x.astype(np.int64), 2, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    blurred = (windows * np.outer(row, row)).sum(axis=(2, 3)) / 256
    return [x, np.zeros_like(x), 20, 30], {1: np.rint(blurred).astype(np.uint8)}


@program("matrices", (2, 2, 2), (8, 8, 8))
def stencil(rng: np.random.Generator) -> Case:
    x = small(rng, (12, 12, 12), limit=99)
    p = np.pad(x, 1)
    around = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1]
    around += p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2]
    return [x, np.zeros_like(x), 12], {1: around - 6 * x}


@program("matrices", 4, 32)
def jacobi(rng: np.random.Generator) -> Case:
    x = rng.normal(size=100)
    wanted = x.copy()
    for _ in range(6):
        wanted[1:-1] = 0.5 * (wanted[:-2] + wanted[2:])
    return [x.copy(), np.zeros(100), 100, 6, np.zeros(1, U32)], {0: wanted}


@program("matrices", 2, 32)
def invert(rng: np.random.Generator) -> Case:
    x = rng.normal(size=(40, 3, 3)).astype(F32) + 4 * np.eye(3, dtype=F32)
    exact = np.linalg.inv(x.astype(F64))
    return [x, np.zeros_like(x), 40], {1: Close(exact, 1e-4, 1e-5)}


@program("matrices", 2, 32)
def sparse(rng: np.random.Generator) -> Case:
    dense = small(rng, (50, 40)) * (rng.random((50, 40)) < 0.2)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(51)).astype(I32)
    x = small(rng, 40)
    args = [starts, columns.astype(I32), dense[rows, columns].astype(F32), x, np.zeros(50, F32), 50]
    return args, {4: (dense @ x).astype(F32)}
