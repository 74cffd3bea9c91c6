"""Integer instructions against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from each_case import each_case

WIDTHS = {"u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64, "b32": 32, "b64": 64}


def to_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def sample(width: int, count: int, seed: int) -> np.ndarray:
    """Sample bit patterns: random ones, small ones, and those around the limits."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, count, np.uint64) >> np.uint64(64 - width)
    small = rng.integers(0, 70, count, np.uint64)
    full = (1 << width) - 1
    corners = np.array([0, 1, full, full >> 1, (full >> 1) + 1, 31, 32, 33], np.uint64)
    kind = rng.integers(0, 3, count)
    picked = np.select([kind == 0, kind == 1], [bits, small], rng.choice(corners, count))
    return picked & np.uint64(full)


def evaluate(run, instruction: str, types: str, columns: list[np.ndarray]) -> np.ndarray:
    """Evaluate `instruction d, a, b, …`; `types` names result and operands, words of 64 bits."""
    result, *sources = types.split()
    registers = {16: "%rs", 32: "%r", 64: "%rd"}
    rows = np.ascontiguousarray(np.stack(columns, axis=1))
    out = np.zeros(len(rows), np.uint64)
    names: list[str] = []
    lines = [
        "ld.param.u64 %rd50, [p0];",
        "ld.param.u64 %rd51, [p1];",
        "mov.u32 %r50, %tid.x;",
        "mov.u32 %r51, %ctaid.x;",
        "mad.lo.u32 %r50, %r51, 256, %r50;",
        f"mad.wide.u32 %rd50, %r50, {8 * len(columns)}, %rd50;",
        "mad.wide.u32 %rd51, %r50, 8, %rd51;",
    ]
    for at, type in enumerate(sources):
        names.append(f"{registers[WIDTHS[type]]}{at + 1}")
        lines.append(f"ld.global.b{WIDTHS[type]} {names[-1]}, [%rd50+{8 * at}];")
    target = f"{registers[WIDTHS[result]]}9"
    lines.append(f"{instruction} {', '.join([target, *names])};")
    lines += [f"st.global.b{WIDTHS[result]} [%rd51], {target};", "ret;"]
    run("\n".join(lines), [rows, out], "u64 u64", grid=len(rows) // 256, block=256)
    return out


Exact = Callable[..., int]


def trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def trunc_rem(a: int, b: int) -> int:
    return a - trunc_div(a, b) * b if b else -1


CASES: list[tuple[str, str, Exact]] = [
    ("add.{t}", "{t} {t} {t}", lambda w, a, b: a + b),
    ("sub.{t}", "{t} {t} {t}", lambda w, a, b: a - b),
    ("mul.lo.{t}", "{t} {t} {t}", lambda w, a, b: a * b),
    ("mul.hi.{t}", "{t} {t} {t}", lambda w, a, b: a * b >> w),
    ("mad.lo.{t}", "{t} {t} {t} {t}", lambda w, a, b, c: a * b + c),
    ("mad.hi.{t}", "{t} {t} {t} {t}", lambda w, a, b, c: (a * b >> w) + c),
    ("div.{t}", "{t} {t} {t}", lambda w, a, b: trunc_div(a, b)),
    ("rem.{t}", "{t} {t} {t}", lambda w, a, b: trunc_rem(a, b)),
    ("min.{t}", "{t} {t} {t}", lambda w, a, b: min(a, b)),
    ("max.{t}", "{t} {t} {t}", lambda w, a, b: max(a, b)),
    ("sad.{t}", "{t} {t} {t} {t}", lambda w, a, b, c: c + abs(a - b)),
    ("shr.{t}", "{t} {t} u32", lambda w, a, n: a >> min(n, w)),
]


@pytest.mark.parametrize("type", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize(("form", "types", "exact"), CASES, ids=[case[0] for case in CASES])
def test_arithmetic(run, form: str, types: str, exact: Exact, type: str) -> None:
    if form.startswith("mad.hi.{t}") and type.endswith("16"):
        pytest.skip("no such instruction in PTX")
    check(run, form.format(t=type), types.format(t=type), exact)


def check(run, instruction: str, types: str, exact: Exact) -> None:
    """Compare an instruction with a function of its width and operands, modulo its width."""
    result, *sources = types.split()
    columns = [sample(WIDTHS[type], 1024, 5 + at) for at, type in enumerate(sources)]
    got = evaluate(run, instruction, types, columns)
    for row, actual in zip(zip(*columns, strict=True), got.tolist(), strict=True):
        values = [
            to_signed(int(bits), WIDTHS[type]) if type[0] == "s" else int(bits)
            for bits, type in zip(row, sources, strict=True)
        ]
        width = WIDTHS[sources[0]]
        expected = exact(width, *values) & ((1 << WIDTHS[result]) - 1)
        assert actual == expected, (instruction, values)


def reverse(value: int, width: int) -> int:
    return int(f"{value:0{width}b}"[::-1], 2)


def byte(w: int, value: int) -> int:
    """Of 32 bits the manual takes the low 8 bits; of 64 the hardware takes all of them."""
    return value & 0xFF if w == 32 else value


def field(signed: bool) -> Exact:
    def extract(w: int, a: int, b: int, c: int) -> int:
        """As the PTX manual defines `bfe`, bit by bit."""
        bits, position, length = a & ((1 << w) - 1), byte(w, b), byte(w, c)
        sign = bits >> min(position + length - 1, w - 1) & 1 if signed and length else 0
        result = 0
        for at in range(w):
            inside = at < length and position + at < w
            result |= (bits >> (position + at) & 1 if inside else sign) << at
        return result

    return extract


def insert(w: int, a: int, b: int, c: int, d: int) -> int:
    """As the PTX manual defines `bfi`, bit by bit."""
    position, length = byte(w, c), byte(w, d)
    for at in range(min(length, w)):
        if position + at < w:
            b = b & ~(1 << (position + at)) | (a >> at & 1) << (position + at)
    return b


def permute(w: int, a: int, b: int, c: int) -> int:
    data = (b << 32 | a).to_bytes(8, "little")
    picked = []
    for at in range(4):
        choice = c >> (4 * at) & 15
        byte = data[choice & 7]
        picked.append((0xFF if byte & 0x80 else 0) if choice & 8 else byte)
    return int.from_bytes(bytes(picked), "little")


def dot(signed_a: bool, signed_b: bool) -> Exact:
    def dp4a(w: int, a: int, b: int, c: int) -> int:
        def parts(word: int, signed: bool) -> list[int]:
            actual = list((word & 0xFFFFFFFF).to_bytes(4, "little"))
            return [to_signed(byte, 8) if signed else byte for byte in actual]

        pairs = zip(parts(a, signed_a), parts(b, signed_b), strict=True)
        return c + sum(x * y for x, y in pairs)

    return dp4a


BIT_CASES: list[tuple[str, str, Exact]] = [
    ("and.b32", "b32 b32 b32", lambda w, a, b: a & b),
    ("or.b64", "b64 b64 b64", lambda w, a, b: a | b),
    ("xor.b32", "b32 b32 b32", lambda w, a, b: a ^ b),
    ("not.b64", "b64 b64", lambda w, a: ~a),
    ("cnot.b32", "b32 b32", lambda w, a: int(a == 0)),
    ("shl.b32", "b32 b32 u32", lambda w, a, n: a << min(n, w)),
    ("shl.b64", "b64 b64 u32", lambda w, a, n: a << min(n, w)),
    ("neg.s32", "s32 s32", lambda w, a: -a),
    ("abs.s64", "s64 s64", lambda w, a: abs(a)),
    ("popc.b32", "u32 b32", lambda w, a: a.bit_count()),
    ("popc.b64", "u32 b64", lambda w, a: a.bit_count()),
    ("clz.b32", "u32 b32", lambda w, a: w - a.bit_length()),
    ("clz.b64", "u32 b64", lambda w, a: w - a.bit_length()),
    ("brev.b32", "b32 b32", lambda w, a: reverse(a, w)),
    ("brev.b64", "b64 b64", lambda w, a: reverse(a, w)),
    ("bfind.u32", "u32 u32", lambda w, a: a.bit_length() - 1),
    ("bfind.s64", "u32 s64", lambda w, a: (~a if a < 0 else a).bit_length() - 1),
    (
        "bfind.shiftamt.u32",
        "u32 u32",
        lambda w, a: w - a.bit_length() if a else -1,
    ),
    ("bfe.u32", "u32 u32 u32 u32", field(signed=False)),
    ("bfe.s32", "s32 s32 u32 u32", field(signed=True)),
    ("bfe.u64", "u64 u64 u32 u32", field(signed=False)),
    ("bfe.s64", "s64 s64 u32 u32", field(signed=True)),
    ("bfi.b32", "b32 b32 b32 u32 u32", insert),
    ("bfi.b64", "b64 b64 b64 u32 u32", insert),
    ("prmt.b32", "b32 b32 b32 b32", permute),
    ("shf.l.clamp.b32", "b32 b32 b32 u32", lambda w, a, b, n: (b << 32 | a) << min(n, 32) >> 32),
    ("shf.r.clamp.b32", "b32 b32 b32 u32", lambda w, a, b, n: (b << 32 | a) >> min(n, 32)),
    ("shf.l.wrap.b32", "b32 b32 b32 u32", lambda w, a, b, n: (b << 32 | a) << (n & 31) >> 32),
    ("shf.r.wrap.b32", "b32 b32 b32 u32", lambda w, a, b, n: (b << 32 | a) >> (n & 31)),
    ("mul.wide.u16", "u32 u16 u16", lambda w, a, b: a * b),
    ("mul.wide.s32", "s64 s32 s32", lambda w, a, b: a * b),
    ("mad.wide.s16", "s32 s16 s16 s32", lambda w, a, b, c: a * b + c),
    ("dp4a.s32.s32", "s32 b32 b32 s32", dot(True, True)),
    ("dp4a.u32.s32", "s32 b32 b32 s32", dot(False, True)),
    ("dp4a.u32.u32", "u32 b32 b32 u32", dot(False, False)),
    ("mul24.lo.u32", "u32 u32 u32", lambda w, a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
]


@each_case(("form", "types", "exact"), BIT_CASES, ids=[case[0] for case in BIT_CASES])
def test_bits(run, form: str, types: str, exact: Exact) -> None:
    check(run, form, types, exact)


def test_saturation(run) -> None:
    limit = 2**31

    def clamped(w: int, a: int, b: int) -> int:
        return max(-limit, min(limit - 1, a + b))

    check(run, "add.sat.s32", "s32 s32 s32", clamped)


@each_case("table", [0xEA, 0x96, 0xE8, 0x01, 0x80, 0x00])
def test_lop3(run, table: int) -> None:
    a, b, c = (sample(32, 256, seed) for seed in (1, 2, 3))
    actual = np.zeros(256, np.uint32)
    rows = np.stack((a, b, c), axis=1).astype(np.uint32)
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd1, %r1, 12, %rd1;
        mad.wide.u32 %rd2, %r1, 4, %rd2;
        ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4]; ld.global.u32 %r4, [%rd1+8];
        lop3.b32 %r5, %r2, %r3, %r4, {table};
        st.global.u32 [%rd2], %r5;
        ret;""",
        [rows, actual],
        "u64 u64",
        block=256,
    )
    for (x, y, z), result in zip(rows.tolist(), actual.tolist(), strict=True):
        expected = sum(
            (table >> ((x >> at & 1) * 4 + (y >> at & 1) * 2 + (z >> at & 1)) & 1) << at
            for at in range(32)
        )
        assert result == expected


@pytest.mark.parametrize("subtract", [False, True])
def test_carries(run, subtract: bool) -> None:
    """128-bit add and sub by 32-bit instructions with carry."""
    words = [np.stack([sample(32, 256, 10 * k + at) for at in range(4)], axis=1) for k in (0, 1)]
    rows = np.concatenate(words, axis=1).astype(np.uint32)
    out = np.zeros((256, 4), np.uint32)
    name = "sub" if subtract else "add"
    run(
        f"""
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd1, %r1, 32, %rd1;
        mad.wide.u32 %rd2, %r1, 16, %rd2;
        ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd1];
        ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%rd1+16];
        {name}.cc.u32 %r10, %r2, %r6;
        {name}c.cc.u32 %r11, %r3, %r7;
        {name}c.cc.u32 %r12, %r4, %r8;
        {name}c.u32 %r13, %r5, %r9;
        st.global.v4.u32 [%rd2], {{%r10, %r11, %r12, %r13}};
        ret;""",
        [rows, out],
        "u64 u64",
        block=256,
    )
    for row, result in zip(rows, out, strict=True):
        a, b = (int.from_bytes(part.tobytes(), "little") for part in (row[:4], row[4:]))
        expected = (a - b if subtract else a + b) % (1 << 128)
        assert int.from_bytes(result.tobytes(), "little") == expected


def test_multiplication_with_carries(run) -> None:
    """A multiplication of 64 by 64 bits by 32-bit multiply-adds."""
    rows = np.stack([sample(32, 256, at) for at in range(4)], axis=1).astype(np.uint32)
    out = np.zeros((256, 2), np.uint64)
    run(
        """
        ld.param.u64 %rd1, [p0];
        ld.param.u64 %rd2, [p1];
        mov.u32 %r1, %tid.x;
        mad.wide.u32 %rd1, %r1, 16, %rd1;
        mad.wide.u32 %rd2, %r1, 16, %rd2;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];
        mul.lo.u32 %r6, %r2, %r4;
        mul.hi.u32 %r7, %r2, %r4;
        mad.lo.cc.u32 %r7, %r3, %r4, %r7;
        madc.hi.u32 %r8, %r3, %r4, 0;
        mad.lo.cc.u32 %r7, %r2, %r5, %r7;
        madc.hi.cc.u32 %r8, %r2, %r5, %r8;
        addc.u32 %r9, 0, 0;
        mad.lo.cc.u32 %r8, %r3, %r5, %r8;
        madc.hi.u32 %r9, %r3, %r5, %r9;
        st.global.v4.u32 [%rd2], {%r6, %r7, %r8, %r9};
        ret;""",
        [rows, out],
        "u64 u64",
        block=256,
    )
    for (a0, a1, b0, b1), result in zip(rows.tolist(), out, strict=True):
        expected = (a1 << 32 | a0) * (b1 << 32 | b0)
        assert int.from_bytes(result.tobytes(), "little") == expected
