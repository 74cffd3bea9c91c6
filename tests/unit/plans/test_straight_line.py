"""How many blocks of a kernel without loops share an SM."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.operation import Operation
from tilewright.plans.straight_line import straight_line_blocks


def kernel(elements: int, loop: bool = False) -> Operation:
    """A function that computes a tile of f32, in a loop or not."""
    tile = f"tensor<{elements}xf32>"
    body = f"%y = nv_tileaa.negf %x : {tile}\n"
    if loop:
        body = f"scf.for %i = %n to %n step %n : i32 {{\n{body} scf.yield\n}}\n"
    module = read(f"nv_tileaa.func @f(%x: {tile}, %n: i32) {{ {body} nv_tileaa.return }}")
    return next(op for op in module.walk() if isinstance(op, FuncOp))


@pytest.mark.parametrize(
    ("elements", "warps", "blocks"),
    [
        # 64 registers for a tile, 64 for another, 40 for the rest: 3 * 128 threads have 168 each.
        (64 * 128, 4, 3),
        (64 * 256, 8, 1),
        # 32, 32 and 40: 4 * 128 threads have 128 each, 5 * 128 have 96.
        (32 * 128, 4, 4),
        (128 * 128, 4, 1),
    ],
)
def test_blocks_for_which_registers_suffice(elements: int, warps: int, blocks: int) -> None:
    assert straight_line_blocks(kernel(elements), warps) == blocks


def test_kernels_with_loops() -> None:
    assert straight_line_blocks(kernel(64 * 128, loop=True), 4) is None
