"""Bodies of reductions and scans on vectors: what combines two scalars combines many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.conversion.nv_tileas_to_nvgpu.context import lowering_context
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.nv_tileaa.shape import SelectOp
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.shape import SplatOp
from tilewright.dialects.scf import IfOp
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.types import VectorType
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def combine_vectors(
    op: Operation, build: ConversionBuilder, left: Sequence[Value], right: Sequence[Value]
) -> list[Value]:
    """What the body of an operation makes of pairs of vectors, one pair for each source."""
    type = left[0].type
    assert isinstance(type, VectorType)
    count, bodies = type.shape[0], lowering_context(build).vectorized_bodies
    lifted = bodies.get((op, count))
    if lifted is None:
        lifted = bodies[op, count] = vectorize_body(op.regions[0].block, count)
    arguments = [value for pair in zip(left, right, strict=True) for value in pair]
    return build.inline_block(lifted, arguments)


def vectorize_body(body: Block, count: int) -> Block:
    """A block that does with tiles of so many registers what another does with scalars."""
    bits = [1 << bit for bit in range(log2(count))]
    registers = Layout([(REGISTER, bits), (LANE, ()), (WARP, ())], (count,))
    lifted = Block(
        [laid_out(argument.type, registers) for argument in body.args],
        [argument.location for argument in body.args],
    )
    _BodyVectorizer(lifted, registers, dict(zip(body.args, lifted.args, strict=True))).operations(
        body
    )
    return lifted


class _BodyVectorizer:
    """Puts what does with tiles what operations do with scalars at the end of a block."""

    __slots__ = ("_into", "_registers", "_standing")

    def __init__(self, into: Block, registers: Layout, standing: dict[Value, Value]) -> None:
        self._into = into
        self._registers = registers
        self._standing = standing
        """What stands for each scalar."""

    def operations(self, ops: Iterable[Operation]) -> None:
        """Do all that operations do."""
        for op in ops:
            if isinstance(op, IfOp):
                self._choose(op)
            else:
                self._lifted(op)

    def _tile(self, value: Value) -> Value:
        """What stands for a scalar of the body; one from outside is in every register."""
        standing = self._standing
        if value not in standing:
            type = laid_out(value.type, self._registers)
            outside = create_op(SplatOp, source=value, types=[type])
            self._into.append(outside)
            standing[value] = outside.result
        return standing[value]

    def _lifted(self, op: Operation) -> None:
        if op.regions:
            raise Unsupported(f"'{op.name}' in the body of a reduction or scan", op.location)
        operands = [self._tile(value) for value in op.operands]
        types = [laid_out(result.type, self._registers) for result in op.results]
        made = op.like(operands, types)
        if isinstance(op, ConstantOp):
            value = literal([splat_of(op.value) or 0], types[0])
            assert value is not None
            made.attributes["value"] = value
        self._into.append(made)
        self._standing.update(zip(op.results, made.results, strict=True))

    def _choose(self, op: IfOp) -> None:
        """`if c { a } else { b }` becomes `select c, a, b`: a body has no effects."""
        if not op.results:
            return
        branches = [self._yielded(region.block) for region in op.regions]
        condition = self._tile(op.condition)
        for result, one, other in zip(op.results, *branches, strict=True):
            made = create_op(
                SelectOp,
                condition=condition,
                true_value=one,
                false_value=other,
                location=op.location,
            )
            self._into.append(made)
            self._standing[result] = made.result

    def _yielded(self, branch: Block) -> list[Value]:
        *inside, end = branch
        self.operations(inside)
        return [self._tile(value) for value in end.operands]
