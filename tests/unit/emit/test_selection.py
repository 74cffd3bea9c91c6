"""LLVM selects all instructions and intrinsics that we write, of every type, on every kind of GPU.

One module holds a kernel for each combination; it is compiled in another process, since LLVM ends
the process on what it cannot select.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from repeats import keep

from tilewright.driver.registry import context
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text

FLOATS = [
    "f16", "bf16", "f32", "f64", "vector<2xf16>", "vector<4xbf16>", "vector<2xf32>",
    "vector<4xf32>", "vector<3xf32>", "vector<2xf64>",
]  # fmt: skip
INTEGERS = [
    "i1", "i8", "i16", "i32", "i64", "i128", "vector<4xi8>", "vector<2xi16>", "vector<2xi32>",
    "vector<4xi32>", "vector<3xi32>", "vector<2xi64>",
]  # fmt: skip
SCALAR_INTEGERS = ["i1", "i8", "i16", "i32", "i64"]

Line = tuple[str, str, str]
"""What is computed, the arguments it needs, the type of the result."""


def with_element(type: str, element: str) -> str:
    """`vector<4xf32>` of other elements."""
    return f"{type.rpartition('x')[0]}x{element}>" if type.startswith("vector") else element


def element(type: str) -> str:
    return type.rpartition("x")[2].rstrip(">") if type.startswith("vector") else type


def of_floats(type: str) -> Iterator[Line]:
    one, two = f"%x: {type}", f"%x: {type}, %y: {type}"
    for name in (
        "sqrt",
        "fabs",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
        "roundeven",
    ):
        yield f"llvm.intr.{name}(%x) : ({type}) -> {type}", one, type
    if element(type) != "f64":
        yield f"llvm.intr.exp2(%x) : ({type}) -> {type}", one, type
        afn = "{fastmathFlags = #llvm.fastmath<afn>}"
        names = ("sin", "cos", "tanh") if element(type) == "f32" else ("tanh",)
        for name in names:
            yield f"llvm.intr.{name}(%x) {afn} : ({type}) -> {type}", one, type
    for name in ("maxnum", "minnum", "maximum", "minimum", "copysign"):
        yield f"llvm.intr.{name}(%x, %y) : ({type}, {type}) -> {type}", two, type
    for name in ("fma", "fmuladd"):
        yield f"llvm.intr.{name}(%x, %y, %y) : ({type}, {type}, {type}) -> {type}", two, type
    for name in ("fadd", "fsub", "fmul", "fdiv", "frem"):
        yield f"llvm.{name} %x, %y : {type}", two, type
        fast = "{fastmathFlags = #llvm.fastmath<fast>}"
        yield f"llvm.{name} %x, %y {fast} : {type}", two, type
    yield f"llvm.fneg %x : {type}", one, type
    condition = with_element(type, "i1")
    for predicate in ("oeq", "une", "ult", "ord", "uno", "ueq", "one"):
        yield f'llvm.fcmp "{predicate}" %x, %y : {type}', two, condition
    yield f"llvm.intr.is.fpclass(%x) {{bit = 3 : i32}} : ({type}) -> {condition}", one, condition


def conversions(type: str) -> Iterator[Line]:
    for each in SCALAR_INTEGERS:
        integer = with_element(type, each)
        for name in ("fptosi", "fptoui"):
            yield f"llvm.{name} %x : {type} to {integer}", f"%x: {type}", integer
            if each != "i1":
                text = f"llvm.intr.{name}.sat(%x) : ({type}) -> {integer}"
                yield text, f"%x: {type}", integer
        for name in ("sitofp", "uitofp"):
            yield f"llvm.{name} %x : {integer} to {type}", f"%x: {integer}", type
    for wider in ("f32", "f64"):
        order = ("f16", "bf16", "f32", "f64")
        if order.index(element(type)) < order.index(wider):
            wide = with_element(type, wider)
            yield f"llvm.fpext %x : {type} to {wide}", f"%x: {type}", wide
            yield f"llvm.fptrunc %x : {wide} to {type}", f"%x: {wide}", type


def of_integers(type: str) -> Iterator[Line]:
    one, two = f"%x: {type}", f"%x: {type}, %y: {type}"
    for name in ("ctpop", "bitreverse"):
        yield f"llvm.intr.{name}(%x) : ({type}) -> {type}", one, type
    if element(type) not in ("i1", "i8"):
        yield f"llvm.intr.bswap(%x) : ({type}) -> {type}", one, type
    for name in ("smax", "smin", "umax", "umin", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"):
        yield f"llvm.intr.{name}(%x, %y) : ({type}, {type}) -> {type}", two, type
    for name in ("fshl", "fshr"):
        yield f"llvm.intr.{name}(%x, %y, %y) : ({type}, {type}, {type}) -> {type}", two, type
    for name in ("ctlz", "cttz"):
        yield f'"llvm.intr.{name}"(%x) <{{is_zero_poison = false}}> : ({type}) -> {type}', one, type
    yield f'"llvm.intr.abs"(%x) <{{is_int_min_poison = false}}> : ({type}) -> {type}', one, type
    for name in (
        "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr",
        "ashr",
    ):  # fmt: skip
        yield f"llvm.{name} %x, %y : {type}", two, type
    for predicate in ("eq", "slt", "uge"):
        yield f'llvm.icmp "{predicate}" %x, %y : {type}', two, with_element(type, "i1")
    if type in SCALAR_INTEGERS:
        pair = f"!llvm.struct<({type}, i1)>"
        for name in ("sadd", "uadd", "ssub", "usub", "smul", "umul"):
            text = f'"llvm.intr.{name}.with.overflow"(%x, %y) : ({type}, {type}) -> {pair}'
            yield text, two, pair


def reductions(type: str) -> Iterator[Line]:
    if not type.startswith("vector"):
        return
    result = element(type)
    if result.startswith("i"):
        for name in ("add", "mul", "and", "or", "xor", "smax", "smin", "umax", "umin"):
            text = f'"llvm.intr.vector.reduce.{name}"(%x) : ({type}) -> {result}'
            yield text, f"%x: {type}", result
        return
    flags = "<{fastmathFlags = #llvm.fastmath<none>}>"
    for name in ("fmax", "fmin", "fmaximum", "fminimum"):
        text = f'"llvm.intr.vector.reduce.{name}"(%x) {flags} : ({type}) -> {result}'
        yield text, f"%x: {type}", result
    for name in ("fadd", "fmul"):
        text = f'"llvm.intr.vector.reduce.{name}"(%y, %x) {flags} : ({result}, {type}) -> {result}'
        yield text, f"%y: {result}, %x: {type}", result


def atomics() -> Iterator[Line]:
    floats = ["f16", "bf16", "f32", "f64", "vector<2xf16>", "vector<2xbf16>"]
    integers = [
        "xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin",
        "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat",
    ]  # fmt: skip
    kinds = [(type, name) for type in floats for name in ("fadd", "fsub", "fmax", "fmin")]
    kinds += [(type, name) for type in SCALAR_INTEGERS[1:] for name in integers]
    for type, name in kinds:
        for order in ('syncscope("device") monotonic', 'syncscope("block") acq_rel', "seq_cst"):
            text = f"llvm.atomicrmw {name} %p, %x {order} : !llvm.ptr<1>, {type}"
            yield text, f"%p: !llvm.ptr<1>, %x: {type}", type


def lines() -> Iterator[Line]:
    for type in FLOATS:
        yield from of_floats(type)
        yield from conversions(type)
    for type in INTEGERS:
        yield from of_integers(type)
    for type in (*FLOATS, *INTEGERS):
        yield from reductions(type)
    yield from atomics()


def kernel(number: int, line: Line) -> str:
    text, arguments, type = line
    return (
        f"llvm.func @k{number}({arguments}, %out: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{\n"
        f"%r = {text}\nllvm.store %r, %out : {type}, !llvm.ptr<1>\nllvm.return\n}}\n"
    )


@pytest.mark.parametrize("name", keep(["sm_80", "sm_90", "sm_100"], "sm_90".__eq__))
def test_llvm_selects_everything(name: str) -> None:
    text = "".join([kernel(number, line) for number, line in enumerate(lines())])
    module = emit_llvm(parse_text(text, context()), ARCHES[name])
    assert len(module.entries) > 1000
    ptx = compile_ptx(module, opt_level=1)
    assert ptx.count(".visible .entry") == len(module.entries)
