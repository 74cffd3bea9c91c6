"""The text of Tile IR as a whole: names of operations, and constants of every element type."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.driver.registry import context
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

OPS = sorted({kind.name: kind for kind in CUDA_TILE.ops.values()}.items())


@pytest.mark.requirement("R1-066")
@each_case(("name", "kind"), OPS)
def test_printer_and_diagnostics_use_the_registered_name(name: str, kind: type[Operation]):
    op = kind()
    assert CUDA_TILE.ops[name] is kind
    assert print_op(op, generic=True).startswith(f'"{name}"()')
    assert op.error("is wrong").message == f"'{name}' op is wrong"


def program(constant: str) -> str:
    return f"cuda_tile.module @m {{ entry @k() {{ %0 = constant {constant} return }} }}"


def constant_of(text: str) -> DenseElementsAttr:
    module = parse_text(text, context())
    op = next(op for op in module.walk() if op.name == "cuda_tile.constant")
    value = op.attributes["value"]
    assert isinstance(value, DenseElementsAttr)
    return value


@pytest.mark.requirement("R4-048")
@each_case(
    ("constant", "data"),
    [
        ("<i1: [true, false]> : tile<2xi1>", "0100"),
        ("<i8: [-1, 2]> : tile<2xi8>", "ff02"),
        ("<i16: 258> : tile<4x4xi16>", "0201"),
        ("<i32: [[1, 2], [3, -4]]> : tile<2x2xi32>", "010000000200000003000000fcffffff"),
        ("<i64: -2> : tile<i64>", "feffffffffffffff"),
        ("<f16: [1.000000e+00, -2.000000e+00]> : tile<2xf16>", "003c00c0"),
        ("<bf16: 1.000000e+00> : tile<8xbf16>", "803f"),
        ("<f32: 5.000000e-01> : tile<f32>", "0000003f"),
        ("<f32: 0x7FC00000> : tile<f32>", "0000c07f"),
        ("<f64: 1.000000e+00> : tile<f64>", "000000000000f03f"),
        ("<f8E4M3FN: 1.000000e+00> : tile<f8E4M3FN>", "38"),
        ("<f8E5M2: 1.000000e+00> : tile<f8E5M2>", "3c"),
    ],
)
def test_constants_keep_bits_and_type_through_the_text(constant: str, data: str):
    value = constant_of(program(constant))
    assert value.data.hex() == data
    printed = print_op(parse_text(program(constant), context()))
    assert f"constant {constant}\n" in printed
    assert constant_of(printed) is value
    generic = print_op(parse_text(program(constant), context()), generic=True)
    assert constant_of(generic) is value


DUMPED = {
    "1, 2": "expected '<', got '1'",
    "<1, 2> : tile<2xi32>": "expected a type, got '1'",
    "<i32: 1, 2> : tile<2xi32>": "expected '>', got ','",
}
"""Values as a debugger lists them, where a constant has its value, and what is wrong with them."""


@pytest.mark.requirement("R4-047")
@each_case("values", DUMPED)
def test_a_bare_list_of_values_is_no_constant(values: str):
    assert constant_of(program("<i32: [1, 2]> : tile<2xi32>")).data.hex() == "0100000002000000"
    with pytest.raises(UserError) as caught:
        parse_text(program(values), context())
    (error,) = caught.value.diagnostics
    assert DUMPED[values] in error.message


@pytest.mark.requirement("R4-047")
@pytest.mark.parametrize(
    ("generic", "typed"),
    [
        (False, "constant <i32: [1, 2]> : tile<2xi32>"),
        (True, "value = dense<[1, 2]> : !cuda_tile.tile<2xi32>"),
    ],
)
def test_every_form_has_the_type_of_the_values(generic: bool, typed: str):
    text = program("<i32: [1, 2]> : tile<2xi32>")
    printed = print_op(parse_text(text, context()), generic=generic)
    assert typed in printed
    assert constant_of(printed) is constant_of(text)
