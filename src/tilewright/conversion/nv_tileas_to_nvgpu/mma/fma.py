"""dot by fma, without tensor cores: one fma for each accumulator of a thread and each k.

A thread takes an operand from its own registers if it holds what its accumulators need, or loads it
from a tile in shared memory; other operands go through shared memory in slices along K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.mma.fma_operands import (
    UNROLLED,
    Accumulators,
    KIndex,
    RegisterOperand,
    SharedOperand,
    StagedOperand,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import synchronize
from tilewright.conversion.nv_tileas_to_nvgpu.types import element_type
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements, select_registers
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import Atom, in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.dialects.vector.elements import FmaOp, FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import I32, VectorType
from tilewright.layout.fma_smem import slice_smem
from tilewright.layout.wgmma import batched
from tilewright.plans.mma import FmaDotPlan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from tilewright.ir.values import Value

    FmaOperand: TypeAlias = RegisterOperand | SharedOperand | StagedOperand


@converts(DotOp)
def fma_dot(op: DotOp, new: DotOp, build: ConversionBuilder) -> Result:
    """For each slice of K: store A and B, barrier, accumulate; a barrier before the next."""
    plan = FmaDotPlan.of(op)
    if op.atom is not Atom.FMA or plan is None or not isinstance(new.c.type, VectorType):
        return build.reject("expected a dot of floats of one type")
    accumulators = Accumulators(op, build, batched(layout_of(op.c)))
    a_operand = _operand(accumulators, op.a, new.a, plan, 2)
    b_operand = _operand(accumulators, op.b, new.b, plan, 1)
    accumulator = new.c
    for start in range(0, plan.k, plan.k_slice):
        if start and plan.bytes:
            synchronize(op, build)
        a_operand.write(start // plan.k_slice)
        b_operand.write(start // plan.k_slice)
        if plan.bytes:
            synchronize(op, build)
        operands = _Operands(build, a_operand, b_operand, start)
        accumulator = operands.accumulate(plan.k_slice, accumulator)
    return accumulator


def _operand(
    accumulators: Accumulators, tile: Value, new: Value, plan: FmaDotPlan, k_dimension: int
) -> FmaOperand:
    """A (with K as its last dimension) or B of a dot."""
    layout = batched(layout_of(tile))
    held, start = (plan.a, 0) if k_dimension == 2 else (plan.b, plan.right)
    if held is not None:
        return RegisterOperand(accumulators, new, held)
    if in_shared_memory(tile):
        element = element_type(element_of(tile.type))
        memory = layout.inverse()
        return SharedOperand(accumulators, element, layout.shape, memory, k_dimension, plan.k, new)
    memory = slice_smem(layout, k_dimension, plan.k_slice)
    return StagedOperand(accumulators, tile, new, layout, memory, k_dimension, plan.k_slice, start)


class _Operands:
    """Both operands, and the first k of a slice of them."""

    __slots__ = ("_a", "_b", "_build", "_start")

    def __init__(self, build: ConversionBuilder, a: FmaOperand, b: FmaOperand, start: int) -> None:
        self._build, self._a, self._b, self._start = build, a, b, start

    def accumulate(self, k: int, accumulator: Value) -> Value:
        """Accumulate over a slice of K: in a loop, unless registers hold an operand."""
        if isinstance(self._b, RegisterOperand):
            return self._part_by_part(self._a.parts(), k, accumulator)
        if isinstance(self._a, RegisterOperand):
            return self._part_by_part(self._b.parts(), k, accumulator)
        return self._loop(k, accumulator)

    def _part_by_part(self, parts: Sequence[list[int]], k: int, accumulator: Value) -> Value:
        """Finish some accumulators before others: few registers hold what is loaded for them."""
        build = self._build
        done: dict[int, Value] = {}
        for part in parts:
            selected = select_registers(build, accumulator, part)
            result = self._unrolled_fmas(None, k, selected, part)
            done.update(zip(part, elements(build, result), strict=True))
        values = [done[register] for register in range(len(done))]
        return build.create(FromElementsOp, elements=values, types=[accumulator.type]).result

    def _loop(self, k: int, accumulator: Value) -> Value:
        build = self._build
        assert isinstance(accumulator.type, VectorType)
        accumulators = range(accumulator.type.shape[0])
        step = min(UNROLLED, k)
        if k == step:
            return self._unrolled_fmas(None, step, accumulator, accumulators)
        bounds = [constant(build, number) for number in (0, k, step)]
        body = Block([I32, accumulator.type], [build.location] * 2)
        loop = build.create(
            ForOp,
            lower_bound=bounds[0],
            upper_bound=bounds[1],
            step=bounds[2],
            init_args=[accumulator],
            body=body,
            types=[accumulator.type],
        )
        with build.at(InsertPoint.at_end(body)):
            result = self._unrolled_fmas(body.args[0], step, body.args[1], accumulators)
            build.create(YieldOp, values=[result])
        return loop.outputs[0]

    def _unrolled_fmas(
        self, loop: Value | None, count: int, accumulator: Value, registers: Sequence[int]
    ) -> Value:
        for step in range(count):
            k = KIndex(self._start, loop, step)
            a, b = self._a.read(k, registers), self._b.read(k, registers)
            accumulator = self._build.create(FmaOp, lhs=a, rhs=b, acc=accumulator).result
        return accumulator


PATTERNS: Final[Patterns] = (fma_dot,)
