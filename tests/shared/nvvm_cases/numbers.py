"""Cases of arithmetic and conversions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from nvvm_cases.case import Case


def arithmetic() -> Iterator[Case]:
    yield Case("%r = nvvm.opaque %l : i64", "begin inline asm\n\tmov.b64", "i64")
    yield Case("%r = nvvm.opaque %l {repeated} : i64", "begin inline asm\n\tmov.b64", "i64")
    # LLVM does not see that the difference is zero.
    yield Case("%t = nvvm.opaque %l : i64\n    %r = llvm.sub %t, %l : i64", "sub.s64", "i64")
    for rnd in ("rn", "rm", "rp", "rz"):
        attribute = f"rnd = #nvvm.fp_rnd_mode<{rnd}>"
        for type, value in (("f32", "%x"), ("f64", "%y")):
            for word in ("add", "mul", "div"):
                text = f"%r = nvvm.{word}f {value}, {value} {{{attribute}}} : {type}"
                yield Case(text, f"{word}.{rnd}.{type}", type)
            text = f"%r = nvvm.fma {value}, {value}, {value} {{{attribute}}} : {type}"
            yield Case(text, f"fma.{rnd}.{type}", type)
            for word in ("sqrt", "rcp"):
                text = f"%r = nvvm.{word}f {value} {{{attribute}}} : {type}"
                yield Case(text, f"{word}.{rnd}.{type}", type)
        text = f"%r = nvvm.addf %x, %x {{ftz, {attribute}}} : f32"
        yield Case(text, f"add.{rnd}.ftz.f32", "f32")
        for word in ("add", "mul"):
            text = f"%r = nvvm.{word}.packed.f32x2 %q, %q {{{attribute}}} : vector<2xf32>"
            yield Case(text, f"{word}.{rnd}.f32x2", "vector<2xf32>", "100")
        text = f"%r = nvvm.fma.packed.f32x2 %q, %q, %q {{ftz, {attribute}}} : vector<2xf32>"
        yield Case(text, f"fma.{rnd}.ftz.f32x2", "vector<2xf32>", "100")
    yield Case(
        "%r = nvvm.fma.packed.f32x2 %q, %q, %q : vector<2xf32>",
        "fma.rn.f32x2",
        "vector<2xf32>",
        "100",
    )
    yield Case("%r = nvvm.rcp.approx.ftz.f %x : f32", "rcp.approx.ftz.f32", "f32")
    for ftz, extra in (("", ""), (" {ftz}", ".ftz")):
        for word in ("rcp", "sqrt", "rsqrt", "lg2", "sin", "cos", "ex2"):
            yield Case(f"%r = nvvm.{word}.approx %x{ftz} : f32", f"{word}.approx{extra}.f32", "f32")
        yield Case(f"%r = nvvm.div.approx %x, %x{ftz} : f32", f"div.approx{extra}.f32", "f32")
    yield Case("%r = nvvm.div.approx %x, %x {full} : f32", "div.full.f32", "f32")
    yield Case("%r = nvvm.div.approx %x, %x {ftz, full} : f32", "div.full.ftz.f32", "f32")
    yield Case("%r = nvvm.ex2.approx %v : vector<2xf16>", "ex2.approx.f16x2", "vector<2xf16>")
    yield Case(
        "%r = nvvm.ex2.approx %w {ftz} : vector<2xbf16>",
        "ex2.approx.ftz.bf16x2",
        "vector<2xbf16>",
        "90",
    )
    yield Case("%r = nvvm.tanh.approx %x : f32", "tanh.approx.f32", "f32")
    yield Case("%r = nvvm.tanh.approx %v : vector<2xf16>", "tanh.approx.f16x2", "vector<2xf16>")
    yield Case(
        "%r = nvvm.tanh.approx %w : vector<2xbf16>", "tanh.approx.bf16x2", "vector<2xbf16>", "90"
    )


def conversions() -> Iterator[Case]:
    rounding = "rnd = #nvvm.fp_rnd_mode<{}>".format
    finite = "sat = #nvvm.sat_mode<satfinite>"
    text = "%r = nvvm.convert.float.to.tf32 %x"
    yield Case(f"{text} {{{rounding('rna')}}}", "cvt.rna.tf32.f32", "i32")
    yield Case(f"{text} {{{rounding('rna')}, {finite}}}", "cvt.rna.satfinite.tf32.f32", "i32", "89")
    for rnd, (relu, extra) in product(("rn", "rz"), (("", ""), ("relu = true, ", ".relu"))):
        yield Case(f"{text} {{{relu}{rounding(rnd)}}}", f"cvt.{rnd}{extra}.tf32.f32", "i32", "90")
        yield Case(
            f"{text} {{{relu}{rounding(rnd)}, {finite}}}",
            f"cvt.{rnd}{extra}.satfinite.tf32.f32",
            "i32",
            "100",
        )
        for half in ("f16", "bf16"):
            type = f"vector<2x{half}>"
            yield Case(
                f"%r = nvvm.convert.f32x2.to.{half}x2 %x, %x {{{relu}{rounding(rnd)}}} : {type}",
                f"cvt.{rnd}{extra}.{half}x2.f32",
                type,
            )
    for half in ("f16", "bf16"):
        type = f"vector<2x{half}>"
        yield Case(
            f"%r = nvvm.convert.f32x2.to.{half}x2 %x, %x, %i : {type}",
            f"cvt.rs.{half}x2.f32",
            type,
            "rs",
        )
    for format, name in (("f8E4M3FN", "e4m3"), ("f8E5M2", "e5m2")):
        for relu, extra in (("", ""), ("relu = true, ", ".relu")):
            yield Case(
                f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {{{relu}{rounding('rn')}, {finite}}} "
                f": i16 ({format})",
                f"cvt.rn.satfinite{extra}.{name}x2.f32",
                "i16",
                "89",
            )
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {{{rounding('rn')}, {finite}}} "
            f": vector<2xi8> ({format})",
            f"cvt.rn.satfinite.{name}x2.f32",
            "vector<2xi8>",
            "89",
        )
        yield Case(
            f"%r = nvvm.convert.f16x2.to.f8x2 %v : vector<2xf16> -> i16 ({format})",
            f"cvt.rn.satfinite.{name}x2.f16x2",
            "i16",
            "89",
        )
        yield Case(
            f"%r = nvvm.convert.f8x2.to.f16x2 %z : vector<2xi8> ({format}) -> vector<2xf16>",
            f"cvt.rn.f16x2.{name}x2",
            "vector<2xf16>",
            "89",
        )
    yield from narrow_conversions(rounding, finite)


def narrow_conversions(rounding: object, finite: str) -> Iterator[Case]:
    for rnd, (sat, extra) in product(("rz", "rp"), (("", ""), (f", {finite}", ".satfinite"))):
        attributes = f"{{rnd = #nvvm.fp_rnd_mode<{rnd}>{sat}}}"
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f8x2 %x, %x {attributes} : i16 (f8E8M0FNU)",
            f"cvt.{rnd}{extra}.ue8m0x2.f32",
            "i16",
            "100",
        )
        yield Case(
            f"%r = nvvm.convert.bf16x2.to.f8x2 %w {attributes} : vector<2xbf16> -> i16 (f8E8M0FNU)",
            f"cvt.{rnd}{extra}.ue8m0x2.bf16x2",
            "i16",
            "100",
        )
    for format, name in (("f6E2M3FN", "e2m3"), ("f6E3M2FN", "e3m2")):
        yield Case(
            f"%r = nvvm.convert.f32x2.to.f6x2 %x, %x : i16 ({format})",
            f"cvt.rn.satfinite.{name}x2.f32",
            "i16",
            "100",
        )
        yield Case(
            f"%r = nvvm.convert.f6x2.to.f16x2 %z : vector<2xi8> ({format}) -> vector<2xf16>",
            f"cvt.rn.f16x2.{name}x2",
            "vector<2xf16>",
            "100",
        )
    yield Case(
        "%r = nvvm.convert.f32x2.to.f4x2 %x, %x : i8 (f4E2M1FN)",
        "cvt.rn.satfinite.e2m1x2.f32",
        "i8",
        "100",
    )
    yield Case(
        "%r = nvvm.convert.f4x2.to.f16x2 %o : i8 (f4E2M1FN) -> vector<2xf16>",
        "cvt.rn.f16x2.e2m1x2",
        "vector<2xf16>",
        "100",
    )
    yield Case(
        "%r = nvvm.convert.f8x2.to.bf16x2 %z : vector<2xi8> (f8E8M0FNU) -> vector<2xbf16>",
        "cvt.rn.bf16x2.ue8m0x2",
        "vector<2xbf16>",
        "100",
    )
