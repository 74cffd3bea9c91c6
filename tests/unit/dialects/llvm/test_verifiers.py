"""Diagnostics of the verifiers of the LLVM dialect."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.driver.registry import context
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text

ARGUMENTS = (
    "%i: i32, %l: i64, %x: f32, %h: f16, %v: vector<4xf32>, %p: !llvm.ptr<1>, %b: i1, "
    "%s: !llvm.struct<(i32, f32)>"
)

WRONG = {
    "%r = llvm.trunc %i : i32 to i64": "expected a result narrower than the operand",
    "%r = llvm.sext %i : i32 to i32": "expected a result wider than the operand",
    "%r = llvm.fpext %v : vector<4xf32> to vector<2xf64>": "expected as many elements",
    "%r = llvm.bitcast %i : i32 to i64": "expected a result of 32 bits",
    "%r = llvm.bitcast %p : !llvm.ptr<1> to i64": "one of them is a pointer",
    "%r = llvm.fadd %i, %i : i32": "must be floating point LLVM type",
    "%r = llvm.add %x, %x : f32": "must be signless integer",
    '%r = "llvm.icmp"(%i, %i) <{predicate = 0 : i64}> : (i32, i32) -> i32': "must be i1 or vector",
    '%r = "llvm.icmp"(%i, %i) <{predicate = 0 : i64}> : (i32, i32) -> vector<4xi1>': (
        "expected results of types ('i1'), got ('vector<4xi1>')"
    ),
    '%c = llvm.mlir.undef : vector<2xi1>\n%r = "llvm.select"(%c, %v, %v) '
    ": (vector<2xi1>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>": "expected a condition",
    '%r = "llvm.getelementptr"(%p) <{elem_type = f32, rawConstantIndices = '
    "array<i32: -2147483648>}> : (!llvm.ptr<1>) -> !llvm.ptr<1>": (
        "expected 1 dynamic indices, got 0"
    ),
    "%r = llvm.getelementptr %p[0, 1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32": (
        "index #1 does not apply to 'f32'"
    ),
    "%r = llvm.getelementptr %p[0, %i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
    "!llvm.struct<(i32, f32)>": "index #1 must be a constant",
    "%r = llvm.load %p {alignment = 3 : i64} : !llvm.ptr<1> -> f32": (
        "a power of two up to 2**30, got 3"
    ),
    "%r = llvm.load %p atomic release {alignment = 4 : i64} : !llvm.ptr<1> -> f32": (
        "cannot have the ordering 'release'"
    ),
    "%r = llvm.load %p atomic acquire : !llvm.ptr<1> -> f32": "expected an alignment on an atomic",
    "llvm.store %x, %p atomic acquire {alignment = 4 : i64} : f32, !llvm.ptr<1>": (
        "cannot have the ordering 'acquire'"
    ),
    "%r = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr<1>, f32": "'add' expects an integer",
    "%r = llvm.atomicrmw fadd %p, %i monotonic : !llvm.ptr<1>, i32": "'fadd' expects a float",
    "%r = llvm.atomicrmw add %p, %i unordered : !llvm.ptr<1>, i32": "at least 'monotonic'",
    "%r = llvm.cmpxchg %p, %i, %i acq_rel release : !llvm.ptr<1>, i32": (
        "failure ordering 'release'"
    ),
    "llvm.fence monotonic": "cannot have the ordering 'monotonic'",
    "%r = llvm.extractvalue %s[2] : !llvm.struct<(i32, f32)>": "has no member [2]",
    '%r = "llvm.insertvalue"(%s, %x) <{position = array<i64: 0>}> '
    ": (!llvm.struct<(i32, f32)>, f32) -> !llvm.struct<(i32, f32)>": "to be 'i32', got 'f32'",
    '%r = "llvm.shufflevector"(%v, %v) <{mask = array<i32: 8>}> '
    ": (vector<4xf32>, vector<4xf32>) -> vector<1xf32>": "numbers from -1 to 7, got 8",
    "%r = llvm.mlir.constant(1 : i64) : i32": (
        "expected a value of type 'i32', got one of type 'i64'"
    ),
    "%r = llvm.mlir.constant(dense<1.0> : vector<2xf32>) : vector<4xf32>": (
        "expected a value of type"
    ),
    '%r = llvm.mlir.constant("abc") : !llvm.array<2 x i8>': "expected 2 bytes, got 3",
    "%r = llvm.mlir.addressof @missing : !llvm.ptr": (
        "expected '@missing' to name a global or a function"
    ),
    "%r = llvm.mlir.addressof @shared : !llvm.ptr": "expected the type '!llvm.ptr<3>'",
    "%r = llvm.call @missing(%x) : (f32) -> f32": "expected '@missing' to name an 'llvm.func'",
    "%r = llvm.call @callee(%i) : (i32) -> f32": "expected operands for '!llvm.func<f32 (f32)>'",
    "%r = llvm.call @callee(%x) : (f32) -> i32": "expected results of '!llvm.func<f32 (f32)>'",
    '%r = llvm.call_intrinsic "nvvm.x"(%i) : (i32) -> i32': "expected an intrinsic name",
    "llvm.br ^next(%i : i32)\n^next:": "expected values of types () for the target, got ('i32')",
    "llvm.return %i : i32": "expected to return (), got ('i32')",
    "%r = llvm.fptrunc %h : f16 to bf16": "expected a result narrower than the operand",
}


@each_case("text", WRONG)
def test_wrong_operations(text: str) -> None:
    body = text if text.startswith("llvm.return") else f"{text}\nllvm.return"
    program = (
        "llvm.mlir.global internal @shared() {addr_space = 3 : i32} : i32\n"
        "llvm.func @callee(f32) -> f32\n"
        f"llvm.func @f({ARGUMENTS}) {{\n{body}\n}}"
    )
    with pytest.raises(UserError) as caught:
        verify(parse_text(program, context()))
    assert WRONG[text] in str(caught.value)


@each_case(
    ("text", "message"),
    [
        (
            "llvm.func @k() -> i32 attributes {nvvm.kernel} {\n%0 = llvm.mlir.zero : i32\n"
            "llvm.return %0 : i32\n}",
            "a kernel must not return a value",
        ),
        ("llvm.func internal @k()", "expected a body, since the linkage is 'internal'"),
        (
            "llvm.mlir.global internal @s(1 : i32) {addr_space = 3 : i32} : i32",
            "cannot have a value in shared memory",
        ),
        (
            '"llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void (i32)>, '
            'linkage = #llvm.linkage<external>, sym_name = "f", visibility_ = 0 : i64}> '
            '({\n^bb0(%a: f32):\n"llvm.return"() : () -> ()\n}) : () -> ()',
            "expected block arguments of types ('i32'), got ('f32')",
        ),
        ("llvm.func @f(i32, ..., f32)", "expected ')'"),
    ],
)
def test_wrong_functions_and_globals(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        verify(parse_text(text, context()))
    assert message in str(caught.value)
