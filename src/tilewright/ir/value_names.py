"""Names of values in the locations of what makes them: `loc("x"(...))`, `loc("x,y"(...))` for two.

They go with values from level to level, for debuggers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.values import Value
from tilewright.support.location import NameLoc

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.value_mapping import Bound


def pass_on_names(
    op: Operation, bound: Mapping[Value, Bound], made: Collection[Operation | Block]
) -> None:
    """Pass the value names in the location of an operation on to its replacements."""
    named = op.location
    assert isinstance(named, NameLoc)
    for result, name in zip(op.results, named.names, strict=False):
        value = bound.get(result)
        maker = value.defining_op() if isinstance(value, Value) else None
        if maker is not None and maker in made:
            whole = name if len(maker.results) == 1 else named.name
            maker.location = NameLoc(whole, named.child)
