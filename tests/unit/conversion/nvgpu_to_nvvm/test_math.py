"""math to libdevice: callees, scalars, promotion, fast variants."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm
import pytest
from each_case import each_case
from lowering import TO_NVVM, convert, kernel, lowered, read, symbols

from tilewright.conversion import nvgpu_to_nvvm
from tilewright.conversion.nvgpu_to_nvvm import math as library
from tilewright.conversion.nvgpu_to_nvvm.types import llvm_types
from tilewright.dialects.llvm.aggregate import ExtractElementOp, InsertElementOp
from tilewright.dialects.llvm.calls import CallOp
from tilewright.emit.toolchain import find_libdevice
from tilewright.ir.conversion import convert as convert_module
from tilewright.ir.types import VectorType
from tilewright.support.diagnostics import UserError

UNARY = {
    "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan",
    "atanh": "atanh", "cbrt": "cbrt", "cos": "cos", "cosh": "cosh", "erf": "erf", "erfc": "erfc",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log10": "log10",
    "log1p": "log1p", "log2": "log2", "round": "round", "rsqrt": "rsqrt", "sin": "sin",
    "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
FAST = ("cos", "exp", "log", "log2", "log10", "sin", "tan", "tanh")


@each_case("function", UNARY)
def test_unary_functions(function: str) -> None:
    for type, suffix in (("f32", "f"), ("f64", "")):
        callee = f"__nv_{UNARY[function]}{suffix}"
        assert lowered(f"%r = math.{function} %x : {type}", f"%x: {type}") == [
            f"%0 = llvm.call @{callee}(%arg0) : ({type}) -> {type}"
        ]


@each_case(
    ("op", "callee"), [("math.atan2", "atan2"), ("math.powf", "pow"), ("arith.remf", "fmod")]
)
def test_binary_functions(op: str, callee: str) -> None:
    assert lowered(f"%r = {op} %x, %x : f32", "%x: f32") == [
        f"%0 = llvm.call @__nv_{callee}f(%arg0, %arg0) : (f32, f32) -> f32"
    ]


@pytest.mark.requirement("R3-043")
@each_case(
    ("type", "expected"),
    [
        ("f32", ["%0 = llvm.call @__nv_sqrtf(%arg0) : (f32) -> f32"]),
        ("f64", ["%0 = llvm.call @__nv_sqrt(%arg0) : (f64) -> f64"]),
        (
            "f16",
            [
                "%0 = llvm.fpext %arg0 : f16 to f32",
                "%1 = llvm.call @__nv_sqrtf(%0) : (f32) -> f32",
                "%2 = llvm.fptrunc %1 : f32 to f16",
            ],
        ),
    ],
)
def test_the_callee_by_type(type: str, expected: list[str]) -> None:
    assert lowered(f"%r = math.sqrt %x : {type}", f"%x: {type}") == expected


@pytest.mark.requirement("R3-010", "R3-041", "R3-042")
def test_vectors_are_scalarized() -> None:
    module = convert(kernel("%r = math.sqrt %x : vector<4xf32>", "%x: vector<4xf32>"))
    ops = list(module.walk())
    calls = [op for op in ops if isinstance(op, CallOp)]
    assert [op.callee for op in calls] == ["__nv_sqrtf"] * 4
    assert not any(isinstance(value.type, VectorType) for op in calls for value in op.operands)
    assert sum(isinstance(op, ExtractElementOp) for op in ops) == 4
    assert sum(isinstance(op, InsertElementOp) for op in ops) == 4


@pytest.mark.requirement("R3-021")
def test_the_libdevice_pattern_rejects_vectors() -> None:
    module = read(kernel("%r = math.sqrt %x : vector<4xf32>", "%x: vector<4xf32>"))
    kept = [p for p in nvgpu_to_nvvm.PATTERNS if p not in library.SCALARISERS]
    with pytest.raises(UserError) as caught:
        convert_module(module, nvgpu_to_nvvm.TARGET, kept, llvm_types())
    (error,) = caught.value.diagnostics
    assert error.message == "failed to legalize operation 'math.sqrt' that was marked illegal"
    assert error.notes[0].message == ("expected a scalar type of libdevice, got 'vector<4xf32>'")


@pytest.mark.requirement("R3-044", "R0-071")
@each_case("function", FAST)
def test_fast_variants_by_flags(function: str) -> None:
    def of(type: str, flags: str) -> list[str]:
        return lowered(f"%r = math.{function} %x fastmath<{flags}> : {type}", f"%x: {type}")

    fast = [f"%0 = llvm.call @__nv_fast_{function}f(%arg0) : (f32) -> f32"]
    assert of("f32", "afn") == of("f32", "fast") == fast
    assert of("f32", "contract") == [f"%0 = llvm.call @__nv_{function}f(%arg0) : (f32) -> f32"]
    assert of("f64", "fast") == [f"%0 = llvm.call @__nv_{function}(%arg0) : (f64) -> f64"]


@pytest.mark.requirement("R3-044")
@each_case(("function", "instruction"), [("exp2", "ex2"), ("sqrt", "sqrt"), ("rsqrt", "rsqrt")])
def test_instructions_where_libdevice_has_no_fast_variant(function: str, instruction: str) -> None:
    assert lowered(f"%r = math.{function} %x fastmath<afn> : f32", "%x: f32") == [
        f"%0 = nvvm.{instruction}.approx %arg0 : f32"
    ]


@pytest.mark.requirement("R3-044")
def test_fast_division() -> None:
    assert lowered("%r = arith.divf %x, %x fastmath<afn> : f32", "%x: f32") == [
        "%0 = llvm.call @__nv_fast_fdividef(%arg0, %arg0) : (f32, f32) -> f32"
    ]
    assert lowered("%r = arith.divf %x, %x : f32", "%x: f32") == [
        "%0 = llvm.fdiv %arg0, %arg0 : f32"
    ]


def test_a_function_is_declared_once() -> None:
    body = "%a = math.sin %x : f32\n%b = math.sin %a : f32\n%c = math.sin %y : vector<2xf32>"
    assert symbols(body, "%x: f32, %y: vector<2xf32>") == ["llvm.func @__nv_sinf(f32) -> f32"]


@each_case(
    ("body", "expected"),
    [
        ("%r = math.absf %x : f32", "%0 = llvm.intr.fabs(%arg0) : (f32) -> f32"),
        ("%r = math.roundeven %x : f32", "%0 = llvm.intr.roundeven(%arg0) : (f32) -> f32"),
        (
            "%r = math.fma %x, %x, %x : f32",
            "%0 = llvm.intr.fma(%arg0, %arg0, %arg0) : (f32, f32, f32) -> f32",
        ),
        ("%r = math.ctpop %i : i32", "%0 = llvm.intr.ctpop(%arg1) : (i32) -> i32"),
        (
            "%r = math.isnan %x : f32",
            "%0 = llvm.intr.is.fpclass(%arg0) {bit = 3 : i32} : (f32) -> i1",
        ),
    ],
)
def test_operations_with_an_intrinsic(body: str, expected: str) -> None:
    assert lowered(body, "%x: f32, %i: i32") == [expected]


def test_every_callee_is_in_libdevice() -> None:
    names = "\n".join(
        f"%{suffix}{n} = math.{function} %{suffix}x {flags} : {type}"
        for type, suffix in (("f32", "s"), ("f64", "d"))
        for flags in ("", "fastmath<afn>")
        for n, function in enumerate(UNARY, 100 if flags else 0)
    )
    module = convert(kernel(names, "%sx: f32, %dx: f64"), TO_NVVM)
    callees = {str(op.callee) for op in module.walk() if isinstance(op, CallOp)}
    library = llvm.parse_bitcode(Path(find_libdevice()).read_bytes())
    assert len(callees) > len(UNARY)
    assert {name.removeprefix("@") for name in callees} <= {each.name for each in library.functions}
