"""Probes of arithmetic instructions: integers, bits, comparisons, floats, approximations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from probe_operands import CASES, FLOATS, THREADS, WORDS, each, probe
from ptx_probes import Probe


def integer_probes() -> Iterator[Probe]:
    """Arithmetic of integers."""
    yield from each("add.{t} sub.{t} mul.lo.{t} mul.hi.{t} div.{t} rem.{t} min.{t} max.{t}",
                    WORDS, "{t}", "{t} {t}")  # fmt: skip
    yield from each("mad.lo.{t} sad.{t}", WORDS, "{t}", "{t} {t} {t}")
    yield from each("mad.hi.{t}", WORDS, "{t}", "{t} {t} {t}")
    yield from each("abs.{t} neg.{t}", ("s16", "s32", "s64"), "{t}", "{t}")
    yield from each("add.sat.{t} sub.sat.{t}", ("s32",), "{t}", "{t} {t}")
    yield from each("mad.hi.sat.{t}", ("s32",), "{t}", "{t} {t} {t}")
    for sign in "us":
        yield from each(f"mul.wide.{sign}16", (f"{sign}16",), "b32", "{t} {t}")
        yield from each(f"mul.wide.{sign}32", (f"{sign}32",), "b64", "{t} {t}")
        yield probe(f"mad.wide.{sign}16", "b32", f"{sign}16 {sign}16 b32")
        yield probe(f"mad.wide.{sign}32", "b64", f"{sign}32 {sign}32 b64")
    pairs = ("u16x2", "s16x2")
    yield from each("add.{t} min.{t} max.{t}", pairs, "{t}", "{t} {t}")
    yield from each("min.relu.{t} max.relu.{t}", ("s16x2", "s32"), "{t}", "{t} {t}")
    small = ("u32", "s32")
    yield from each("mul24.lo.{t} mul24.hi.{t}", small, "{t}", "{t} {t}")
    yield from each("mad24.lo.{t} mad24.hi.{t}", small, "{t}", "{t} {t} {t}")
    yield from each("mad24.hi.sat.{t}", ("s32",), "{t}", "{t} {t} {t}")
    for left, right in itertools.product(small, small):
        for form in ("dp4a", "dp2a.lo", "dp2a.hi"):
            yield probe(f"{form}.{left}.{right}", "b32", "b32 b32 b32")
    yield from _carry_probes()


def video_probes() -> Iterator[Probe]:
    """Pairs and quadruples in one register."""
    names = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
    for name, count in itertools.product(names, (2, 4)):
        for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32"):
            for extra in ("", ".sat", ".add"):
                yield probe(f"{name}{count}.{types}{extra}", "b32", "b32 b32 b32")
    for name, count in itertools.product(COMPARISONS.split(), (2, 4)):
        yield probe(f"vset{count}.u32.u32.{name}", "b32", "b32 b32 b32")
        yield probe(f"vset{count}.s32.s32.{name}.add", "b32", "b32 b32 b32")


def _carry_probes() -> Iterator[Probe]:
    ins = "u32 u32 u32 u32"
    for type in ("u32", "u64"):
        four = ins.replace("u32", type)
        for form in ("add", "sub"):
            body = f"{form}.cc.{type} %o0, %i0, %i1; {form}c.cc.{type} %o1, %i2, %i3;"
            body += f" {form}c.{type} %o2, %i0, %i3;"
            yield probe(f"{form}.cc.{type}", f"{type} {type} {type}", four, body)
        body = f"mad.lo.cc.{type} %o0, %i0, %i1, %i2; madc.hi.cc.{type} %o1, %i0, %i1, %i3;"
        body += f" madc.lo.{type} %o2, %i2, %i3, %i0;"
        yield probe(f"mad.lo.cc.{type}", f"{type} {type} {type}", four, body)


def bit_probes() -> Iterator[Probe]:
    """Logic, shifts, fields, permutations."""
    sizes = ("b16", "b32", "b64")
    yield from each("and.{t} or.{t} xor.{t}", sizes, "{t}", "{t} {t}")
    yield from each("not.{t} cnot.{t}", sizes, "{t}", "{t}")
    yield from each("shl.{t}", sizes, "{t}", "{t} n32")
    yield from each("shr.{t}", (*sizes, *WORDS), "{t}", "{t} n32")
    yield from each("shf.l.wrap.{t} shf.l.clamp.{t} shf.r.wrap.{t} shf.r.clamp.{t}", ("b32",),
                    "{t}", "{t} {t} n32")  # fmt: skip
    for size in ("b32", "b64"):
        yield from each("popc.{t} clz.{t}", (size,), "b32", "{t}")
        yield from each("brev.{t}", (size,), "{t}", "{t}")
        yield from each("bfi.{t}", (size,), "{t}", "{t} {t} n32 n32")
    wide = ("u32", "s32", "u64", "s64")
    yield from each("bfind.{t} bfind.shiftamt.{t}", wide, "b32", "{t}")
    yield from each("bfe.{t}", wide, "{t}", "{t} n32 n32")
    yield from each("szext.clamp.{t} szext.wrap.{t}", ("u32", "s32"), "{t}", "{t} n32")
    yield from each("bmsk.clamp.{t} bmsk.wrap.{t}", ("b32",), "{t}", "n32 n32")
    yield _fns()
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield probe(f"prmt.b32{mode}", "b32", "b32 b32 b32")
    for table in (0x00, 0x1E, 0x2D, 0x96, 0xCA, 0xE8, 0xFF):
        yield probe("lop3.b32", "b32", "b32 b32 b32", tail=f"0x{table:02x}")
    for combine in ("or", "and"):
        body = f"setp.ne.b32 %o1, %i3, 0; lop3.{combine}.b32 %o0|%o1, %i0, %i1, %i2, 0x80, %o1;"
        yield probe(f"lop3.{combine}.b32", "b32 pred", "b32 b32 b32 b32", body)
    yield probe("selp.b64", "b64", "b64 b64 u32", "setp.gt.u32 %loop, %i2, 32; "
                "selp.b64 %o0, %i0, %i1, %loop;")  # fmt: skip
    yield from each("slct.{t}.s32", ("b16", "u32", "b64"), "{t}", "{t} {t} s32")
    yield from each("slct.{t}.f32 slct.ftz.{t}.f32", ("b16", "s32", "f64"), "{t}", "{t} {t} f32")


def _fns() -> Probe:
    rng = np.random.default_rng(17)
    mask, base = rng.integers(0, 1 << 32, CASES, np.uint32), rng.integers(0, 32, CASES, np.uint32)
    offset = rng.integers(-9, 10, CASES).astype(np.int32).view(np.uint32)
    inputs = [("b32", mask), ("b32", base), ("b32", offset)]
    return Probe("fns.b32", "fns.b32 %o0, %i0, %i1, %i2;", inputs, ["b32"], THREADS, 8)


COMPARISONS = "eq ne lt le gt ge"
FLOAT_COMPARISONS = f"{COMPARISONS} equ neu ltu leu gtu geu num nan"


def comparison_probes() -> Iterator[Probe]:
    """`setp`, `set`, `testp`."""
    for type in WORDS:
        extra = " lo ls hi hs" if type[0] == "u" else ""
        for name in (COMPARISONS + extra).split():
            yield probe(f"setp.{name}.{type}", "pred", f"{type} {type}")
        yield probe(f"set.lt.u32.{type}", "u32", f"{type} {type}")
        yield probe(f"set.ge.f32.{type}", "f32", f"{type} {type}")
    yield from _float_comparisons()
    for combine in ("and", "or", "xor"):
        body = f"setp.gt.s32 %o1, %i2, 40; setp.lt.{combine}.f32 %o0|%o1, %i0, %i1, !%o1;"
        yield probe(f"setp.lt.{combine}.f32", "pred pred", "f32 f32 s32", body)
        body = f"setp.gt.s32 %loop, %i2, 40; set.lt.{combine}.u32.f32 %o0, %i0, %i1, %loop;"
        yield probe(f"set.lt.{combine}.u32.f32", "u32", "f32 f32 s32", body)
    properties = "finite infinite number notanumber normal subnormal"
    for name, type in itertools.product(properties.split(), ("f32", "f64")):
        yield probe(f"testp.{name}.{type}", "pred", type)


def _float_comparisons() -> Iterator[Probe]:
    for type in FLOATS:
        for name in FLOAT_COMPARISONS.split():
            yield probe(f"setp.{name}.{type}", "pred", f"{type} {type}")
    for name in ("eq", "lt", "geu"):
        yield probe(f"setp.{name}.ftz.f32", "pred", "f32 f32")
        yield probe(f"setp.{name}.ftz.f16", "pred", "f16 f16")
    for type, result in itertools.product(FLOATS, ("u32", "s32", "f32")):
        if result == "f32" and type in ("f16", "bf16"):
            continue
        yield probe(f"set.ltu.{result}.{type}", "u32", f"{type} {type}")
    for type in ("f16", "bf16"):
        for result in (type, "u16", "s16"):
            yield probe(f"set.le.{result}.{type}", "u16", f"{type} {type}")
        for result in (f"{type}x2", "u32", "s32"):
            yield probe(f"set.neu.{result}.{type}x2", "u32", f"{type}x2 {type}x2")
        yield from _pair_comparisons(type)


def _pair_comparisons(type: str) -> Iterator[Probe]:
    for name in ("lt", "neu", "nan"):
        body = f"setp.{name}.{type}x2 %o0|%o1, %i0, %i1;"
        yield probe(f"setp.{name}.{type}x2", "pred pred", f"{type}x2 {type}x2", body)
    body = f"setp.gt.s32 %loop, %i2, 40; setp.lt.or.{type}x2 %o0|%o1, %i0, %i1, %loop;"
    yield probe(f"setp.lt.or.{type}x2", "pred pred", f"{type}x2 {type}x2 s32", body)


def float_probes() -> Iterator[Probe]:
    """Arithmetic of f32 and f64 with defined rounding."""
    for type, mode in itertools.product(("f32", "f64"), ("rn", "rz", "rm", "rp")):
        extras = ("", ".ftz", ".sat", ".ftz.sat") if type == "f32" else ("",)
        for extra in extras:
            for name in ("add", "sub", "mul"):
                yield probe(f"{name}.{mode}{extra}.{type}", type, f"{type} {type}")
            yield _fused(f"fma.{mode}{extra}.{type}", type)
        for extra in extras[:2]:
            yield probe(f"div.{mode}{extra}.{type}", type, f"{type} {type}")
            yield probe(f"sqrt.{mode}{extra}.{type}", type, type)
            yield probe(f"rcp.{mode}{extra}.{type}", type, type)
    for form in ("mul.rn.ftz", "mul.rz.ftz", "mul.rm.ftz", "mul.rp.ftz"):
        yield _around_tiny(f"{form}.f32")
    yield from each("mad.rn.{t}", ("f32", "f64"), "{t}", "{t} {t} {t}")
    yield from each("copysign.{t}", ("f32", "f64"), "{t}", "{t} {t}")
    yield from each("min.{t} max.{t}", FLOATS, "{t}", "{t} {t}")
    yield from each("abs.{t} neg.{t}", FLOATS, "{t}", "{t}")
    yield from each("abs.ftz.{t} neg.ftz.{t}", ("f32", "f16"), "{t}", "{t}")
    some = ("f32", "f16", "bf16")
    yield from each("min.NaN.{t} max.NaN.{t} min.xorsign.abs.{t} max.NaN.xorsign.abs.{t}", some,
                    "{t}", "{t} {t}")  # fmt: skip
    yield from each("min.ftz.{t} max.ftz.NaN.{t}", ("f32", "f16"), "{t}", "{t} {t}")


def _around_tiny(opcode: str) -> Probe:
    """Multiply to results just above and below the smallest normal number."""
    rng = np.random.default_rng(5)
    a = rng.integers(0x3F000000, 0x3F400000, CASES).astype(np.uint32)
    with np.errstate(all="ignore"):
        b = (np.float64(2.0**-126) / a.view(np.float32)).astype(np.float32).view(np.uint32)
    b += rng.integers(-2, 3, CASES).astype(np.uint32)
    a ^= rng.integers(0, 2, CASES).astype(np.uint32) << np.uint32(31)
    inputs = [("b32", a), ("b32", b)]
    return Probe(f"{opcode} around 2^-126", f"{opcode} %o0, %i0, %i1;", inputs, ["b32"], THREADS, 8)


def _fused(opcode: str, type: str) -> Probe:
    """A fused multiply-add; some addends cancel the multiplication."""
    fma = probe(opcode, type, f"{type} {type} {type}")
    element = type[:-2] if type.endswith("x2") else type
    if element not in ("f32", "f64"):
        return fma
    dtype = np.float32 if element == "f32" else np.float64
    (_, a), (_, b), (_, c) = fma.inputs
    with np.errstate(all="ignore"):
        cancelling = -(a.view(dtype) * b.view(dtype))
    exact = (np.arange(len(c)) % 3 == 0) & np.isfinite(cancelling)
    mixed = np.where(exact, cancelling.view(c.dtype), c)
    fma.inputs[2] = (fma.inputs[2][0], mixed)  # pyrefly: ignore[unsupported-operation]
    return fma


def half_probes() -> Iterator[Probe]:
    """Arithmetic of f16, bf16 and their pairs."""
    for type in ("f16", "f16x2", "bf16", "bf16x2"):
        two = f"{type} {type}"
        flushing = ("", ".ftz") if type.startswith("f") else ("",)
        for name, ftz in itertools.product(("add", "sub", "mul"), flushing):
            for sat in ("", ".sat") if type.startswith("f") else ("",):
                yield probe(f"{name}.rn{ftz}{sat}.{type}", type, two)
        extras = ("", ".relu", ".sat", ".ftz", ".ftz.relu", ".ftz.sat") if (
            type.startswith("f")
        ) else ("", ".relu")  # fmt: skip
        for extra in extras:
            yield probe(f"fma.rn{extra}.{type}", type, f"{two} {type}")
        for extra in (".oob", ".oob.relu"):
            yield probe(f"fma.rn{extra}.{type}", type, f"{two} {type}")
    for type, one in (("f16", 0x3C00), ("bf16", 0x3F80)):
        yield _out_of_bounds(type, one)
    pairs = ("f16x2", "bf16x2")
    yield from each("min.{t} max.{t} min.NaN.{t} max.NaN.{t} max.NaN.xorsign.abs.{t}", pairs,
                    "{t}", "{t} {t}")  # fmt: skip
    yield from each("abs.{t} neg.{t}", pairs, "{t}", "{t}")
    yield from each("abs.ftz.{t} neg.ftz.{t}", ("f16x2",), "{t}", "{t}")
    yield from each("min.ftz.{t} max.ftz.NaN.{t}", ("f16x2",), "{t}", "{t} {t}")


def _out_of_bounds(type: str, one: int) -> Probe:
    """Every pattern as each of the three operands, the others being one."""
    every = [("b16", np.arange(1 << 16, dtype=np.uint16))]
    body = "\n".join(
        f"fma.rn.oob.{type} %o{at}, {', '.join('%i0' if at == k else '%one' for k in range(3))};"
        for at in range(3)
    )
    body = f".reg .b16 %one; mov.b16 %one, {one}; {body}"
    return Probe(f"fma.rn.oob.{type} of all", body, every, ["b16"] * 3, THREADS, 512)


def approximation_probes() -> Iterator[Probe]:
    """Approximate functions."""
    for name in ("sin", "cos", "lg2", "ex2", "rcp", "rsqrt", "sqrt"):
        for ftz in ("", ".ftz"):
            yield probe(f"{name}.approx{ftz}.f32", "f32", "f32")
    yield probe("tanh.approx.f32", "f32", "f32")
    for name in ("div.approx", "div.approx.ftz", "div.full", "div.full.ftz"):
        yield probe(f"{name}.f32", "f32", "f32 f32")
    for name in ("rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"):
        yield probe(f"{name}.f64", "f64", "f64")
    for type in ("f16", "f16x2", "bf16", "bf16x2"):
        yield probe(f"tanh.approx.{type}", type, type)
        yield probe(f"ex2.approx{'.ftz' if type[0] == 'b' else ''}.{type}", type, type)


def exact_probes() -> Iterator[Probe]:
    """Every probe whose results are defined to the last bit."""
    for family in (
        integer_probes,
        video_probes,
        bit_probes,
        comparison_probes,
        float_probes,
        half_probes,
    ):
        yield from family()
