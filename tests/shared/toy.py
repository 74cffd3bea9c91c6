"""A small dialect with one operation for each thing that the core must handle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, STRING_ATTR
from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.constraints import ANY_TYPE, exactly
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.traits import (
    COMMUTATIVE,
    CONSTANT_LIKE,
    GRAPH_REGION,
    ISOLATED,
    NO_TERMINATOR,
    SYMBOL,
    SYMBOL_TABLE,
    TERMINATOR,
    Effects,
    SameType,
)
from tilewright.ir.types import I1, I32
from tilewright.ir.values import Value

BIT = exactly(I1, "i1")


class ModuleOp(Operation):
    name = "toy.module"
    traits = (ISOLATED, NO_TERMINATOR, SYMBOL_TABLE)
    body = d.region()


class GraphOp(Operation):
    name = "toy.graph"
    traits = (NO_TERMINATOR, GRAPH_REGION)
    body = d.region()


class FuncOp(Operation):
    name = "toy.func"
    traits = (ISOLATED, SYMBOL)
    sym_name = d.attribute(STRING_ATTR)
    body = d.region(max_blocks=None)


class ConstantOp(Operation):
    name = "toy.constant"
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    value = d.attribute(I32_ATTR)
    result = d.result(exactly(I32, "i32"))


class BinaryOp(Operation):
    lhs = d.operand(ANY_TYPE)
    rhs = d.operand(ANY_TYPE)
    result = d.result(ANY_TYPE)
    traits = (SameType("lhs", "rhs", "result"),)


class AddOp(BinaryOp):
    name = "toy.add"
    effects = Effects.PURE
    traits = (COMMUTATIVE, SameType("lhs", "rhs", "result"))


class SubOp(BinaryOp):
    name = "toy.sub"
    effects = Effects.PURE


class DivOp(BinaryOp):
    name = "toy.div"
    effects = Effects.NONE


class LoadOp(Operation):
    name = "toy.load"
    effects = Effects.READ
    address = d.operand(ANY_TYPE)
    result = d.result(ANY_TYPE)


class StoreOp(Operation):
    name = "toy.store"
    effects = Effects.WRITE
    value = d.operand(ANY_TYPE)
    address = d.operand(ANY_TYPE)


class UseOp(Operation):
    """An opaque operation with any operands and results."""

    name = "toy.use"
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class CallOp(Operation):
    """Two groups of operands of any size."""

    name = "toy.call"
    callee = d.operand(ANY_TYPE)
    arguments = d.operands(ANY_TYPE)
    extra = d.optional_operand(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class IfOp(Operation):
    name = "toy.if"
    effects = Effects.RECURSIVE
    condition = d.operand(BIT)
    outputs = d.results(ANY_TYPE)
    then_region = d.region(terminator="toy.yield")
    else_region = d.region(terminator="toy.yield")


class LoopOp(Operation):
    name = "toy.loop"
    effects = Effects.RECURSIVE
    loop_body = "body"
    inits = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)
    body = d.region(terminator="toy.yield")


class YieldOp(Operation):
    name = "toy.yield"
    effects = Effects.PURE
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class BreakOp(Operation):
    name = "toy.break"
    effects = Effects.PURE
    traits = (TERMINATOR,)
    jumps_to = ("toy.loop",)
    inputs = d.operands(ANY_TYPE)


class ReturnOp(Operation):
    name = "toy.return"
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class BranchOp(Operation):
    name = "toy.br"
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class CondBranchOp(Operation):
    name = "toy.cond_br"
    traits = (TERMINATOR,)
    condition = d.operand(BIT)


def module(*contents: Operation) -> tuple[ModuleOp, Builder]:
    """An empty module and a builder at its end."""
    block = Block()
    for op in contents:
        block.append(op)
    return create_op(ModuleOp, body=block), Builder(InsertPoint.at_end(block))


def block_of(types: Iterable[Type] = ()) -> tuple[Block, Builder]:
    block = Block(types)
    return block, Builder(InsertPoint.at_end(block))


def constant(build: Builder, value: int) -> Value:
    return build.create(ConstantOp, value=value).result


def add(build: Builder, lhs: Value, rhs: Value) -> Value:
    return build.create(AddOp, lhs=lhs, rhs=rhs).result


def use(build: Builder, *inputs: Value, types: Sequence[Type] = ()) -> UseOp:
    return build.create(UseOp, inputs=inputs, types=types)


def source(build: Builder, type: Type = I32) -> Value:
    """A value of which nothing is known."""
    return use(build, types=[type]).results[0]


def func(name: str, *blocks: Block) -> FuncOp:
    return create_op(FuncOp, sym_name=name, body=Region(blocks))


def names(block: Block) -> list[str]:
    """The mnemonics of the operations in a block."""
    return [op.name.partition(".")[2] for op in block]
