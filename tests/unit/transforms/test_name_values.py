"""name-values: the names of values in the locations of their defining operations."""

from __future__ import annotations

from tilewright.driver.api import read_runnable
from tilewright.support.diagnostics import Sink
from tilewright.support.location import NameLoc
from tilewright.transforms.generic.name_values import NameValues

PROGRAM = """
cuda_tile.module @kernels {
  entry @first(%n: tile<i32>, %yes: tile<i1>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %a = addi %x, %n : tile<i32> loc("sum"("k.py":3:4))
    %b = if %yes -> (tile<i32>) {
      %c = muli %a, %n : tile<i32>
      yield %c : tile<i32>
    } else {
      %d = muli %n, %n : tile<i32>
      yield %d : tile<i32>
    }
    %i = iota : tile<8xi32>
    %r = reduce %i dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32> (%u: tile<i32>, %w: tile<i32>) {
      %s = addi %u, %w : tile<i32>
      yield %s : tile<i32>
    }
    %t = make_token : token
    return
  }
  entry @second(%n: tile<i32>) {
    %a = addi %n, %n : tile<i32>
    %b = muli %n, %n : tile<i32> loc(unknown)
    return
  }
}
"""  # noqa: E501


def names() -> list[tuple[str, str]]:
    """Return each operation with results or a name, and the name."""
    module = read_runnable(PROGRAM, "program.mlir")
    NameValues().run(module, Sink())
    return [
        (op.name.removeprefix("cuda_tile."), op.location.name)
        for op in module.walk()
        if isinstance(op.location, NameLoc)
    ]


def test_values_have_the_names_of_the_text_or_of_the_source() -> None:
    """Two regions side by side print `%4` for different values; a body has no variables."""
    assert names() == [
        ("get_tile_block_id", "blockId_x,blockId_y,blockId_z"),
        ("addi", "sum"),
        ("if", "v1"),
        ("muli", "v4"),
        ("muli", "v4_1"),
        ("iota", "v2"),
        ("reduce", "reduce"),
        ("addi", "v0"),
    ]
