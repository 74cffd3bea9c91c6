"""Operands of probes: corners of the types against each other, then random ones.

The names seed the operands, so that recorded results of a GPU stay comparable.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from ptx_probes import Array, Probe

CASES = 1024
THREADS = 128
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
WORDS = ("u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = {"f16": (16, 5), "bf16": (16, 8), "f32": (32, 8), "f64": (64, 11)}
UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def _corners(bits: int) -> list[int]:
    full = (1 << bits) - 1
    half = 1 << (bits - 1)
    return [0, 1, 2, 3, 7, 31, 32, 33, half - 1, half, half + 1, full - 1, full, 0x5A & full, 100]


def _float_corners(type: str) -> list[int]:
    bits, exponent = FLOATS[type]
    mantissa = bits - 1 - exponent
    one = ((1 << (exponent - 1)) - 1) << mantissa
    infinity = ((1 << exponent) - 1) << mantissa
    tiny = 1 << mantissa
    positive = [0, 1, tiny - 1, tiny, tiny + 1, one - 1, one, one + 1, one + tiny // 2,
                one + tiny, one - tiny, infinity - 1, infinity, infinity + 1, infinity + tiny // 2,
                infinity + tiny - 1]  # fmt: skip
    return [value | sign << (bits - 1) for value in positive for sign in (0, 1)]


def _float_values(type: str, rng: np.random.Generator, count: int) -> Array:
    """Return any patterns, numbers of moderate size, and integers divided by two."""
    bits, exponent = FLOATS[type]
    mantissa = bits - 1 - exponent
    anything = (
        rng.integers(0, 1 << bits, count, np.uint64, endpoint=False)
        if bits < 64
        else (rng.integers(0, 1 << 64, count, np.uint64))
    )
    bias = (1 << (exponent - 1)) - 1
    sign = rng.integers(0, 2, count, np.uint64) << np.uint64(bits - 1)
    scale = (rng.integers(-8, 9, count) + bias).astype(np.uint64) << np.uint64(mantissa)
    moderate = sign | scale | (anything & np.uint64((1 << mantissa) - 1))
    half_integers = (rng.integers(-600, 600, count) / 2).astype(np.float64)
    kind = rng.integers(0, 4, count)
    return np.select([kind == 0, kind == 1], [anything, encode(type, half_integers)], moderate)


def encode(type: str, numbers: Array) -> Array:
    """Return the patterns of numbers, truncated where they do not fit."""
    if type == "f64":
        return numbers.astype(np.float64).view(np.uint64)
    if type == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint64)
    single = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    return single >> np.uint64(16) if type == "bf16" else single


def _integer_values(bits: int, rng: np.random.Generator, count: int) -> Array:
    anything = rng.integers(0, 1 << 64, count, np.uint64) >> np.uint64(64 - bits)
    small = rng.integers(0, 70, count, np.uint64)
    sized = anything >> rng.integers(0, bits, count, np.uint64)
    kind = rng.integers(0, 3, count)
    return np.select([kind == 0, kind == 1], [small, sized], anything)


def width(type: str) -> int:
    """Return the number of bits of an operand in its register."""
    if type in ("e4m3x2", "e5m2x2"):
        return 16
    if "x" in type or type in ("tf32", "n32"):
        return 32
    return max(16, int("".join(c for c in type.lstrip("bf") if c.isdigit())))


def corners(type: str) -> list[int]:
    """Return the corner cases of a type."""
    if type in FLOATS:
        return _float_corners(type)
    if type.endswith("x2"):
        inside = _float_corners(type[:-2]) if type[:-2] in FLOATS else _corners(16)
        return [low | high << 16 for low, high in zip(inside, inside[5:] + inside[:5], strict=True)]
    if type == "n32":
        return [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 257, 0xFFFFFFFF]
    return _corners(width(type))


def values(type: str, rng: np.random.Generator, count: int) -> Array:
    """Random patterns of a type."""
    if type in FLOATS:
        return _float_values(type, rng, count)
    if type.endswith("x2") and type[:-2] in FLOATS:
        low, high = (_float_values(type[:-2], rng, count) for _ in range(2))
        return low | high << np.uint64(16)
    if type == "n32":
        return rng.integers(0, 70, count, np.uint64)
    return _integer_values(width(type), rng, count)


def operands(name: str, types: list[str], count: int = CASES) -> list[Array]:
    """A column for each operand: corners against corners first, then random ones."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    lists = [corners(type) for type in types]
    if len(types) == 1 and types[0] in ("f16", "bf16", "e4m3x2", "e5m2x2"):
        every = np.arange(1 << 16, dtype=np.uint64)
        return [every.astype(np.uint16)]
    rows = list(itertools.product(*lists[:2])) if len(lists) > 1 else [(x,) for x in lists[0]]
    if len(rows) > count // 2:
        rows = [rows[at] for at in sorted(rng.permutation(len(rows))[: count // 2])]
    fixed = [
        np.array([row[at] for row in rows], np.uint64)
        if at < 2
        else rng.choice(np.array(lists[at], np.uint64), len(rows))
        for at in range(len(types))
    ]
    columns = [
        np.concatenate((head, values(type, rng, count - len(rows))))
        for head, type in zip(fixed, types, strict=True)
    ]
    return [c.astype(UNSIGNED[width(t)]) for c, t in zip(columns, types, strict=True)]


def _register(type: str) -> str:
    return "pred" if type == "pred" else f"b{width(type)}"


def probe(opcode: str, outs: str, ins: str, body: str = "", tail: str = "") -> Probe:
    """A probe of `opcode %o0, %i0, …`; `tail` are operands that are literals."""
    types = ins.split()
    if types == ["f16x2"] or types == ["bf16x2"]:
        low = operands(opcode, [types[0][:-2]])[0].astype(np.uint32)
        columns = [low | np.roll(low, 12345) << np.uint32(16)]
    else:
        columns = operands(opcode, types)
    if not body:
        sources = [f"%i{at}" for at in range(len(types))]
        body = f"{opcode} {', '.join(['%o0', *sources, *([tail] if tail else [])])};"
    inputs = [(_register(t), c) for t, c in zip(types, columns, strict=True)]
    outputs = [_register(type) for type in outs.split()]
    blocks = len(columns[0]) // THREADS
    name = f"{opcode} {tail}" if tail else opcode
    return Probe(name, body, inputs, outputs, THREADS, blocks)


def each(forms: str, types: Iterable[str], outs: str, ins: str) -> Iterator[Probe]:
    """Probes of several opcodes, in which `{t}` stands for each type."""
    for form, type in itertools.product(forms.split(), types):
        yield probe(form.format(t=type), outs.format(t=type), ins.format(t=type))
