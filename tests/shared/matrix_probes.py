"""Probes of matrix instructions: the same inputs for the emulator and for an H200.

Every probe is deterministic: the results of the hardware are kept beside the tests. Matrices are
put into registers and shared memory by the formulas of the PTX manual, element by element, and not
by the emulator's own tables.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from ptx_probes import Array, Probe

BITS = {
    "f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8,
    "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
# Patterns by dtype: elements before they are packed into registers.
WORD = {64: np.uint64, 32: np.uint32, 16: np.uint16, 8: np.uint8, 4: np.uint8, 1: np.uint8}
FLOATS = ("f16", "bf16", "tf32", "e4m3", "e5m2")


def generator(name: str) -> np.random.Generator:
    """Return a random generator seeded by the name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def small_integers(type: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return patterns of small integers, which accumulate exactly."""
    if type == "b1":
        return rng.integers(0, 2, shape).astype(np.uint8)
    if type in ("s4", "u4", "s8", "u8"):
        return rng.integers(0, 1 << BITS[type], shape).astype(np.uint8)
    return patterns(type, rng.integers(-4, 5, shape).astype(np.float64))


def patterns(type: str, values: Array) -> Array:
    """Bit patterns of numbers that the type can hold."""
    if type == "f64":
        return values.astype(np.float64).view(np.uint64)
    if type in ("f32", "tf32"):
        return values.astype(np.float32).view(np.uint32)
    if type == "s32":
        return values.astype(np.int64).astype(np.uint32)
    if type == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if type == "f16":
        return values.astype(np.float16).view(np.uint16)
    if type == "e5m2":
        return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    assert type == "e4m3", type
    sign = (values < 0).astype(np.uint8) << 7
    table = np.array([_e4m3(code) for code in range(127)])
    return sign | np.abs(np.abs(values)[..., None] - table).argmin(axis=-1).astype(np.uint8)


def _e4m3(code: int) -> float:
    exponent, fraction = code >> 3, code & 7
    return fraction / 8 * 2.0**-6 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7)


def _fractions(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Numbers between -1 and 1 with 52 bits: the same on every machine, as functions are not."""
    return rng.integers(-(1 << 52), 1 << 52, shape).astype(np.float64) * 2.0**-52


def wild(type: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Patterns of numbers of very different sizes, subnormal ones and zeros among them."""
    if type not in (*FLOATS, "f32", "f64"):
        return small_integers(type, rng, shape)
    spread = {"e4m3": 6, "e5m2": 12, "f16": 12, "f64": 60}.get(type, 20)
    values = np.ldexp(_fractions(rng, shape), rng.integers(-spread, 6, shape))
    values[rng.integers(0, 10, shape) == 0] = 0
    return patterns(type, values)


def near(type: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Patterns of numbers of similar sizes, most of them small."""
    if type not in (*FLOATS, "f32", "f64"):
        return small_integers(type, rng, shape)
    return patterns(type, np.sum([_fractions(rng, shape) for _ in range(4)], axis=0))


DATA: dict[str, Callable[[str, np.random.Generator, tuple[int, ...]], Array]] = {
    "exact": small_integers,
    "normal": near,
    "wild": wild,
}


def pack(elements: Array, bits: int) -> Array:
    """Patterns of a lane, (lanes, elements), as registers (lanes, registers)."""
    if bits >= 8:
        width = np.uint64 if bits == 64 else np.uint32
        return np.ascontiguousarray(elements.astype(WORD[bits])).view(width)
    per_byte = 8 // bits
    grouped = elements.reshape(len(elements), -1, per_byte).astype(np.uint8)
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    octets = np.bitwise_or.reduce(grouped << shifts, axis=2).astype(np.uint8)
    return np.ascontiguousarray(octets).view(np.uint32)


# Row and column of element i of a lane.
Coordinates = Callable[[int, int], tuple[int, int]]


def registers(coordinates: Coordinates, matrix: Array, bits: int) -> Array:
    """A warp's registers: `coordinates(lane, i)` are the row and column of element i of a lane."""
    rows, columns = _fragment(coordinates, matrix.size // 32)
    return pack(matrix[rows, columns], bits)


@cache
def _fragment(coordinates: Coordinates, count: int) -> tuple[Array, Array]:
    """Rows and columns of a warp's elements, as (lanes, elements)."""
    table = np.array([[coordinates(lane, i) for i in range(count)] for lane in range(32)])
    return table[..., 0], table[..., 1]


@cache  # the same function for the same shape, so that its fragment is computed once
def coordinate_a(m: int, bits: int) -> Coordinates:
    """Row and column of element i of a lane in A, from the formulas of the PTX manual."""
    per = max(1, 32 // bits)

    def coordinate(lane: int, i: int) -> tuple[int, int]:
        register = i // per
        row = lane // 4 + (8 if m == 16 and register % 2 else 0)
        block = register // 2 if m == 16 else register
        return row, (lane % 4) * per + i % per + 4 * per * block

    return coordinate


@cache
def coordinate_b(bits: int) -> Coordinates:
    """Row and column of element i of a lane in B (k, n)."""
    per = max(1, 32 // bits)
    return lambda lane, i: ((lane % 4) * per + i % per + 4 * per * (i // per), lane // 4)


@cache
def coordinate_c(m: int) -> Coordinates:
    """Row and column of element i of a lane in C or D."""

    def coordinate(lane: int, i: int) -> tuple[int, int]:
        row = lane // 4 + (8 if m == 16 and i % 4 >= 2 else 0)
        block = i // 4 if m == 16 else i // 2
        return row, 8 * block + (lane % 4) * 2 + i % 2

    return coordinate


def vector(letter: str, first: int, count: int) -> str:
    """`{%i3, %i4}`."""
    return "{" + ", ".join(f"%{letter}{at}" for at in range(first, first + count)) + "}"


def matrix_probe(
    name: str, opcode: str, operands: list[Array], result: tuple[str, int], tail: str = ""
) -> Probe:
    """A probe of one instruction on registers: operands are (threads, registers)."""
    inputs: list[tuple[str, Array]] = []
    texts: list[str] = []
    for operand in operands:
        texts.append(vector("i", len(inputs), operand.shape[1]))
        type = "b64" if operand.dtype == np.uint64 else "b32"
        inputs += [(type, column.copy()) for column in operand.T]
    type, count = result
    body = f"{opcode} {vector('o', 0, count)}, {', '.join(texts)}{tail};"
    threads = len(operands[0])
    return Probe(name, body, inputs, [type] * count, threads=threads)


def _mma_opcode(shape: str, d: str, a: str, b: str, extra: str = "") -> str:
    layout = "row.col"
    return f"mma.sync.aligned.{shape}.{layout}{extra}.{d}.{a}.{b}.{d}"


# Shapes, and pairs of types of D and A.
MMA: list[tuple[str, str, str, str]] = [
    ("m16n8k8", "f16", "f16", "f16"), ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k8", "f32", "f16", "f16"), ("m16n8k16", "f32", "f16", "f16"),
    ("m16n8k8", "f32", "bf16", "bf16"), ("m16n8k16", "f32", "bf16", "bf16"),
    ("m16n8k4", "f32", "tf32", "tf32"), ("m16n8k8", "f32", "tf32", "tf32"),
    ("m8n8k4", "f64", "f64", "f64"), ("m16n8k4", "f64", "f64", "f64"),
    ("m16n8k8", "f64", "f64", "f64"), ("m16n8k16", "f64", "f64", "f64"),
    *((shape, d, a, b) for shape in ("m16n8k16", "m16n8k32") for d in ("f16", "f32")
      for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *((shape, "s32", a, b) for shape in ("m8n8k16", "m16n8k16", "m16n8k32")
      for a in ("s8", "u8") for b in ("s8", "u8")),
    *((shape, "s32", a, b) for shape in ("m8n8k32", "m16n8k32", "m16n8k64")
      for a in ("s4", "u4") for b in ("s4", "u4")),
    *((shape, "s32", "b1", "b1") for shape in ("m8n8k128", "m16n8k128", "m16n8k256")),
]  # fmt: skip


def shape_of(shape: str) -> tuple[int, int, int]:
    """`m16n8k8` as numbers."""
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


class MmaCase(NamedTuple):
    """One dense `mma.sync`: shape, types, kind of data, and suffix of the opcode."""

    shape: str
    d: str
    a: str
    b: str
    kind: str
    suffix: str = ""

    @property
    def name(self) -> str:
        return f"mma {self.shape} {self.d} {self.a} {self.b} {self.kind}{self.suffix}"


def mma_cases() -> Iterator[MmaCase]:
    """All dense shapes and types of `mma.sync`."""
    for shape, d, a, b in MMA:
        if a == "b1":
            yield MmaCase(shape, d, a, b, "exact", ".and")
            yield MmaCase(shape, d, a, b, "exact", ".xor")
            continue
        kinds = ("exact", "normal", "wild") if d != "s32" else ("exact",)
        for kind in kinds:
            yield MmaCase(shape, d, a, b, kind)
        if d == "s32":
            yield MmaCase(shape, d, a, b, "exact", ".satfinite")


def mma_probe(case: MmaCase, warps: int = 8) -> Probe:
    """One warp-level mma, for several warps with different numbers."""
    shape, d, a, b, kind, suffix = case
    m, n, k = shape_of(shape)
    rng = generator(case.name)
    data = DATA[kind]
    parts: list[list[Array]] = [[], [], []]
    matrices: list[tuple[Array, Array, Array]] = []
    for _ in range(warps):
        left, right = data(a, rng, (m, k)), data(b, rng, (k, n))
        into = data(d, rng, (m, n)) if d != "s32" else _integers(rng, (m, n), suffix)
        matrices.append((left, right, into))
        parts[0].append(registers(coordinate_a(m, BITS[a]), left, BITS[a]))
        parts[1].append(registers(coordinate_b(BITS[b]), right, BITS[b]))
        parts[2].append(registers(coordinate_c(m), into, BITS[d]))
    operands = [np.concatenate(part) for part in parts]
    tail = suffix if a == "b1" else ""
    extra = suffix if suffix == ".satfinite" else ""
    opcode = _mma_opcode(shape, d, a, b, extra) + (f"{tail}.popc" if tail else "")
    type = "b64" if d == "f64" else "b32"
    probe = matrix_probe(case.name, opcode, operands, (type, operands[2].shape[1]))
    probe.notes.update(shape=(m, n, k), types=(d, a, b), matrices=matrices)
    return probe


def _integers(rng: np.random.Generator, shape: tuple[int, ...], suffix: str) -> Array:
    limit = 1 << 31 if suffix == ".satfinite" else 1 << 20
    return rng.integers(-limit, limit, shape).astype(np.int64).astype(np.uint32)


def mma_probes() -> Iterator[Probe]:
    """The probes of all cases of `mma.sync`."""
    yield from map(mma_probe, mma_cases())


def special_matrices(type: str, name: str, m: int, n: int, k: int) -> tuple[Array, Array, Array]:
    """A, B transposed and C with infinities, NaN, zeros of both signs, huge and tiny numbers."""
    rng = generator(name)
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0**-14, -(2.0**-14)]
    if type in ("bf16", "tf32"):
        values += [2.0**127, -(2.0**127), 2.0**-126, 2.0**100]
    table = np.array(values)

    def pick(shape: tuple[int, int]) -> Array:
        chosen = rng.integers(0, len(table), shape)
        return table[np.where(rng.integers(0, 8, shape) > 0, chosen % 2, chosen)]

    a, b = pick((m, k)), pick((n, k))
    c = table[rng.integers(0, len(table), (m, n))]
    # Some accumulators add only negative zeros.
    a[:8], b[:4], c[:4] = 0.0, -0.0, -0.0
    return a, b, c


def special_mma_probes() -> Iterator[Probe]:
    """Special numbers in `mma.sync`."""
    for shape, d, a in (
        ("m16n8k16", "f32", "f16"), ("m16n8k16", "f16", "f16"), ("m16n8k16", "f32", "bf16"),
        ("m16n8k8", "f32", "tf32"), ("m16n8k32", "f32", "e5m2"), ("m16n8k32", "f16", "e5m2"),
        ("m16n8k16", "f64", "f64"),
    ):  # fmt: skip
        m, n, k = shape_of(shape)
        parts: list[list[Array]] = [[], [], []]
        for warp in range(8):
            left, right, into = special_matrices(a, f"special {shape} {d} {a} {warp}", m, n, k)
            parts[0].append(registers(coordinate_a(m, BITS[a]), patterns(a, left), BITS[a]))
            parts[1].append(registers(coordinate_b(BITS[a]), patterns(a, right.T), BITS[a]))
            parts[2].append(registers(coordinate_c(m), patterns(d, into), BITS[d]))
        operands = [np.concatenate(part) for part in parts]
        type = "b64" if d == "f64" else "b32"
        result = type, operands[2].shape[1]
        yield matrix_probe(f"special mma {d} {a}", _mma_opcode(shape, d, a, a), operands, result)


def quarter_probes() -> Iterator[Probe]:
    """m8n8k4 of f16, in all layouts."""
    for left in ("row", "col"):
        for right in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f32")):
                name = f"mma m8n8k4 {left} {right} {d} {c}"
                rng = generator(name)
                a, b = (small_integers("f16", rng, (4, 8, 4)) for _ in "ab")
                into = small_integers(c, rng, (4, 8, 8))
                regs_a = _quarter_operand(a, by_line=left == "row")
                regs_b = _quarter_operand(b, by_line=right == "col")
                regs_c = _quarter_accumulator(into, c)
                opcode = f"mma.sync.aligned.m8n8k4.{left}.{right}.{d}.f16.f16.{c}"
                count = 4 if d == "f16" else 8
                probe = matrix_probe(name, opcode, [regs_a, regs_b, regs_c], ("b32", count))
                probe.notes.update(a=a, b=b, c=into, types=(d, c))
                yield probe


def _quarter_operand(lines: Array, by_line: bool) -> Array:
    """Four matrices of eight lines (rows of A, columns of B) with four elements along k."""
    fragments = np.zeros((32, 4), np.uint16)
    for lane in range(32):
        for i in range(4):
            high = 4 * (lane // 16)
            line, k = (lane % 4 + high, i) if by_line else (i + high, lane % 4)
            fragments[lane, i] = lines[lane % 16 // 4, line, k]
    return pack(fragments, 16)


def quarter_coordinate(lane: int, i: int, type: str) -> tuple[int, int, int]:
    """The mma of a quarter-warp, and the row and column of an element of C."""
    high = 4 * (lane // 16)
    if type == "f16":
        return lane % 16 // 4, lane % 4 + high, i
    return lane % 16 // 4, (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)


def _quarter_accumulator(matrices: Array, type: str) -> Array:
    rows = [[matrices[quarter_coordinate(lane, i, type)] for i in range(8)] for lane in range(32)]
    return pack(np.array(rows), BITS[type])


# Shapes, types and selectors of sparse mmas.
SPARSE: list[tuple[str, str, str, tuple[int, ...]]] = [
    ("m16n8k16", "f32", "f16", (0, 1, 2, 3)), ("m16n8k32", "f32", "f16", (0, 1)),
    ("m16n8k16", "f16", "f16", (0,)), ("m16n8k32", "f16", "f16", (1,)),
    ("m16n8k16", "f32", "bf16", (2,)), ("m16n8k32", "f32", "bf16", (1,)),
    ("m16n8k8", "f32", "tf32", (0, 1, 2, 3)), ("m16n8k16", "f32", "tf32", (0, 1)),
    ("m16n8k64", "f32", "e4m3", (0,)), ("m16n8k64", "f32", "e5m2", (0,)),
    ("m16n8k32", "s32", "s8", (0, 1)), ("m16n8k64", "s32", "s8", (0,)),
    ("m16n8k32", "s32", "u8", (1,)), ("m16n8k64", "s32", "u8", (0,)),
    ("m16n8k64", "s32", "s4", (0, 1)), ("m16n8k128", "s32", "s4", (0,)),
    ("m16n8k64", "s32", "u4", (1,)), ("m16n8k128", "s32", "u4", (0,)),
]  # fmt: skip


def sparse_case(shape: str, d: str, a: str, selector: int, kind: str, ordered: bool) -> Probe:
    """A `mma.sp` with random metadata in every lane."""
    m, n, k = shape_of(shape)
    name = f"mma.sp {shape} {d} {a} {selector} {kind}"
    rng = generator(name)
    parts: list[list[Array]] = [[], [], [], []]
    for _ in range(4):
        stored, right = DATA[kind](a, rng, (m, k // 2)), DATA[kind](a, rng, (k, n))
        into = DATA[kind](d, rng, (m, n)) if d != "s32" else _integers(rng, (m, n), "")
        codes = (
            [0b0100, 0b1110] if a == "tf32" else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110]
        )
        nibbles = rng.choice(np.array(codes, np.uint32), (32, 8))
        words = np.bitwise_or.reduce(nibbles << (4 * np.arange(8, dtype=np.uint32)), axis=1)
        parts[0].append(registers(coordinate_a(m, BITS[a]), stored, BITS[a]))
        parts[1].append(registers(coordinate_b(BITS[a]), right, BITS[a]))
        parts[2].append(registers(coordinate_c(m), into, BITS[d]))
        parts[3].append(words.astype(np.uint32)[:, None])
    operands = [np.concatenate(part) for part in parts]
    variant = "sp::ordered_metadata" if ordered else "sp"
    opcode = f"mma.{variant}.sync.aligned.{shape}.row.col.{d}.{a}.{a}.{d}"
    probe = matrix_probe(name, opcode, operands, ("b32", operands[2].shape[1]), f", {selector}")
    return _single_register(probe, operands)


def _single_register(probe: Probe, operands: list[Array]) -> Probe:
    """Metadata is written without braces."""
    at = sum(operand.shape[1] for operand in operands[:-1])
    return Probe(
        probe.name, probe.body.replace(f"{{%i{at}}}", f"%i{at}"), probe.inputs, probe.outputs,
        threads=probe.threads,
    )  # fmt: skip


def sparse_probes() -> Iterator[Probe]:
    """All cases of `mma.sp`."""
    for shape, d, a, selectors in SPARSE:
        for selector in selectors:
            yield sparse_case(shape, d, a, selector, "exact", ordered=True)
        if d != "s32":
            yield sparse_case(shape, d, a, selectors[0], "wild", ordered=True)
    yield sparse_case("m16n8k16", "f32", "f16", 3, "normal", ordered=False)


def metadata_probes() -> Iterator[Probe]:
    """The lane and bits of the metadata of each chunk: one nibble after the other is 2, 3 for 0, 1.

    A is all ones; B is 0 for the first half of a chunk and 1 + the chunk's number for the second,
    so that D shows the chunk and the row that the nibble belongs to.
    """
    for shape, d, a, selectors in SPARSE:
        for selector in selectors:
            name = f"metadata {shape} {d} {a} {selector}"
            m, n, k = shape_of(shape)
            size = {"tf32": 2, "s4": 8, "u4": 8}.get(a, 4)
            chunk = np.arange(k) // size + 1
            second = np.arange(k) % size >= size // 2
            weights = np.where(second, chunk % (8 if a in ("s4", "u4") else 64), 0).astype(float)
            column = _ints(a, weights) if d == "s32" else patterns(a, weights)
            ones = _ints(a, np.ones(1)) if d == "s32" else patterns(a, np.ones(1))
            left = registers(coordinate_a(m, BITS[a]), np.full((m, k // 2), ones[0]), BITS[a])
            right = registers(coordinate_b(BITS[a]), np.repeat(column[:, None], n, axis=1), BITS[a])
            into = np.zeros((32, 2 if d == "f16" else 4), np.uint32)
            words = np.full((256, 32), 0x44444444, np.uint32)
            for probe in range(256):
                lane, nibble = divmod(probe, 8)
                words[probe, lane] ^= np.uint32(0xA << (4 * nibble))
            operands = [np.tile(part, (256, 1)) for part in (left, right, into)]
            operands.append(words.reshape(-1, 1))
            opcode = f"mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{d}.{a}.{a}.{d}"
            probe = matrix_probe(name, opcode, operands, ("b32", into.shape[1]), f", {selector}")
            probe = _single_register(probe, operands)
            yield Probe(probe.name, probe.body, probe.inputs, probe.outputs, threads=1024, blocks=8)


def _ints(type: str, values: Array) -> Array:
    return values.astype(np.int64).astype(np.uint8)


def all_probes() -> list[Probe]:
    """Every probe of matrix and warp instructions."""
    # They import this module.
    from warp_probes import matrix_move_probes, shuffle_probes, vote_probes  # noqa: PLC0415
    from wgmma_probes import wgmma_probes  # noqa: PLC0415

    makers: list[Callable[[], Iterator[Any]]] = [
        shuffle_probes, vote_probes, matrix_move_probes, mma_probes, special_mma_probes,
        quarter_probes,
        sparse_probes, metadata_probes, wgmma_probes,
    ]  # fmt: skip
    return [probe for make in makers for probe in make()]
