"""Vectorization of the scalar bodies of reduce, scan and generate."""

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
    """Apply the body of a reduction or scan to pairs of vectors, one pair for each source."""
    type = left[0].type
    assert isinstance(type, VectorType)
    count, bodies = type.shape[0], lowering_context(build).vectorized_bodies
    body = bodies.get((op, count))
    if body is None:
        body = bodies[op, count] = vectorize_body(op.regions[0].block, count)
    arguments = [value for pair in zip(left, right, strict=True) for value in pair]
    return build.inline_block(body, arguments)


def vectorize_body(body: Block, count: int) -> Block:
    """A block that does with tiles of `count` registers what the body does with scalars."""
    bits = [1 << bit for bit in range(log2(count))]
    registers = Layout([(REGISTER, bits), (LANE, ()), (WARP, ())], (count,))
    vectorized = Block(
        [laid_out(argument.type, registers) for argument in body.args],
        [argument.location for argument in body.args],
    )
    _BodyVectorizer(
        vectorized, registers, dict(zip(body.args, vectorized.args, strict=True))
    ).operations(body)
    return vectorized


class _BodyVectorizer:
    """Appends the vectorized form of scalar operations to a block."""

    __slots__ = ("_block", "_registers", "_tiles")

    def __init__(self, block: Block, registers: Layout, tiles: dict[Value, Value]) -> None:
        self._block = block
        self._registers = registers
        self._tiles = tiles
        """The tile that stands for each scalar."""

    def operations(self, ops: Iterable[Operation]) -> None:
        """Vectorize operations in order."""
        for op in ops:
            if isinstance(op, IfOp):
                self._if_convert(op)
            else:
                self._vectorize(op)

    def _tile(self, value: Value) -> Value:
        """The tile that stands for a scalar; one defined outside of the body is a splat."""
        tiles = self._tiles
        if value not in tiles:
            type = laid_out(value.type, self._registers)
            splat = create_op(SplatOp, source=value, types=[type])
            self._block.append(splat)
            tiles[value] = splat.result
        return tiles[value]

    def _vectorize(self, op: Operation) -> None:
        if op.regions:
            raise Unsupported(f"'{op.name}' in the body of a reduction or scan", op.location)
        operands = [self._tile(value) for value in op.operands]
        types = [laid_out(result.type, self._registers) for result in op.results]
        vectorized = op.like(operands, types)
        if isinstance(op, ConstantOp):
            value = literal([splat_of(op.value) or 0], types[0])
            assert value is not None
            vectorized.attributes["value"] = value
        self._block.append(vectorized)
        self._tiles.update(zip(op.results, vectorized.results, strict=True))

    def _if_convert(self, op: IfOp) -> None:
        """If-convert: `if c { a } else { b }` becomes `select c, a, b`; bodies have no effects."""
        if not op.results:
            return
        branches = [self._yielded(region.block) for region in op.regions]
        condition = self._tile(op.condition)
        for result, true_value, false_value in zip(op.results, *branches, strict=True):
            select = create_op(
                SelectOp,
                condition=condition,
                true_value=true_value,
                false_value=false_value,
                location=op.location,
            )
            self._block.append(select)
            self._tiles[result] = select.result

    def _yielded(self, branch: Block) -> list[Value]:
        *inside, end = branch
        self.operations(inside)
        return [self._tile(value) for value in end.operands]
