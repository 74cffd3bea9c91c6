"""Part A: branches and loops, in the form of `dialects.cuda_tile.structured`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.dialects import scf
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.cuda_tile import control_flow, core
from tilewright.dialects.cuda_tile.structured import While, while_of
from tilewright.dialects.elements import types_of
from tilewright.dialects.nv_tileaa.aggregate import YieldOp
from tilewright.dialects.nv_tileaa.integer import XOrIOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import converts, transfers
from tilewright.ir.operation import Block, Region
from tilewright.ir.types import I1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import Made, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.type_converter import TypeConverter
    from tilewright.ir.values import Value


def rebuilt(
    kind: type[Operation], op: Operation, new: Operation, build: ConversionBuilder
) -> Operation | None:
    """Create the counterpart of an operation, with converted operands and regions."""
    types = build.types.convert_all([result.type for result in op.results])
    if types is None:
        return build.reject("expected result types that can be converted")
    regions = [Region() for _ in op.regions]
    made = build.insert(kind(new.operands, types, converted(op), regions, op.location))
    for inside, target in zip(op.regions, made.regions, strict=True):
        build.convert_region(inside, target)
    return made


@converts(control_flow.ForOp)
def for_(op: control_flow.ForOp, new: control_flow.ForOp, build: ConversionBuilder) -> Result:
    """Lower to `scf.for`."""
    return rebuilt(scf.ForOp, op, new, build)


@converts(control_flow.IfOp)
def if_(op: control_flow.IfOp, new: control_flow.IfOp, build: ConversionBuilder) -> Result:
    """Lower to `scf.if`, if no branch has an early exit."""
    ends = [block.last for region in op.regions for block in region.blocks]
    if not all(isinstance(end, control_flow.YieldOp) for end in ends):
        return build.reject("expected branches that end in 'yield'")
    return rebuilt(scf.IfOp, op, new, build)


@transfers(control_flow.YieldOp)
def yield_(op: control_flow.YieldOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `scf.yield` in a branch, and to `nv_tileaa.yield` in a body."""
    kind = scf.YieldOp if isinstance(op.parent_op, control_flow.IfOp) else YieldOp
    return kind(operands, (), converted(op), (), op.location)


@transfers(control_flow.ContinueOp)
def continue_(op: control_flow.ContinueOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Lower to `scf.yield` in a counted loop; the pattern of `loop` handles the others."""
    if not isinstance(op.parent_op, control_flow.ForOp):
        return None
    return scf.YieldOp(operands, (), converted(op), (), op.location)


@converts(control_flow.LoopOp)
def loop(op: control_flow.LoopOp, new: control_flow.LoopOp, build: ConversionBuilder) -> Result:
    """Lower to `scf.while`: code before the exit test is its `before` region, the rest `after`.

    Values of `before` that `after` uses are operands of the condition, after the results.
    """
    parts = while_of(op)
    if parts is None:
        return build.reject("expected a loop with one exit, guarded by a test in its body")
    constants, captured = _split_constants(parts.captured())
    carried = build.types.convert_all(types_of(op.carried))
    passed = build.types.convert_all(types_of([*op.results, *captured]))
    if carried is None or passed is None:
        return build.reject("expected carried values that can be converted")
    before = Block(carried, [argument.location for argument in op.carried])
    after = Block(passed, [op.location] * len(passed))
    regions = [Region([before]), Region([after])]
    made = build.insert(scf.WhileOp(new.operands, passed, converted(op), regions, op.location))
    _fill_before(parts, before, captured, build)
    _fill_after(parts, after, constants, captured, build)
    return made.results[: len(op.results)]


def _split_constants(captured: Sequence[Value]) -> tuple[list[core.ConstantOp], list[Value]]:
    """Split captured values into constants, which are cloned, and others, which are passed."""
    pairs = [(value, value.defined_by(core.ConstantOp)) for value in captured]
    constants = [constant for _, constant in pairs if constant is not None]
    return constants, [value for value, constant in pairs if constant is None]


def _fill_before(
    parts: While, block: Block, captured: list[Value], build: ConversionBuilder
) -> None:
    for old, new in zip(parts.loop.carried, block.args, strict=True):
        build.bind(old, new)
    with build.at(InsertPoint.at_end(block)):
        build.convert_operations(parts.before())
        stop = build.value(parts.stop)
        location = parts.test.location
        one = ConstantOp((), (I1,), {"value": IntegerAttr(1, I1)}, (), location)
        proceed = XOrIOp((stop, *build.insert(one).results), (I1,), {}, (), location)
        values = [build.value(value) for value in (*parts.left, *captured)]
        operands = (*build.insert(proceed).results, *values)
        build.insert(scf.ConditionOp(operands, (), {}, (), parts.leave.location))


def _fill_after(
    parts: While,
    block: Block,
    constants: list[core.ConstantOp],
    captured: list[Value],
    build: ConversionBuilder,
) -> None:
    for old, new in zip(captured, block.args[len(parts.left) :], strict=True):
        build.bind(old, new)
    with build.at(InsertPoint.at_end(block)):
        build.convert_operations(constants)
        build.convert_operations(parts.after())
        values = [build.value(value) for value in parts.next]
        build.insert(scf.YieldOp(values, (), {}, (), parts.again.location))


PATTERNS: Final = (for_, if_, yield_, continue_, loop)
