"""Applies the splits that `nv_tileaa.split` names, at the operations that seed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.splits import (
    SPLIT,
    SPLIT_SEED,
    Split,
    SplitForm,
    set_splits,
    splits_of,
)
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.passes import Pass
from tilewright.transforms.generic.dce import erase_dead_code
from tilewright.transforms.tile.closure import CannotCut, Scope, cut_of
from tilewright.transforms.tile.loop import build_loop, cut_along_k, refine_loop
from tilewright.transforms.tile.one_part import keep_first_part, over_ctas
from tilewright.transforms.tile.region import PartRegion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink

Seeds = dict["Operation", Split]
"""The operations that are cut by one split, and what each of them says about it."""


class Tile(Pass):
    """Apply the splits of every kernel, and remove the attributes that name them.

    Splits are applied in the order of their forms: the first part, over CTAs, as a loop, and as
    more iterations of a loop over K; those of one form in program order.
    """

    name = "tile"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            try:
                apply_splits(function)
            except CannotCut as failure:
                problem = f"expected a split that can be applied: {failure.reason}"
                sink.add(failure.op.error(problem))


def apply_splits(function: FuncOp) -> None:
    """Apply the splits of a function; raises `CannotCut`."""
    seeds = [op for op in function.walk() if SPLIT in op.attributes]
    for op in seeds:
        if SPLIT_SEED not in op.traits:
            raise CannotCut(op, f"'{SPLIT}' belongs to a dot, a store or an atomic")
    for form in SplitForm if seeds else ():
        while taken := _take(function, form):
            _APPLY[form](function, taken)


def _take(function: FuncOp, form: SplitForm) -> Seeds:
    """Remove the next split of a form from all operations that it cuts together."""
    nexts = {
        op: splits[0]
        for op in function.walk()
        if (splits := splits_of(op)) and splits[0].form is form
    }
    if not nexts:
        return {}
    first, split = min(nexts.items(), key=lambda each: each[1].bit)
    taken: Seeds = {}
    for op, other in nexts.items():
        is_same_bit = form is SplitForm.CTA and other.bit == split.bit
        is_same_loop = form is SplitForm.K_LOOP and op.parent is first.parent
        if op is first or is_same_bit or is_same_loop:
            taken[op] = other
            set_splits(op, splits_of(op)[1:])
        if op in taken and other.parts != split.parts:
            raise CannotCut(op, f"it has {other.parts} parts, what is split with it {split.parts}")
    return taken


def loop_region(seeds: Mapping[Operation, Split]) -> PartRegion:
    """What runs once for each part: an operation, a loop that carries its tiles, what follows.

    Raises `CannotCut`.
    """
    (op,) = seeds
    outer, block = op.parent_op, op.parent
    if isinstance(outer, ForOp) and any(is_tile(value) for value in outer.carried):
        block = outer.parent
    assert block is not None
    return PartRegion(block, cut_of(Scope.of_block(block), seeds))


def _in_loop(function: FuncOp, seeds: Seeds) -> None:
    build_loop(loop_region(seeds))
    # Whole tiles that are left would count for the number of warps.
    erase_dead_code(function.body)


def _along_k(_: FuncOp, seeds: Seeds) -> None:
    (op, split), *_rest = seeds.items()
    loop = op.parent_op
    if not isinstance(loop, ForOp):
        raise CannotCut(op, "there is no loop over K around it")
    dots = [dot for dot in seeds if isinstance(dot, DotOp)]
    refine_loop(loop, cut_along_k(loop, dots, split.parts))


_APPLY: Final[dict[SplitForm, Callable[[FuncOp, Seeds], None]]] = {
    SplitForm.FIRST: keep_first_part,
    SplitForm.CTA: over_ctas,
    SplitForm.LOOP: _in_loop,
    SplitForm.K_LOOP: _along_k,
}
