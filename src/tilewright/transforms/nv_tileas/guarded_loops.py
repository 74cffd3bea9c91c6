"""Loops in a branch of their own, which is taken if they have an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.transforms.pipeline.iterations import iteration_exists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


# Law: without an iteration, the results of a loop are its initial values.
def guard_loop(loop: ForOp, moved: Sequence[Operation] = (), yielded: Sequence[Value] = ()) -> IfOp:
    """Move a loop into the branch of an `scf.if` that is taken if it has an iteration.

    With it go the operations `moved`, which start with the loop; the branch yields what is
    `yielded` in place of the results of the loop.
    """
    build = Builder(InsertPoint.before(loop), loop.location)
    exists = iteration_exists(build, loop, loop.lower_bound)
    then, other = Block(), Block()
    types = [result.type for result in loop.results]
    regions = [Region([then]), Region([other] if types else [])]
    guard = build.insert(IfOp([exists], types, {}, regions, loop.location))
    values = yielded or loop.results
    for old, new in zip(values, guard.results, strict=True):
        old.replace_all_uses_with(new)
    for op in moved or [loop]:
        then.append(op.detach())
    Builder(InsertPoint.at_end(then), loop.location).create(YieldOp, values=values)
    if types:
        Builder(InsertPoint.at_end(other), loop.location).create(YieldOp, values=loop.init_args)
    return guard
