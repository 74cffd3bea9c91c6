"""Tests of expand-dots: the operand types that are left for the tensor cores of each GPU."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.transforms.nv_tileaa.expand_dots import ExpandDots


def expanded(body: str, capability: int) -> list[DotOp]:
    spec = f"#nv_tileaa.target_spec<compute_capability = {capability}>"
    module = read(f"gpu.module @m attributes {{nv_tileaa.target_spec = {spec}}} {{\n{body}\n}}")
    ExpandDots().run(module, Sink())
    verify(module)
    return [op for op in module.walk() if isinstance(op, DotOp)]


def plain(element: str, accumulator: str = "f32") -> str:
    types = f"tensor<16x32x{element}>, tensor<32x8x{element}>, tensor<16x8x{accumulator}>"
    a, b, c = types.split(", ")
    return (
        f"nv_tileaa.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{\n"
        f'%d = nv_tileaa.dot %a, %b, %c {{input_precision = "tf32"}} : {types}\n'
        f"nv_tileaa.return %d : {c} }}"
    )


@pytest.mark.parametrize(
    ("element", "capability", "expected"),
    [
        ("f8E4M3FN", 80, "f16"),
        ("f8E5M2", 86, "f16"),
        ("f8E5M2", 89, "f8E5M2"),
        ("f8E4M3FN", 90, "f8E4M3FN"),
        ("bf16", 80, "bf16"),
    ],
)
def test_fp8_becomes_f16_without_fp8_mma(element: str, capability: int, expected: str) -> None:
    (dot,) = expanded(plain(element), capability)
    assert str(dot.a.type) == f"tensor<16x32x{expected}>"
    assert str(dot.b.type) == f"tensor<32x8x{expected}>"
    assert str(dot.result.type) == "tensor<16x8xf32>"


def scaled(element: str, scale: str) -> str:
    types = f"tensor<16x64x{element}>, tensor<64x8x{element}>, tensor<16x8xf32>"
    scales = f"tensor<16x2x{scale}>, tensor<2x8x{scale}>"
    a, b, c, p, q = (*types.split(", "), *scales.split(", "))
    return (
        f"nv_tileaa.func @f(%a: {a}, %b: {b}, %c: {c}, %p: {p}, %q: {q}) -> {c} {{\n"
        f'%d = nv_tileaa.dot %a, %b, %c scaled by %p, %q {{input_precision = "tf32"}} '
        f": {types} by {scales}\nnv_tileaa.return %d : {c} }}"
    )


@pytest.mark.parametrize("scale", ["f8E4M3FN", "fnv8E5M3FNU"])
def test_scales_are_multiplied_into_the_operands(scale: str) -> None:
    (dot,) = expanded(scaled("f4E2M1FN", scale), 90)
    assert dot.a_scale is None
    assert dot.b_scale is None
    assert str(dot.a.type) == "tensor<16x64xbf16>"
    assert str(dot.b.type) == "tensor<64x8xbf16>"


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
def test_powers_of_two_scale_the_dot_of_each_block(element: str) -> None:
    first, second = expanded(scaled(element, "f8E8M0FNU"), 90)
    for dot in (first, second):
        assert dot.a_scale is None
        assert str(dot.a.type) == "tensor<16x32xf16>"
        assert str(dot.b.type) == "tensor<32x8xf16>"
