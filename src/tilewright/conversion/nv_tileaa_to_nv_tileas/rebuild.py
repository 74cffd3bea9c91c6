"""The function anew: each operation with its tiles where they were assigned to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileaa_to_nv_tileas.classes import is_tile
from tilewright.conversion.nv_tileaa_to_nv_tileas.counterparts import remade
from tilewright.conversion.nv_tileaa_to_nv_tileas.demands import Demands, Held, demands
from tilewright.conversion.nv_tileaa_to_nv_tileas.placed import Placed
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Block
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.conversion.nv_tileaa_to_nv_tileas.assign import Assignment
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class Rebuild:
    """Builds the body of a function in the layouts of an assignment."""

    __slots__ = ("_assignment", "_placed")

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._placed = Placed(assignment)

    def region(self, old: Region, new: Region) -> None:
        """Fill a region with what stands for another."""
        for block in old.blocks:
            types = [self._argument_type(argument) for argument in block.args]
            twin = Block(types, [argument.location for argument in block.args])
            new.append(twin)
            for argument, standing in zip(block.args, twin.args, strict=True):
                self._placed.bind(argument, standing)
            for op in block:
                self._operation(op, twin)

    def _argument_type(self, value: Value) -> Type:
        return _typed(value, self._assignment.layout(value) if is_tile(value) else None)

    def _operation(self, op: Operation, block: Block) -> None:
        if self._is_flexible(op):
            self._placed.postpone(op, block)
            return
        wanted = demands(op, self._assignment)
        types = [_typed(v, layout) for v, layout in zip(op.results, wanted.results, strict=True)]
        made = remade(op, self._operands(op, wanted), types)
        self._decide(op, made)
        block.append(made)
        for inside, target in zip(op.regions, made.regions, strict=True):
            self.region(inside, target)
        for old, new in zip(op.results, made.results, strict=True):
            self._placed.bind(old, new)

    def _is_flexible(self, op: Operation) -> bool:
        if len(op.results) != 1 or not is_tile(op.results[0]):
            return False
        return self._assignment.classes.is_flexible(op.results[0])

    def _operands(self, op: Operation, wanted: Demands) -> list[Value]:
        return [
            self._operand(value, demand)
            for value, demand in zip(op.operands, wanted.operands, strict=True)
        ]

    def _operand(self, value: Value, demand: Layout | Held | None) -> Value:
        if demand is None:
            return self._placed.any(value)
        if isinstance(demand, Held):
            return self._placed.held(value, demand.layout)
        return self._placed.tile(value, demand)

    def _decide(self, op: Operation, made: Operation) -> None:
        """Write down what was chosen for an operation."""
        access = self._assignment.accesses.get(op)
        if access is not None and access.vector > 1:
            made.attributes["vector"] = IntegerAttr(access.vector, I32)
        product = self._assignment.products.get(op)
        if product is not None:
            made.attributes["atom"] = product.atom


def _typed(value: Value, layout: Layout | None) -> Type:
    return value.type if layout is None else laid_out(element_of(value.type), layout)
