"""Bodies of reductions and scans on vectors: what combines two scalars combines many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal, splat_of
from tilewright.dialects.nv_tileas.attributes import laid_out
from tilewright.dialects.nv_tileas.shape import SplatOp
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.types import VectorType
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def combine(
    op: Operation, build: ConversionBuilder, left: Sequence[Value], right: Sequence[Value]
) -> list[Value]:
    """What the body of an operation makes of pairs of vectors, one pair for each source."""
    type = left[0].type
    assert isinstance(type, VectorType)
    key = ("body", op, type.shape[0])
    lifted: Block | None = build.memo.get(key)
    if lifted is None:
        lifted = build.memo[key] = lift(op.regions[0].block, type.shape[0])
    arguments = [value for pair in zip(left, right, strict=True) for value in pair]
    return build.inline_block(lifted, arguments)


def lift(body: Block, count: int) -> Block:
    """A block that does with tiles of so many registers what another does with scalars."""
    bits = [1 << bit for bit in range(log2(count))]
    registers = Layout([(REGISTER, bits), (LANE, ()), (WARP, ())], (count,))

    def lifted_type(type: Type) -> Type:
        return laid_out(type, registers)

    lifted = Block(
        [lifted_type(argument.type) for argument in body.args],
        [argument.location for argument in body.args],
    )
    standing: dict[Value, Value] = dict(zip(body.args, lifted.args, strict=True))

    def tile(value: Value) -> Value:
        """What stands for a scalar of the body; one from outside is in every register."""
        if value not in standing:
            outside = create_op(SplatOp, source=value, types=[lifted_type(value.type)])
            lifted.append(outside)
            standing[value] = outside.result
        return standing[value]

    for op in body:
        operands = [tile(value) for value in op.operands]
        types = [lifted_type(result.type) for result in op.results]
        made = op.like(operands, types)
        if isinstance(op, ConstantOp):
            value = literal([splat_of(op.value) or 0], types[0])
            assert value is not None
            made.attributes["value"] = value
        lifted.append(made)
        standing.update(zip(op.results, made.results, strict=True))
    return lifted
