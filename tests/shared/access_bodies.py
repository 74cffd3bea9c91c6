"""Kernels around a few operations that access memory, and their text in both styles."""

from __future__ import annotations

from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text
from tilewright.text.printer import Style, print_op

TV = "tensor_view<?xf32, strides=[1]>"
PV = f"partition_view<tile=(8), {TV}>"
MASKED_TYPES = "tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token"
PARAMETERS = "%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>"
PRELUDE = f"""
    %t = make_token : token
    %yes = constant <i1: true> : tile<8xi1>
    %some = constant <i1: [1, 1, 1, 0, 1, 1, 1, 1]> : tile<8xi1>
    %w = constant <f32: 1.0> : tile<8xf32>
    %tv = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {TV}
    %v = make_partition_view %tv : {PV}
"""
"""Values that a body may use, beside the parameters."""


def read(body: str) -> Operation:
    """A verified module whose kernel is the prelude and a body."""
    text = f"cuda_tile.module @m {{ entry @k({PARAMETERS}) {{ {PRELUDE} {body} }} }}"
    module = parse_text(text, context())
    verify(module)
    return module


def lines(module: Operation, style: Style = Style.PUBLIC) -> list[str]:
    """The printed lines after the prelude, without indentation."""
    printed = [line.strip() for line in print_op(module, style=style).splitlines()]
    start = next(at for at, line in enumerate(printed) if "make_partition_view" in line)
    return printed[start + 1 : -3]
