"""Slicing of dots whose result is combined with another tile, so that less of it is live.

The promotion `accumulator += (a @ b) * scale` of a loop over K takes registers for two tiles: the
accumulator, and the dot that starts at zero. Where both exceed the registers of a thread, the dot
is computed slice by slice along M or N: the element-wise operations that follow it are sliced, too,
so that a slice of the dot is dead before the next is issued.

It needs dots by wgmma that wait for themselves, with the sliced operand in a stage of a pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import CatOp, ExtractSliceOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32
from tilewright.layout.linear import REGISTER, unpack
from tilewright.plans.mma import is_promoted, starts_at_zero
from tilewright.schedule.limits import RESULT_SLICES
from tilewright.schedule.liveness_with_layouts import tile_registers
from tilewright.schedule.registers import registers_for_tiles
from tilewright.schedule.resources import kernel_registers
from tilewright.transforms.generic.dce import erase_with_sources
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.tile.unrolled import Part, UnrolledParts, uniform_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

MATRIX_DIMS: Final = 2


class SliceDotResults(KernelPass):
    """Compute dots slice by slice where registers do not suffice for the whole result."""

    name = "slice-dot-results"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        limit = kernel_registers(function)
        if limit is None:
            return
        for dot in [inner for inner in function.walk() if isinstance(inner, DotOp)]:
            chain = _Chain.of(dot)
            if chain is not None:
                _slice(chain, registers_for_tiles(limit))


class _Chain(NamedTuple):
    """A dot, and the element-wise operations on its result up to the only one that others use."""

    dot: DotOp
    loop: ForOp
    ops: Sequence[Operation]
    """In program order; the last one's result is that of the chain."""

    @staticmethod
    def of(dot: DotOp) -> _Chain | None:
        """The chain of a dot; None if there is none, or the dot cannot be sliced."""
        loop = dot.parent_op
        instruction = async_instruction(dot)
        if instruction is None or not isinstance(loop, ForOp) or dot.asynchronous:
            return None
        if is_promoted(dot, instruction) or not starts_at_zero(dot):
            return None
        ops: list[Operation] = []
        values = {dot.result}
        op = dot.next
        while op is not None:
            if any(value in values for value in op.operands):
                if not _is_sliceable(op):
                    break
                ops.append(op)
                values.add(op.results[0])
            op = op.next
        if not _are_kept_apart(dot, loop):
            return None
        # The first one that no other of the chain uses is the last.
        while ops:
            inner = {dot.result, *(each.results[0] for each in ops[:-1])}
            users = {user for value in inner for user in value.users}
            if users <= set(ops):
                return _Chain(dot, loop, ops)
            ops.pop()
        return None

    @property
    def result(self) -> Value:
        """The result of the last operation."""
        return self.ops[-1].results[0]

    def others(self) -> list[Value]:
        """The tiles that the chain combines the result of the dot with."""
        own = {self.dot.result, *(op.results[0] for op in self.ops)}
        tiles = [v for op in self.ops for v in op.operands if is_tile(v) and v not in own]
        return list(dict.fromkeys(tiles))

    def live(self, slices: int) -> int:
        """An estimate of the registers that are live, if the dot is sliced.

        The result has the registers of tiles whose last use is in the chain.
        """
        carried = sum(tile_registers(value) for value in self.loop.carried if is_tile(value))
        users = set(self.ops)
        dying = sum(tile_registers(tile) for tile in self.others() if set(tile.users) <= users)
        added = max(0, tile_registers(self.result) - dying)
        return carried + tile_registers(self.dot.result) // slices + (added if slices > 1 else 0)


def _are_kept_apart(dot: DotOp, loop: ForOp) -> bool:
    """Whether each user combines a dot with a tile that a loop carries, not unrolled completely.

    Slices share registers, and ptxas takes what is computed from a register for equal before and
    after wgmma overwrites it (`wgmma-in-place` of docs/ptxas-defects.md), unless another operand
    differs: each carried element has a register of its own.
    """
    carried = {value for value in loop.carried if is_tile(value)}
    is_combined = all(carried & set(user.operands) for user in dot.result.users)
    return is_combined and constant_of(loop.upper_bound) is None


def _is_sliceable(op: Operation) -> bool:
    return is_elementwise(op) and is_pure(op) and len(op.results) == 1 and is_tile(op.results[0])


def _slice(chain: _Chain, limit: int) -> None:
    """Slice a chain into as many slices as it takes for the registers to suffice."""
    slices = 1
    while chain.live(slices) > limit:
        slices *= 2
        if slices > RESULT_SLICES:
            return
    if slices == 1:
        return
    slicing = _Slicing.of(chain, slices)
    if slicing is not None:
        slicing.apply()


class _Slicing:
    """The slices of a chain along a dimension of the result."""

    __slots__ = ("_axis", "_chain", "_extent", "_parts", "_slices")

    def __init__(self, chain: _Chain, axis: int, slices: int) -> None:
        self._chain, self._axis, self._slices = chain, axis, slices
        self._parts = UnrolledParts(until=chain.ops[-1])
        self._extent = shape(chain.dot.result.type)[axis] // slices

    @staticmethod
    def of(chain: _Chain, slices: int) -> _Slicing | None:
        """The slicing along the dimension that the last registers count; None if impossible."""
        layout = layout_of(chain.dot.result)
        last = unpack(layout.vectors(REGISTER)[-1], layout.shape)
        rank = len(layout.shape)
        for axis in range(rank - MATRIX_DIMS, rank):
            if last[axis]:
                slicing = _Slicing(chain, axis, slices)
                return slicing if slicing.is_possible() else None
        return None

    @property
    def _is_rows(self) -> bool:
        """Whether A is sliced, not B."""
        return self._axis == len(shape(self._chain.dot.result.type)) - MATRIX_DIMS

    @property
    def _operand(self) -> Value:
        """The operand that is sliced: along the same dimension, as A is M by K and B is K by N."""
        return self._chain.dot.a if self._is_rows else self._chain.dot.b

    def is_possible(self) -> bool:
        """Whether registers count the slices, and the operand is in a stage until the end."""
        part, dot = Part(self._axis, 0, self._extent), self._chain.dot
        tiles = [dot.result, *self._chain.others(), *(op.results[0] for op in self._chain.ops)]
        if self._extent < 1 or any(part.type(tile.type) is None for tile in tiles):
            return False
        return in_shared_memory(self._operand) and self._parts.can_build(self._operand, part)

    def apply(self) -> None:
        """Replace the chain by its slices."""
        dot, last = self._chain.dot, self._chain.ops[-1]
        first = Builder(InsertPoint.before(dot), dot.location)
        rest = Builder(InsertPoint.before(last), last.location)
        results: list[Value] = []
        type = self._part(0).type(dot.c.type)
        assert type is not None
        registers = uniform_part(dot.c, type, first)
        for number in range(self._slices):
            before = rest if number else first
            registers = self._dot(number, registers, before)
            results.append(self._combined(number, registers, rest))
        self._chain.result.replace_all_uses_with(self._joined(results, rest))
        for op in reversed(self._chain.ops):
            op.erase()
        erase_with_sources(dot, also=(ConsumerReadOp,))

    def _part(self, number: int) -> Part:
        return Part(self._axis, number * self._extent, self._extent)

    def _dot(self, number: int, registers: Value, build: Builder) -> Value:
        """The dot of a slice, in the registers of another tile that nothing uses later."""
        dot = self._chain.dot
        operand = self._parts.build(self._operand, self._part(number), build)
        operands = (operand, dot.b) if self._is_rows else (dot.a, operand)
        made = build.insert(dot.like([*operands, registers], [registers.type]))
        assert isinstance(made, DotOp)
        made.overwrites = True
        return made.result

    def _combined(self, number: int, result: Value, build: Builder) -> Value:
        """The element-wise operations on a slice of the dot."""
        part = self._part(number)
        values: dict[Value, Value] = {self._chain.dot.result: result}
        for op in self._chain.ops:
            operands = [
                (values.get(v) or self._extracted(v, part, build)) if is_tile(v) else v
                for v in op.operands
            ]
            type = part.type(op.results[0].type)
            assert type is not None
            values[op.results[0]] = build.insert(op.like(operands, [type])).results[0]
        return values[self._chain.result]

    def _extracted(self, tile: Value, part: Part, build: Builder) -> Value:
        """A part of a tile in registers."""
        type = part.type(tile.type)
        assert type is not None
        indices = [
            build.create(ConstantOp, value=IntegerAttr(number, I32), types=[I32]).result
            for number in (
                part.start // part.extent if dim == part.axis else 0
                for dim in range(len(shape(tile.type)))
            )
        ]
        return build.create(ExtractSliceOp, source=tile, indices=indices, types=[type]).result

    def _joined(self, parts: Sequence[Value], build: Builder) -> Value:
        """The tile that consists of parts."""
        while len(parts) > 1:
            whole = self._chain.result.type
            extent = shape(parts[0].type)[self._axis] * 2
            type = Part(self._axis, 0, extent).type(whole)
            assert type is not None
            parts = [
                build.create(CatOp, lhs=a, rhs=b, axis=self._axis, types=[type]).result
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
        return parts[0]
