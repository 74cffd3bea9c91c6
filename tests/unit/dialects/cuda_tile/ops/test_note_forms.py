"""Inputs as notes on NVIDIA's compiler write them: tensor types, no identities, exclusive scans."""

from __future__ import annotations

import pytest
from each_case import each_case
from tile_lowering import parsed, tile_module

from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.aggregate import ScanOp
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.registry import context
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import Style, print_op

BODY = """
^bb0(%acc: !cuda_tile.tile<{0}>, %elem: !cuda_tile.tile<{0}>):
  %s = cuda_tile.{1} : !cuda_tile.tile<{0}>
  cuda_tile.yield %s : !cuda_tile.tile<{0}>
"""
EXCLUSIVE = (
    "%r = cuda_tile.scan %x {axis = 0 : i32, inclusive = false} : !cuda_tile.tile<8xf32> "
    f"-> !cuda_tile.tile<8xf32> {{ {BODY.format('f32', 'addf %acc, %elem')} }}"
)


KERNEL = (
    "cuda_tile.module @m { entry @k() { %x = constant <f32: 1.0> : tile<8xf32> " + EXCLUSIVE + "}}"
)


def made(element: str) -> str:
    """The definition of a tile `%x`."""
    return f'%x = "other.make"() : () -> !cuda_tile.tile<8x{element}>\n'


def read(body: str) -> Operation:
    module = parsed(tile_module(body))
    verify(module)
    return module


@pytest.mark.requirement("R0-065", "R0-066")
def test_tensor_types_are_those_of_tiles() -> None:
    written = """
    %a = constant <f16: 1.0> : tile<128x64xf16>
    %b = constant <f16: 1.0> : tile<64x128xf16>
    %c = constant <f32: 0.0> : tile<128x128xf32>
    %m = cuda_tile.mmaf %a, %b, %c {fastmath = "contract"}
       : TYPE<128x64xf16>, TYPE<64x128xf16>, TYPE<128x128xf32>
    %n = cuda_tile.rsqrt %m : TYPE<128x128xf32>
    %r = cuda_tile.reduce %n {axis = 1 : i32} : TYPE<128x128xf32> -> TYPE<128xf32> {BODY}
    """.replace("BODY", BODY.format("f32", "addf %acc, %elem"))
    as_tensors, as_tiles = (read(written.replace("TYPE", word)) for word in ("tensor", "tile"))
    assert equivalent(as_tensors, as_tiles)
    assert "tensor" not in print_op(as_tensors)


IDENTITIES = {
    ("f32", "addf %acc, %elem"): "0.000000e+00 : f32",
    ("f16", "addf %elem, %acc rounding<zero>"): "0.000000e+00 : f16",
    ("f32", "mulf %acc, %elem"): "1.000000e+00 : f32",
    ("f64", "maxf %acc, %elem"): "0xFFF0000000000000 : f64",
    ("bf16", "minf %acc, %elem"): "0x7F80 : bf16",
    ("i32", "addi %acc, %elem"): "0 : i32",
    ("i64", "muli %acc, %elem"): "1",
    ("i8", "andi %acc, %elem"): "-1 : i8",
    ("i16", "ori %acc, %elem"): "0 : i16",
    ("i32", "xori %acc, %elem"): "0 : i32",
    ("i32", "maxi %acc, %elem signed"): "-2147483648 : i32",
    ("i32", "maxi %acc, %elem unsigned"): "0 : i32",
    ("i8", "mini %acc, %elem signed"): "127 : i8",
    ("i8", "mini %acc, %elem unsigned"): "-1 : i8",
    ("i1", "andi %acc, %elem"): "true",
    ("i1", "maxi %acc, %elem signed"): "true",
}  # fmt: skip


@pytest.mark.requirement("R0-068", "R1-013")
@each_case(("element", "op"), IDENTITIES)
@each_case("name", ["reduce", "scan"])
def test_identities_are_those_of_the_body(name: str, element: str, op: str) -> None:
    result = f"tile<8x{element}>" if name == "scan" else f"tile<{element}>"
    text = (
        f"%r = cuda_tile.{name} %x {{axis = 0 : i32}} : tile<8x{element}> -> {result} "
        f"{{ {BODY.format(element, op)} }}"
    )
    module = parsed(tile_module(f"{made(element)}{text}"))
    assert f"identities=[{IDENTITIES[element, op]}] :" in print_op(module)


@each_case(
    "op",
    ["subf %acc, %elem", "addf %acc, %acc", "maxf %acc, %elem"],
    ids=["no identity", "one argument", "no infinity"],
)
def test_identities_of_other_bodies_must_be_written(op: str) -> None:
    element = "f8E4M3FN" if op.startswith("maxf") else "f32"
    body = f"%r = scan %x {{axis = 0 : i32}} : tile<8x{element}> -> tile<8x{element}> {{ "
    text = tile_module(f"{made(element)}{body}{BODY.format(element, op)} }}")
    with pytest.raises(UserError, match="requires attribute 'identities'"):
        verify(parsed(text))


@pytest.mark.requirement("R0-069", "R1-013")
@pytest.mark.parametrize("style", Style)
def test_exclusive_scans_survive_a_round_trip(style: Style) -> None:
    module = parse_text(KERNEL, context())
    (scan,) = [op for op in module.walk() if isinstance(op, ScanOp)]
    assert scan.inclusive is False
    again = parse_text(print_op(module, style=style), context())
    assert equivalent(module, again)


def test_exclusive_scans_have_no_bytecode() -> None:
    (module,) = [op for op in parse_text(KERNEL, context()).walk() if isinstance(op, ModuleOp)]
    for version in ((13, 1), (13, 4)):
        with pytest.raises(UserError, match="'inclusive' has no form in the bytecode") as caught:
            write_bytecode(module, version)
        assert caught.value.location.excerpt() is not None
