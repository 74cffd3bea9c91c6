"""Programs on integers: division, bits, bytes, hashes."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np
from program_table import Array, Case, program

I32, U32 = np.int32, np.uint32


@program("integers", 2, 64)
def divide_64(rng: np.random.Generator) -> Case:
    a, b = rng.integers(-(2**63), 2**63, (2, 100)) >> rng.integers(0, 60, (2, 100))
    b[b == 0] = 7
    a[0], b[0] = -(2**63), 3
    rows = [trunc(a, b), a - trunc(a, b) * b]
    rows += [(a.view(np.uint64) // b.view(np.uint64)).view(np.int64)]
    rows += [(a.view(np.uint64) % b.view(np.uint64)).view(np.int64)]
    return [a, b, np.zeros((100, 4), np.int64), 100], {2: np.stack(rows, axis=1)}


def trunc(a: Array, b: Any) -> Array:
    """Division towards zero."""
    sign = np.where((a < 0) != (b < 0), -1, 1)
    size = np.abs(a).view(np.uint64) // np.abs(np.asarray(b)).astype(np.uint64)
    return sign * size.view(np.int64)


@program("integers", 2, 64)
def divide_constants(rng: np.random.Generator) -> Case:
    x = rng.integers(-(2**31), 2**31, 100).astype(I32)
    wide = x.astype(np.int64)
    rows = [trunc(wide, 7), wide - trunc(wide, 1000) * 1000, x.view(U32).astype(np.int64) // 641]
    rows += [trunc(wide, 8) + wide - trunc(wide, 16) * 16]
    return [x, np.zeros((100, 4), I32), 100], {1: np.stack(rows, axis=1).astype(I32)}


@program("integers", 1, 32)
def mod_power(rng: np.random.Generator) -> Case:
    base = rng.integers(0, 2**63, 32).astype(np.uint64)
    exponent = rng.integers(0, 2**32, 32).astype(U32)
    powers = [pow(int(b), int(e), 2**61 - 1) for b, e in zip(base, exponent, strict=True)]
    return [base, exponent, np.zeros(32, np.uint64)], {2: np.array(powers, np.uint64)}


@program("integers", 1, 128)
def bits(rng: np.random.Generator) -> Case:
    x = rng.integers(0, 2**64, 100, np.uint64) >> rng.integers(0, 64, 100, np.uint64)
    x[0] = 0
    rows = [_bits(int(v)) for v in x]
    wanted = np.array(rows, np.int64).astype(U32).view(I32)
    return [x, np.zeros((100, 8), I32), 100], {1: wanted}


def _bits(x: int) -> list[int]:
    low, high = x & 0xFFFFFFFF, x >> 32
    a, b = (v - 2**32 if v >> 31 else v for v in (low, high))
    reverse = int(f"{x:064b}"[::-1], 2) >> 32
    narrow_a, narrow_b = ((v & 0xFFFFFF ^ 0x800000) - 0x800000 for v in (low, high))
    return [
        x.bit_count(), 64 - x.bit_length(), (low & -low).bit_length(), reverse,
        (x >> 11) & 0xFFFFFFFF, (abs(a - b) + 5) & 0xFFFFFFFF,
        ((a * b >> 32) + narrow_a * narrow_b) & 0xFFFFFFFF, (a + b + 1 >> 1) ^ (a + b >> 1),
    ]  # fmt: skip


@program("integers", 2, 64)
def bytes(rng: np.random.Generator) -> Case:
    a, b = (rng.integers(0, 2**32, 100).astype(U32) for _ in range(2))
    p, q = a.view(np.uint8).reshape(-1, 4), b.view(np.uint8).reshape(-1, 4)
    s, t = (v.view(np.int8).astype(np.int64) for v in (p, q))
    h, g = (v.view(np.int16).reshape(-1, 2) for v in (a, b))
    eight = np.concatenate((p, q), axis=1)
    wide_p, wide_q = p.astype(np.int64), q.astype(np.int64)
    rows = [
        np.ascontiguousarray(eight[:, [0, 4, 2, 6]]).view(U32)[:, 0],
        (wide_p * wide_q).sum(axis=1) + 100,
        (s * t).sum(axis=1) - 7,
        (h.astype(np.int64) * t[:, :2]).sum(axis=1) + 3,
        (p + q).view(U32)[:, 0],
        np.abs(wide_p - wide_q).astype(np.uint8).view(U32)[:, 0],
        np.maximum(h, g).view(U32)[:, 0],
    ]
    wanted = np.stack([row.astype(np.int64).astype(U32) for row in rows], axis=1)
    return [a, b, np.zeros((100, 7), U32), 100], {2: wanted}


@program("integers", 1, 32)
def crc32(rng: np.random.Generator) -> Case:
    text = rng.integers(0, 256, (32, 23)).astype(np.uint8)
    checksums = np.array([zlib.crc32(row.tobytes()) for row in text], U32)
    return [text, np.zeros(32, U32), 23], {1: checksums}


@program("integers", 1, 32)
def add_large(rng: np.random.Generator) -> Case:
    a, b = (rng.integers(0, 2**32, (32, 5)).astype(U32) for _ in range(2))
    a[::2, 1:4] = 0xFFFFFFFF
    results = [
        (int.from_bytes(x.tobytes(), "little") + int.from_bytes(y.tobytes(), "little")) % 2**160
        for x, y in zip(a, b, strict=True)
    ]
    wanted = np.frombuffer(b"".join(v.to_bytes(20, "little") for v in results), U32).reshape(32, 5)
    return [a, b, np.zeros((32, 5), U32)], {2: wanted}


@program("integers", 1, 64)
def wide_product(rng: np.random.Generator) -> Case:
    a, b = rng.integers(-(2**63), 2**63, (2, 64)) >> rng.integers(0, 63, (2, 64))
    results = [int(x) * int(y) % 2**128 for x, y in zip(a, b, strict=True)]
    wanted = np.array([[v % 2**64, v >> 64] for v in results], np.uint64)
    return [a, b, np.zeros((64, 2), np.uint64)], {2: wanted}


@program("integers", 3, 64)
def gcd(rng: np.random.Generator) -> Case:
    a, b = (rng.integers(0, 2**32, 150).astype(U32) for _ in range(2))
    b[:3] = 0
    return [a, b, np.zeros(150, U32), 150], {2: np.gcd(a, b)}


@program("integers", 2, 64)
def random_numbers(rng: np.random.Generator) -> Case:
    state = np.uint64(1234) + np.arange(128, dtype=np.uint64)
    x = np.zeros(128, U32)
    for _ in range(20):
        shifted = ((state >> np.uint64(18) ^ state) >> np.uint64(27)).astype(U32)
        turn = (state >> np.uint64(59)).astype(U32)
        x ^= shifted >> turn | shifted << (-turn.astype(np.int64) & 31).astype(U32)
        with np.errstate(over="ignore"):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return [np.zeros(128, U32), 1234, 20], {0: x}


@program("integers", 1, 64)
def sha256(rng: np.random.Generator) -> Case:
    texts = rng.integers(0, 256, (64, 47)).astype(np.uint8)
    blocks = np.zeros((64, 64), np.uint8)
    blocks[:, :47], blocks[:, 47] = texts, 0x80
    blocks[:, 62:] = np.frombuffer((47 * 8).to_bytes(2, "big"), np.uint8)
    digests = b"".join(hashlib.sha256(row.tobytes()).digest() for row in texts)
    wanted = np.frombuffer(digests, U32).reshape(64, 8)
    return [blocks.view(U32), np.zeros((64, 8), U32)], {1: wanted}
