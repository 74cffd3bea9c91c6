"""Redundant load elimination, as far as the registers of the kept tiles allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.ir.passes import statistic
from tilewright.schedule.limits import MERGED_TILES
from tilewright.schedule.tile_words import result_words
from tilewright.schedule.warp_counts import held_words
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.kernel_pass import KernelPass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.ir.operation import Operation, Region
    from tilewright.support.diagnostics import Sink

_Key: TypeAlias = tuple[object, ...]

_HINTS: Final = frozenset(("latency", "allow_tma"))
"""Attributes that do not change the loaded value."""


class MergeLoads(KernelPass):
    """Replace a plain load by an equal one that dominates it, as far as registers allow."""

    name = "merge-loads"
    change = Change.REORDER
    merged = statistic("loads replaced by an equal one")

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        if function.is_kernel:
            merged = _merge(function.body, {}, set(), MERGED_TILES * held_words(function))
            self.merged.add(sink, merged)
            if merged:
                # Users of merged tiles may be equal now.
                Cse().run(function, sink)


# Law: two plain loads of the same address after the same token read the same value: a write in
# between is ordered after both, or is a race.
def _merge(
    region: Region, dominating: Mapping[_Key, Operation], kept: set[Operation], words: int
) -> int:
    """Merge the loads of a region with `dominating` ones and each other; returns their number.

    The tiles of all `kept` loads stay in registers, of which there are some words.
    """
    if len(region.blocks) != 1:
        return 0
    known, merged = dict(dominating), 0
    for op in region.block:
        merged += sum([_merge(inner, known, kept, words) for inner in op.regions])
        if not isinstance(op, LoadOp | TileLoadOp) or not op.is_plain:
            continue
        first = known.setdefault(_key(op), op)
        if first is not op and _stays(first, kept, words):
            for result, other in zip(op.results, first.results, strict=True):
                result.replace_all_uses_with(other)
            op.erase()
            merged += 1
    return merged


def _stays(op: Operation, kept: set[Operation], words: int) -> bool:
    """Whether the tiles of a load may stay in registers beside others."""
    if sum(map(result_words, {op, *kept})) <= words:
        kept.add(op)
    return op in kept


def _key(op: Operation) -> _Key:
    attributes = op.attributes
    return (
        type(op),
        op.segments,
        *[id(value) for value in op.operands],
        op.results[0].type,
        *[(name, attributes[name]) for name in sorted(attributes) if name not in _HINTS],
    )
