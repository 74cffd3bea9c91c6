"""Builder of run-time checks, and of the report of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.nv_tileaa import atomics, integer, memory, multimem, view
from tilewright.dialects.nv_tileaa.coordinates import zero_extended
from tilewright.dialects.nv_tileaa.misc import AssertOp, PrintOp
from tilewright.dialects.nv_tileaa.program import GetProgramIdOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, TensorType
from tilewright.support.cutile_names import cutile_function
from tilewright.support.location import ByteLoc, unnamed
from tilewright.support.source_location import source_location
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.location import Location

NAMES: Final[dict[type[Operation], str]] = {
    view.TiledLoadOp: "load_view_tko",
    view.GatherLoadOp: "load_view_tko",
    view.TiledStoreOp: "store_view_tko",
    view.ScatterStoreOp: "store_view_tko",
    view.TiledAtomicRmwOp: "atomic_red_view_tko",
    multimem.MultimemLoadReduceOp: "multimem_load_reduce_view_tko",
    multimem.MultimemReduceOp: "multimem_reduce_view_tko",
    multimem.MultimemStoreOp: "multimem_store_view_tko",
    memory.LoadOp: "load_ptr_tko",
    memory.StoreOp: "store_ptr_tko",
    atomics.AtomicRmwOp: "atomic_rmw_tko",
    atomics.AtomicCasOp: "atomic_cas_tko",
}
"""The names of the checked accesses in Tile IR."""


class Checks(Arithmetic):
    """Builds the checks of one access before it."""

    __slots__ = ("_head",)

    def __init__(self, op: Operation) -> None:
        super().__init__(Builder(InsertPoint.before(op), unnamed(op.location)))
        self._head = f"{_source_location(op.location)}error: {_name(op)}"

    def wide(self, number: Value) -> Value:
        """Zero-extend to 64 bits."""
        return zero_extended(self.build, number)

    def negation(self, condition: Value) -> Value:
        """The negation of a condition."""
        true = self.constant(1, condition.type)
        return self.build.create(integer.XOrIOp, lhs=condition, rhs=true).result

    def below(self, lhs: Value, rhs: Value) -> Value:
        """Unsigned less-than."""
        return self.compare(CmpIPredicate.ULT, lhs, rhs)

    def chosen(self, condition: Value, one: Value, other: Value) -> Value:
        """Select one of two values."""
        return self.build.create(
            SelectOp, condition=condition, true_value=one, false_value=other
        ).result

    def spread(self, number: Value, type: Type) -> Value:
        """Splat a scalar to a type, unless it has that type already."""
        if number.type is type:
            return number
        return self.build.create(SplatOp, source=number, types=[type]).result

    def require(
        self, condition: Value, what: str, gist: str = "", numbers: Sequence[Value] = ()
    ) -> None:
        """Stop the kernel if a condition is false, with a message that has the source location.

        For a scalar, the first thread also prints the gist, which has a conversion for each of the
        numbers, and the block. For a tile, every thread with a wrong element reports the same.
        """
        message = f"{self._head} {what}"
        if isinstance(condition.type, TensorType):
            _stop(self.build, condition, message)
            return
        body = Block()
        self.build.create(IfOp, condition=self.negation(condition), then_region=body, types=[])
        inside = Builder(InsertPoint.at_end(body), self.build.location)
        program_id = inside.create(GetProgramIdOp)
        text = f"{message.replace('%', '%%')}: {gist}, in block (%d, %d, %d)\n"
        inside.create(PrintOp, format=text, arguments=[*numbers, *program_id.results])
        _stop(inside, constant(inside, 0, I1), message)
        inside.create(YieldOp)


def _name(op: Operation) -> str:
    """The name of an access: a function of cuTile, or the operation of Tile IR."""
    name, source = NAMES[type(op)], source_location(op.location)
    if source is None or not source.is_python:
        return name
    return cutile_function(f"cuda_tile.{name}") or name


def _source_location(location: Location) -> str:
    """The location of an access: in the source, or in bytecode without debug information."""
    # The name of the file may be that of a temporary one: code must not depend on it.
    position = location.offset_text if isinstance(location, ByteLoc) else source_location(location)
    return "" if position is None else f"{position}: "


def _stop(build: Builder, condition: Value, message: str) -> None:
    """Trap unless a condition holds; the barrier keeps other threads from running on."""
    build.create(AssertOp, condition=condition, message=message)
    build.create(BarrierOp)
