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
            scope = _Scope(MERGED_TILES * held_words(function))
            scope.region(function.body)
            self.merged.add(sink, scope.merged)
            if scope.merged:
                # Users of merged tiles may be equal now.
                Cse().run(function, sink)


class _Scope:
    """The loads that dominate the current operation, and the registers that are left."""

    __slots__ = ("_kept", "_known", "_left", "merged")

    def __init__(self, words: int) -> None:
        self._known: dict[_Key, Operation] = {}
        self._kept: set[Operation] = set()
        self._left = words
        self.merged = 0

    def region(self, region: Region) -> None:
        """Merge the loads of a region; they do not dominate what follows it."""
        if len(region.blocks) != 1:
            return
        outside = self._known
        self._known = outside.copy()
        for op in region.block:
            for inner in op.regions:
                self.region(inner)
            if isinstance(op, LoadOp | TileLoadOp) and op.is_plain:
                self._visit(op)
        self._known = outside

    # Law: two plain loads of the same address after the same token read the same value: a write in
    # between is ordered after both, or is a race.
    def _visit(self, op: LoadOp | TileLoadOp) -> None:
        known = self._known.setdefault(_key(op), op)
        if known is op or not self._affords(known):
            return
        for result, other in zip(op.results, known.results, strict=True):
            result.replace_all_uses_with(other)
        op.erase()
        self.merged += 1

    def _affords(self, op: Operation) -> bool:
        """Whether a tile may stay in its registers."""
        if op in self._kept:
            return True
        words = result_words(op)
        if words > self._left:
            return False
        self._left -= words
        self._kept.add(op)
        return True


def _key(op: Operation) -> _Key:
    attributes = op.attributes
    return (
        type(op),
        op.segments,
        *[id(value) for value in op.operands],
        op.results[0].type,
        *[(name, attributes[name]) for name in sorted(attributes) if name not in _HINTS],
    )
