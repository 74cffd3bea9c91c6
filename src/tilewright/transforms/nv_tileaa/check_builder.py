"""Writes checks into a program: numbers, comparisons, and what is said where one fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import with_element
from tilewright.dialects.nv_tileaa import atomics, integer, memory, view
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.misc import AssertOp, PrintOp
from tilewright.dialects.nv_tileaa.program import GetProgramIdOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block
from tilewright.ir.types import I1, I64, TensorType
from tilewright.support.location import ByteLoc, unnamed
from tilewright.support.source_place import source_place

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
    memory.LoadOp: "load_ptr_tko",
    memory.StoreOp: "store_ptr_tko",
    atomics.AtomicRmwOp: "atomic_rmw_tko",
    atomics.AtomicCasOp: "atomic_cas_tko",
}
"""What Tile IR calls the accesses that are checked."""


class Checks:
    """Writes the checks of one access in front of it."""

    __slots__ = ("_head", "build")

    def __init__(self, op: Operation) -> None:
        self.build = Builder(InsertPoint.before(op), unnamed(op.location))
        self._head = f"{_place(op.location)}error: {NAMES[type(op)]}"

    def constant(self, value: int, type: Type = I64) -> Value:
        """A number, or a tile of it."""
        return self.build.create(ConstantOp, value=literal([value], type), types=[type]).result

    def wide(self, number: Value) -> Value:
        """Unsigned numbers in 64 bits."""
        type = with_element(number.type, I64)
        if number.type is type:
            return number
        return self.build.create(
            ExtIOp, source=number, signedness=Signedness.UNSIGNED, types=[type]
        ).result

    def add(self, lhs: Value, rhs: Value) -> Value:
        """Sums."""
        return self.build.create(integer.AddIOp, lhs=lhs, rhs=rhs).result

    def subtract(self, lhs: Value, rhs: Value) -> Value:
        """Differences."""
        return self.build.create(integer.SubIOp, lhs=lhs, rhs=rhs).result

    def multiply(self, lhs: Value, rhs: Value) -> Value:
        """Products."""
        return self.build.create(integer.MulIOp, lhs=lhs, rhs=rhs).result

    def both(self, lhs: Value, rhs: Value) -> Value:
        """The bits that numbers share; of conditions, whether both hold."""
        return self.build.create(integer.AndIOp, lhs=lhs, rhs=rhs).result

    def either(self, lhs: Value, rhs: Value) -> Value:
        """Whether one of two conditions holds."""
        return self.build.create(integer.OrIOp, lhs=lhs, rhs=rhs).result

    def opposite(self, condition: Value) -> Value:
        """Whether a condition does not hold."""
        true = self.constant(1, condition.type)
        return self.build.create(integer.XOrIOp, lhs=condition, rhs=true).result

    def compare(self, predicate: CmpIPredicate, lhs: Value, rhs: Value) -> Value:
        """How numbers compare."""
        types = [with_element(lhs.type, I1)]
        return self.build.create(
            integer.CmpIOp, predicate=predicate, lhs=lhs, rhs=rhs, types=types
        ).result

    def below(self, lhs: Value, rhs: Value) -> Value:
        """Whether unsigned numbers are less than others."""
        return self.compare(CmpIPredicate.ULT, lhs, rhs)

    def chosen(self, condition: Value, one: Value, other: Value) -> Value:
        """One of two numbers."""
        return self.build.create(
            SelectOp, condition=condition, true_value=one, false_value=other
        ).result

    def spread(self, number: Value, type: Type) -> Value:
        """A number for every element of a type, unless there is one already."""
        if number.type is type:
            return number
        return self.build.create(SplatOp, source=number, types=[type]).result

    def require(
        self, condition: Value, what: str, gist: str = "", numbers: Sequence[Value] = ()
    ) -> None:
        """Stop the kernel where a condition does not hold, and say where, what and why.

        Of a scalar, the first thread also prints the gist, which has a conversion for each of the
        numbers, and the block. Of a tile, every thread with an element that is wrong says the same.
        """
        message = f"{self._head} {what}"
        if isinstance(condition.type, TensorType):
            _stop(self.build, condition, message)
            return
        body = Block()
        self.build.create(IfOp, condition=self.opposite(condition), then_region=body, types=[])
        inside = Builder(InsertPoint.at_end(body), self.build.location)
        place = inside.create(GetProgramIdOp)
        text = f"{message.replace('%', '%%')}: {gist}, in block (%d, %d, %d)\n"
        inside.create(PrintOp, format=text, arguments=[*numbers, *place.results])
        never = inside.create(ConstantOp, value=literal([0], I1), types=[I1]).result
        _stop(inside, never, message)
        inside.create(YieldOp)


def _place(location: Location) -> str:
    """Where an access stands: in the source, or in bytecode that says nothing of one."""
    # The name of the file may be that of a temporary one: code must not depend on it.
    place = location.place if isinstance(location, ByteLoc) else source_place(location)
    return "" if place is None else f"{place}: "


def _stop(build: Builder, condition: Value, message: str) -> None:
    """End the kernel unless a condition holds; who does not have it waits for those who have."""
    build.create(AssertOp, condition=condition, message=message)
    build.create(BarrierOp)
