"""Probes of `wgmma`: types, sizes, layouts in shared memory, signs, scale-d, A in registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from matrix_probes import (
    BITS,
    DATA,
    coordinate_a,
    generator,
    pack,
    patterns,
    registers,
    special_matrices,
    vector,
)
from ptx_probes import Array, Probe

SWIZZLES = {"none": 0, "128": 1, "64": 2, "32": 3}
WIDTHS = {"none": 16, "128": 128, "64": 64, "32": 32}


@dataclass(frozen=True)
class Case:
    """One wgmma of shape 64×n×k."""

    n: int
    d: str
    a: str
    b: str
    kind: str = "exact"
    swizzles: tuple[str, str] = ("128", "128")
    across: tuple[bool, bool] = (False, False)
    scales: tuple[int, int] = (1, 1)
    keep: bool = True
    a_in_registers: bool = False
    satfinite: bool = False
    shift: int = 0
    base_offset: int = 0
    steps: int = 1

    @property
    def k(self) -> int:
        return 256 // BITS[self.a]

    @property
    def name(self) -> str:
        flags = "".join("ta"[not each] for each in self.across)
        parts = [
            f"wgmma m64n{self.n}k{self.k} {self.d} {self.a} {self.b} {self.kind}",
            "/".join(self.swizzles), flags, f"{self.scales[0]},{self.scales[1]}",
            f"d{int(self.keep)}", "rs" if self.a_in_registers else "ss",
            "sat" if self.satfinite else "", f"+{self.shift}" if self.shift else "",
            f"o{self.base_offset}" if self.base_offset else "", f"x{self.steps}",
        ]  # fmt: skip
        return " ".join(part for part in parts if part)


def write_matrix(
    image: Array, start: int, matrix: Array, bits: int, swizzle: str, across: bool
) -> tuple[int, int, int]:
    """Put (rows, k) patterns into shared memory; return leading, stride and size in bytes.

    Core matrices are laid out so that the two offsets differ.
    """
    rows, k = matrix.shape
    row, col = np.indices(matrix.shape)
    size = bits // 8
    width = WIDTHS[swizzle]
    if not across:
        # Eight rows of `width` bytes; without a swizzle the two 8-row groups along K are apart.
        stride = 8 * width + (128 if swizzle == "none" else 0)
        leading = rows // 8 * stride if swizzle == "none" else 16
        byte = col * size
        offsets = row % 8 * width + row // 8 * stride
        offsets += byte if swizzle != "none" else byte // 16 * leading + byte % 16
        end = rows // 8 * stride + (leading if swizzle == "none" else 0)
    elif swizzle == "none":
        stride, leading = 2 * 128, 128
        offsets = row // 8 * stride + row % 8 * size + col % 8 * 16 + col // 8 * leading
        end = rows // 8 * stride
    else:
        per, stride = width // size, 8 * width
        leading = k // 8 * stride
        offsets = row % per * size + row // per * leading + col % 8 * width + col // 8 * stride
        end = -(-rows // per) * leading
    _put(image, start + offsets, matrix, size, swizzle)
    return leading, stride, end


def _put(image: Array, addresses: Array, elements: Array, size: int, swizzle: str) -> None:
    """128 bytes: address bits 4-6 change with bits 7-9; 64: 4-5 with 7-8; 32: 4 with 7."""
    mask = {"none": 0, "128": 7, "64": 3, "32": 1}[swizzle]
    addresses = addresses ^ (addresses >> 7 & mask) << 4
    octets = np.ascontiguousarray(elements).view(np.uint8).reshape(*elements.shape, size)
    image[addresses[..., None] + np.arange(size)] = octets


def descriptor(start: int, leading: int, stride: int, swizzle: str, base_offset: int = 0) -> int:
    """The bits above the start address, which the kernel adds."""
    fields = (leading >> 4) << 16 | (stride >> 4) << 32 | base_offset << 49
    return start >> 4 | fields | SWIZZLES[swizzle] << 62


def probe_of(case: Case) -> Probe:
    """The kernel: matrices in shared memory, accumulators in registers."""
    rng = generator(case.name)
    data = DATA[case.kind]
    image = np.zeros(64 * 1024, np.uint8)
    a = data(case.a, rng, (64, case.k))
    b = data(case.b, rng, (case.n, case.k))
    if case.d == "s32":
        limit = 1 << (31 if case.satfinite else 20)
        d = rng.integers(-limit, limit, (64, case.n)).astype(np.int64).astype(np.uint32)
    else:
        d = data(case.d, rng, (64, case.n))
    a_bits, b_bits = _bits(case.a), _bits(case.b)
    a_start, b_start = case.shift, 24 * 1024
    a_bytes, b_bytes = _octets(a, case.a), _octets(b, case.b)
    a_leading, a_stride, _ = write_matrix(
        image, a_start, a_bytes, a_bits, case.swizzles[0], case.across[0]
    )
    b_leading, b_stride, _ = write_matrix(
        image, b_start, b_bytes, b_bits, case.swizzles[1], case.across[1]
    )
    high_a = descriptor(a_start, a_leading, a_stride, case.swizzles[0], case.base_offset)
    high_b = descriptor(b_start, b_leading, b_stride, case.swizzles[1])
    accumulators = np.concatenate([_accumulator(d[16 * w : 16 * w + 16], case.d) for w in range(4)])
    inputs = [("b32", column.copy()) for column in accumulators.T]
    count = len(inputs)
    text_a = "%da"
    if case.a_in_registers:
        left = np.concatenate(
            [
                registers(coordinate_a(16, BITS[case.a]), a[16 * w : 16 * w + 16], BITS[case.a])
                for w in range(4)
            ]
        )
        text_a = vector("i", count, left.shape[1])
        inputs += [("b32", column.copy()) for column in left.T]
    opcode = f"wgmma.mma_async.sync.aligned.m64n{case.n}k{case.k}.{case.d}.{case.a}.{case.b}"
    opcode += ".and.popc" if case.a == "b1" else ""
    opcode += ".satfinite" if case.satfinite else ""
    multiply = f"{opcode} {vector('o', 0, count)}, {text_a}, %db, %keep{_tail(case)};"
    copies = " ".join(f"mov.b32 %o{at}, %i{at};" for at in range(count))
    body = (
        f"cvt.u64.u32 %da, %smem; and.b64 %da, %da, 0x3ffff; shr.u64 %da, %da, 4;"
        f" add.s64 %db, %da, {high_b:#x}; add.s64 %da, %da, {high_a:#x};"
        f" setp.eq.u32 %keep, {int(case.keep)}, 1; {copies}"
        f" wgmma.fence.sync.aligned; {multiply * case.steps}"
        " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    )
    probe = Probe(
        case.name, body, inputs, ["b32"] * count, threads=128, image=image,
        declarations=".reg .b64 %da, %db; .reg .pred %keep;",
    )  # fmt: skip
    probe.notes.update(case=case, a=a, b=b, d=d)
    return probe


def _bits(type: str) -> int:
    return max(8, BITS[type])


def _octets(matrix: Array, type: str) -> Array:
    """Elements of less than a byte as bytes."""
    if BITS[type] >= 8:
        return matrix
    return pack(matrix, BITS[type]).view(np.uint8).reshape(len(matrix), -1)


def accumulator_coordinate(lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of a lane, in the 16 rows of its warp."""
    return lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


def _accumulator(rows: Array, type: str) -> Array:
    return registers(accumulator_coordinate, rows, BITS[type])


def _tail(case: Case) -> str:
    if case.a in ("s8", "u8", "b1"):
        return ""
    text = f", {case.scales[0]}, {case.scales[1]}"
    if BITS[case.a] != 16:
        return text
    if not case.a_in_registers:
        text += f", {int(case.across[0])}"
    return f"{text}, {int(case.across[1])}"


def cases() -> Iterator[Case]:
    """Types with all kinds of data, then one thing after the other."""
    types = [
        ("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"),
        ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("f16", "e4m3", "e5m2"),
        ("f32", "e5m2", "e4m3"), ("f16", "e5m2", "e5m2"),
    ]  # fmt: skip
    for d, a, b in types:
        for kind in ("exact", "normal", "wild"):
            yield Case(16, d, a, b, kind)
            yield Case(8, d, a, b, kind, a_in_registers=True)
        yield Case(24, d, a, b, "normal", steps=4)
    for a, b in (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")):
        yield Case(16, "s32", a, b)
        yield Case(32, "s32", a, b, satfinite=True, a_in_registers=True)
    yield Case(16, "s32", "b1", "b1")
    for swizzle in SWIZZLES:
        for other in SWIZZLES:
            yield Case(32, "f32", "bf16", "bf16", swizzles=(swizzle, other))
        for across in ((True, False), (False, True), (True, True)):
            yield Case(128, "f32", "f16", "f16", swizzles=(swizzle, swizzle), across=across)
        yield Case(48, "f32", "e4m3", "e4m3", swizzles=(swizzle, swizzle))
        yield Case(40, "f32", "tf32", "tf32", swizzles=(swizzle, swizzle))
    base = Case(8, "f32", "f16", "f16")
    yield from (replace(base, scales=scales) for scales in ((-1, 1), (1, -1), (-1, -1)))
    yield from (replace(base, n=n) for n in (24, 64, 96, 200, 256))
    yield replace(base, keep=False)
    yield replace(base, keep=False, kind="wild")
    yield replace(base, a_in_registers=True, across=(False, True), n=64)
    for offset in (1, 2, 3):
        yield replace(base, shift=128 * offset, base_offset=offset)
        yield replace(base, shift=128 * offset)


def special_probes() -> Iterator[Probe]:
    """Infinities, NaN, overflow, signs of zero, cancellation, tiny accumulators."""
    for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("f32", "e5m2"), ("f32", "tf32")):
        name = f"special wgmma {d} {a}"
        case = Case(8, d, a, a, kind="special")
        left, right, into = special_matrices(a, name, 64, 8, case.k)
        yield _with_data(case, name, patterns(a, left), patterns(a, right), patterns(d, into))


def _with_data(case: Case, name: str, a: Array, b: Array, d: Array) -> Probe:
    tables: dict[tuple[int, ...], Array] = {(64, case.k): a, (case.n, case.k): b, (64, case.n): d}
    DATA["special"] = lambda type, rng, shape: tables[shape]
    probe = probe_of(case)
    del DATA["special"]
    return replace(probe, name=name)


def wgmma_probes() -> Iterator[Probe]:
    """Return all probes of `wgmma`."""
    yield from map(probe_of, cases())
    yield from special_probes()
