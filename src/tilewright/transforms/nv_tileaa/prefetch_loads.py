"""Makes loops load ahead: what a round works on has been loaded while the one before worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.integer import AddIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.plans.tile_registers import REGISTER_BITS, tile_words
from tilewright.plans.warps import threads_of
from tilewright.transforms.nv_tileaa.prefetchable_loads import (
    LARGE,
    carry_more,
    comes,
    find_loads,
    load_ahead,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.transforms.nv_tileaa.prefetchable_loads import Ahead

SHARE: Final = 32
"""How many registers of a thread tiles may take that are loaded ahead."""
MOST: Final = 32 * 1024
"""How many bytes: a block that loads more at a time keeps memory busy anyway."""


class PrefetchLoads(Pass):
    """Load what the next round of a loop needs at the beginning of a round, into registers.

    Only plain loads that wait for nothing in the loop: whoever writes there is not ordered between
    two rounds.
    """

    name = "prefetch-loads"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                _prefetch(function)


def _prefetch(function: FuncOp) -> None:
    threads: int | None = None
    for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
        found = find_loads(loop)
        if not found:
            continue
        threads = threads or threads_of(function)
        chosen = _worthwhile(found, threads)
        if chosen:
            _rotate(loop, chosen)


def _worthwhile(found: Sequence[Ahead], threads: int) -> list[Ahead]:
    """The first loads whose tiles fit into the registers.

    None where tiles are converted at once: that is work enough for the time that loads take, or
    the tiles are large. What is large and unordered goes through shared memory.
    """
    chosen: list[Ahead] = []
    left = min(SHARE * threads, MOST * 8 // REGISTER_BITS)
    for ahead in found:
        words = tile_words(ahead.load.results[0].type)
        if words >= LARGE * threads and ahead.is_unordered:
            continue
        cost = max(words, threads)
        if cost <= left and not ahead.is_converted:
            left -= cost
            chosen.append(ahead)
    return chosen


# Law: a load whose operands follow from the counter gives in a round what it would have given in
# the one before, if nothing is ordered between; so it may be done there. It is done only for
# rounds that come, so nothing is touched that was not.
def _rotate(loop: ForOp, chosen: Sequence[Ahead]) -> None:
    body, last = loop.body.block, loop.body.block.last
    assert last is not None
    build = Builder(InsertPoint.before(loop), loop.location)
    start = loop.lower_bound
    first = load_ahead(build, loop, chosen, start, comes(build, loop, start))
    build = Builder(InsertPoint.at_start(body), loop.location)
    following = build.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
    later = load_ahead(build, loop, chosen, following, comes(build, loop, following))
    for ahead in chosen:
        for result in ahead.used:
            result.replace_all_uses_with(body.add_argument(result.type, ahead.load.location))
        ahead.load.erase()
    last.set_operands([*last.operands, *later])
    carry_more(loop, first)
