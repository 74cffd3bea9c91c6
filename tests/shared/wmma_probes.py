"""Probes of `wmma`: matrices in shared memory, through registers, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matrix_probes import BITS, DATA, generator, pack, shape_of
from ptx_probes import Array, Probe

# Offsets of the matrices in shared memory.
A, B, C, D = 0, 4096, 8192, 12288
SIZE = 16384
LARGE = ("m16n16k16", "m8n32k16", "m32n8k16")


@dataclass(frozen=True)
class Case:
    """One `wmma.mma`: shape, types, data, and row- (`r`) or column-major (`c`) matrices."""

    shape: str
    d: str
    a: str
    kind: str = "exact"
    layouts: str = "rcrr"
    padding: int = 0
    operation: str = ""

    @property
    def name(self) -> str:
        parts = ("wmma", self.shape, self.d, self.a, self.kind, self.layouts, self.operation)
        return " ".join([*(part for part in parts if part), f"+{self.padding}"])


def _bytes(matrix: Array, bits: int, by_row: bool, padding: int) -> tuple[Array, int]:
    """A matrix of patterns in memory, and its stride in elements."""
    lines = matrix if by_row else matrix.T
    stride = lines.shape[1] + padding
    padded = np.zeros((len(lines), stride), matrix.dtype)
    padded[:, : lines.shape[1]] = lines
    if bits < 8:
        return pack(padded, bits).view(np.uint8).reshape(-1), stride
    return padded.reshape(-1).view(np.uint8), stride


def _counts(case: Case) -> tuple[int, int, int]:
    """Return the numbers of registers of A, B and the accumulators, by the tables of the manual."""
    m, n, k = shape_of(case.shape)
    bits = BITS[case.a]
    accumulators = m * n // 32 // (2 if case.d == "f16" else 1)
    if case.a == "f16":
        return 8, 8, accumulators
    word = 64 if bits == 64 else 32
    return m * k * bits // 32 // word, n * k * bits // 32 // word, accumulators


def probe_of(case: Case) -> Probe:
    """The kernel of a case."""
    m, n, k = shape_of(case.shape)
    rng = generator(case.name)
    data = DATA[case.kind]
    a, b = data(case.a, rng, (m, k)), data(case.a, rng, (k, n))
    if case.d == "s32":
        c = rng.integers(-(1 << 20), 1 << 20, (m, n)).astype(np.int64).astype(np.uint32)
    else:
        c = data(case.d, rng, (m, n))
    image = np.zeros(SIZE, np.uint8)
    strides: list[int] = []
    matrices = ((A, a, case.a), (B, b, case.a), (C, c, case.d))
    for (start, matrix, type), layout in zip(matrices, case.layouts, strict=False):
        octets, stride = _bytes(matrix, BITS[type], layout == "r", case.padding)
        image[start : start + len(octets)] = octets
        strides.append(stride)
    strides.append((n if case.layouts[3] == "r" else m) + case.padding)
    probe = Probe(
        case.name, _body(case, strides), threads=32, image=image, dump=True,
        declarations=_declarations(case),
    )  # fmt: skip
    probe.notes.update(case=case, a=a, b=b, c=c)
    return probe


def _declarations(case: Case) -> str:
    multiplicand = "b64" if case.a == "f64" else "b32"
    result = {"f64": "f64", "f32": "f32", "s32": "b32", "f16": "b32"}[case.d]
    return f".reg .{multiplicand} %a<8>, %b<8>; .reg .{result} %c<8>, %d<8>; .reg .b32 %at;"


def _body(case: Case, strides: list[int]) -> str:
    counts = _counts(case)
    a, b, c, d = (
        "{" + ", ".join(f"%{letter}{at}" for at in range(count)) + "}"
        for letter, count in zip("abcd", (*counts, counts[2]), strict=True)
    )
    words = ["row" if letter == "r" else "col" for letter in case.layouts]
    types = f"{case.d}.{case.d}" if case.a == "f16" else f"{case.d}.{case.a}.{case.a}.{case.d}"
    lines = [
        f"add.u32 %at, %smem, {start}; wmma.load.{part}.sync.aligned.{word}.{case.shape}.shared."
        f"{type} {registers}, [%at], {stride};"
        for part, start, word, type, registers, stride in (
            ("a", A, words[0], case.a, a, strides[0]),
            ("b", B, words[1], case.a, b, strides[1]),
            ("c", C, words[2], case.d, c, strides[2]),
        )
    ]
    operation = f"{case.operation}.popc." if case.a == "b1" else ""
    saturate = ".satfinite" if case.operation == "satfinite" else ""
    lines.append(
        f"wmma.mma.{operation}sync.aligned.{words[0]}.{words[1]}.{case.shape}.{types}{saturate}"
        f" {d}, {a}, {b}, {c};"
    )
    lines.append(
        f"add.u32 %at, %smem, {D}; wmma.store.d.sync.aligned.{words[3]}.{case.shape}.shared."
        f"{case.d} [%at], {d}, {strides[3]};"
    )
    return "\n".join(lines)


def cases() -> Iterator[Case]:
    """All types and shapes, all layouts of some, data that is not exact."""
    for shape in LARGE:
        for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("s32", "s8"), ("s32", "u8")):
            yield Case(shape, d, a)
    yield Case("m16n16k8", "f32", "tf32")
    yield Case("m8n8k4", "f64", "f64")
    yield Case("m8n8k32", "s32", "s4")
    yield Case("m8n8k32", "s32", "u4")
    yield Case("m8n8k128", "s32", "b1", operation="xor")
    yield Case("m8n8k128", "s32", "b1", operation="and")
    for layouts in ("rrrr", "crrc", "ccrc", "rccr"):
        yield Case("m16n16k16", "f32", "f16", layouts=layouts, padding=16)
        yield Case("m16n16k16", "s32", "s8", layouts=layouts, padding=16)
    for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16")):
        for kind in ("normal", "wild"):
            yield Case("m16n16k16", d, a, kind)
    yield Case("m16n16k8", "f32", "tf32", "wild")
    yield Case("m8n8k4", "f64", "f64", "wild")
    yield Case("m16n16k16", "s32", "s8", operation="satfinite")


def wmma_probes() -> Iterator[Probe]:
    """Return all probes of `wmma`."""
    return map(probe_of, cases())
