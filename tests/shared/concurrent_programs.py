"""Programs whose threads wait for each other: locks, votes, tiles, pipelines, clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from program_table import Case, Satisfies, Sorted, program, small

F32, I32, U32 = np.float32, np.int32, np.uint32


@program("concurrency", 4, 32)
def spin_lock(rng: np.random.Generator) -> Case:
    return [np.zeros(1, I32), np.zeros(1, I32)], {1: np.array([4 * 31 * 16], I32)}


@program("concurrency", 6, 32)
def ticket_lock(rng: np.random.Generator) -> Case:
    log = np.arange(6, dtype=I32) * 100
    args = [np.zeros(2, U32), np.full(8, -1, I32), np.zeros(1, I32)]
    wanted = {0: np.array([6, 6], U32), 1: np.append(log, [-1, -1]).astype(I32)}
    return args, {**wanted, 2: np.array([6], I32)}


@program("concurrency", 5, 32)
def pass_on(rng: np.random.Generator) -> Case:
    values = np.concatenate(([0], np.cumsum(np.tile(np.arange(1, 6), 3)))).astype(I32)
    return [np.zeros(16, I32), np.zeros(1, I32), 3], {0: values, 1: np.array([15], I32)}


@program("concurrency", 3, 64)
def push_stack(rng: np.random.Generator) -> Case:
    """The list has every thread once, in some order."""

    def is_list(args: Sequence[Any]) -> bool:
        changes, at = divmod(int(args[0][0]), 1 << 32)
        threads: list[int] = []
        while at:
            threads.append(at)
            at = int(args[1][at])
        return changes == 192 and sorted(threads) == list(range(1, 193))

    return [np.zeros(1, np.uint64), np.zeros(193, U32)], {1: Satisfies(is_list)}


@program("concurrency", 2, 96)
def count_words(rng: np.random.Generator) -> Case:
    text = rng.integers(0, 256, 500).astype(np.uint8)
    weighted = np.bincount(text & 31, text, 32).astype(np.uint64)
    counts = np.bincount(text & 31, minlength=32).astype(np.uint64)
    wanted = np.uint64(2) * (weighted + (counts << np.uint64(33)))
    return [text, np.zeros(32, np.uint64), 500], {1: wanted}


@program("concurrency", 2, 32)
def rings(rng: np.random.Generator) -> Case:
    seen = np.sort(np.arange(64) % 10).astype(U32)
    args = [np.zeros(1, U32), np.array([3], U32), np.zeros(64, U32)]
    # Four steps from 3 down to 0 and up to 6, then whole cycles of seven, then four more steps.
    return args, {0: np.array([4], U32), 1: np.array([6 - (64 - 4) % 7], U32), 2: Sorted(seen)}


@program("concurrency", 3, 96)
def votes(rng: np.random.Generator) -> Case:
    x = rng.integers(-95, 100, (3, 96)).astype(I32)
    warps = x.reshape(3, 3, 32)
    odd = ((warps & 1).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=2)
    columns = [
        (x > 0).sum(axis=1, keepdims=True), (x > -90).all(axis=1, keepdims=True),
        (x > 95).any(axis=1, keepdims=True), np.repeat(odd.astype(U32).view(I32), 32, axis=1),
        np.repeat((warps < 99).all(axis=2), 32, axis=1),
        np.repeat((warps == 42).any(axis=2), 32, axis=1),
    ]  # fmt: skip
    wanted = np.stack([np.broadcast_to(c, (3, 96)).astype(I32) for c in columns], axis=2)
    return [x, np.zeros((3, 96, 6), I32)], {1: wanted}


@program("concurrency", 1, 64)
def specialists(rng: np.random.Generator) -> Case:
    x = small(rng, (7, 32), I32, 100)
    return [x, np.zeros(32, I32), 7], {1: 2 * x.sum(axis=0, dtype=I32)[::-1]}


@program("concurrency", 2, 64)
def tiles(rng: np.random.Generator) -> Case:
    x = small(rng, (2, 8, 8), I32, 50)
    odd = (x % 2 != 0).reshape(4, 32)
    ranks = np.where(odd, odd.sum(axis=1, keepdims=True) * 100 + np.cumsum(odd, axis=1) - 1, 0)
    columns = [
        np.repeat(x.sum(axis=2, keepdims=True), 8, axis=2),
        np.repeat(x.max(axis=2, keepdims=True), 8, axis=2), np.roll(x, -3, axis=2),
        ranks.reshape(x.shape),
    ]  # fmt: skip
    wanted = np.stack([column.astype(I32) for column in columns], axis=3)
    return [x, np.zeros((2, 8, 8, 4), I32)], {1: wanted}


@program("concurrency", 1, 64)
def group_by_key(rng: np.random.Generator) -> Case:
    keys = rng.integers(0, 5, 60).astype(I32)
    counts = np.bincount(keys, minlength=5).astype(I32)

    def are_ranks(args: Sequence[Any]) -> bool:
        """Warps run in any order, but the ranks of a key are all numbers below its count."""
        ranks = args[2]
        return all(np.sort(ranks[keys == k]).tolist() == list(range(counts[k])) for k in range(5))

    args = [keys, np.zeros(5, I32), np.zeros(60, I32), 60]
    return args, {1: counts, 2: Satisfies(are_ranks)}


@program("concurrency", 5, 32)
def last_writer(rng: np.random.Generator) -> Case:
    x = small(rng, (5, 32), I32, 1000)
    args = [np.zeros(5, I32), x, np.zeros(1, I32), np.zeros(1, U32)]
    return args, {0: x.sum(axis=1, dtype=I32), 2: x.sum(dtype=I32).reshape(1)}


@program("async async.sm_90a", 1, 32)
def pipeline(rng: np.random.Generator) -> Case:
    x = small(rng, (7, 32, 4))
    return [x, np.zeros((32, 4), F32), 7], {1: x.sum(axis=0)[::-1]}


@program("async async.sm_90a", 3, 64)
def padded(rng: np.random.Generator) -> Case:
    x = small(rng, 170, I32, 1000)
    windows = np.convolve(x, np.ones(5, I32), "same").astype(I32)
    return [x, np.zeros(170, I32), 170], {1: windows}


@program("async async.sm_90a", (2, 2), 256)
def gemm_pipelined(rng: np.random.Generator) -> Case:
    a, b = small(rng, (64, 64)), small(rng, (64, 64))
    return [a, b, np.zeros((64, 64), F32), 64], {2: a @ b}


@program("async async.sm_90a", 1, 128)
def barrier_object(rng: np.random.Generator) -> Case:
    x = small(rng, (3, 128), I32, 1000)
    mine = np.zeros(128, I32)
    for row in x:
        mine = mine * 3 + np.arange(128, dtype=I32) + row[::-1]
    return [x, np.zeros(128, I32)], {1: mine}


@program("hopper", 8, 64)
def cluster_histogram(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 256, 1500).astype(I32)
    bins = np.bincount(x, minlength=256).astype(I32)
    return [x, np.zeros(256, I32), 1500], {1: bins}


@program("hopper", 4, 64)
def cluster_exchange(rng: np.random.Generator) -> Case:
    x = small(rng, (2, 2, 64))
    return [x, np.zeros_like(x)], {1: 2 * x + x[:, ::-1, ::-1]}


@program("hopper", 2, 256)
def bulk_reverse(rng: np.random.Generator) -> Case:
    x = small(rng, (2, 3, 256), I32, 9999)
    return [x, np.zeros_like(x), 3], {1: np.ascontiguousarray(x[:, :, ::-1])}


@program("hopper", 1, 128)
def wgmma_tile(rng: np.random.Generator) -> Case:
    a, b = small(rng, (64, 48), np.float16), small(rng, (16, 48), np.float16)
    return [a, b, np.zeros((64, 16), F32), 48], {2: a.astype(F32) @ b.astype(F32).T}


@program("tensor_cores", (2, 3), 32)
def mma_f16(rng: np.random.Generator) -> Case:
    a, b = small(rng, (48, 64), np.float16), small(rng, (32, 64), np.float16)
    return [a, b, np.zeros((48, 32), F32), 32, 64], {2: a.astype(F32) @ b.astype(F32).T}


@program("tensor_cores", 1, 32)
def mma_bf16(rng: np.random.Generator) -> Case:
    a, b = small(rng, (16, 64)), small(rng, (8, 64))
    operands = [(x.view(U32) >> U32(16)).astype(np.uint16) for x in (a, b)]
    return [*operands, np.zeros((16, 8), F32), 64], {2: a @ b.T}


@program("tensor_cores", 1, 32)
def mma_tf32(rng: np.random.Generator) -> Case:
    a, b = small(rng, (16, 40), limit=99), small(rng, (8, 40), limit=99)
    return [a, b, np.zeros((16, 8), F32), 40], {2: a @ b.T}


@program("tensor_cores", 1, 32)
def mma_s8(rng: np.random.Generator) -> Case:
    a, b = (rng.integers(-128, 128, (n, 96)).astype(np.int8) for n in (16, 8))
    return [a, b, np.zeros((16, 8), I32), 96], {2: a.astype(I32) @ b.astype(I32).T}


@program("tensor_cores", 1, 32)
def mma_f64(rng: np.random.Generator) -> Case:
    a, b = small(rng, (8, 20), np.float64, 999), small(rng, (8, 20), np.float64, 999)
    return [a, b, np.zeros((8, 8)), 20], {2: a @ b.T}
