"""Measure the IR core: operations per second to build, verify, clone, walk, rewrite and convert.

python benchmarks/ir_core.py [--ops 10000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from time import process_time

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR
from tilewright.ir.attributes import IntegerAttr, Type
from tilewright.ir.builder import Builder, InsertPoint, create_op
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts, mirror
from tilewright.ir.equivalence import equivalent
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Block, Operation
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import Replacement, apply_rules, constant_of, rule
from tilewright.ir.traits import (
    CONSTANT_LIKE,
    ISOLATED,
    NO_TERMINATOR,
    TERMINATOR,
    Effects,
    SameType,
)
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import I32, I64, IntegerType
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.support.location import FileLoc
from tilewright.transforms.generic.cse import Cse

KERNEL = 300


class ModuleOp(Operation):
    """Holds everything."""

    name = "high.module"
    traits = (ISOLATED, NO_TERMINATOR)
    body = d.region()


class Constant(Operation):
    """A number, at any level."""

    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    value = d.attribute(I32_ATTR)
    result = d.result(ANY_TYPE)


class Add(Operation):
    """An add, at any level."""

    effects = Effects.PURE
    traits = (SameType("lhs", "rhs", "result"),)
    lhs = d.operand(ANY_TYPE)
    rhs = d.operand(ANY_TYPE)
    exact = d.flag()
    result = d.result(ANY_TYPE)


class Loop(Operation):
    """Repeats its body, at any level."""

    effects = Effects.RECURSIVE
    loop_body = "body"
    inits = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)
    body = d.region()


class Yield(Operation):
    """Ends a body, at any level."""

    effects = Effects.PURE
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class Use(Operation):
    """Keeps a value alive, at any level."""

    inputs = d.operands(ANY_TYPE)


class HighConstantOp(Constant):
    """The high level."""

    name = "high.constant"


class HighAddOp(Add):
    """The high level."""

    name = "high.add"


class HighLoopOp(Loop):
    """The high level."""

    name = "high.loop"


class HighYieldOp(Yield):
    """The high level."""

    name = "high.yield"


class HighUseOp(Use):
    """The high level."""

    name = "high.use"


class LowConstantOp(Constant):
    """The low level."""

    name = "low.constant"


class LowAddOp(Add):
    """The low level."""

    name = "low.add"


class LowLoopOp(Loop):
    """The low level."""

    name = "low.loop"


class LowYieldOp(Yield):
    """The low level."""

    name = "low.yield"


class LowUseOp(Use):
    """The low level."""

    name = "low.use"


@rule(HighAddOp)
def add_zero(op: HighAddOp, build: Rewriter) -> Replacement:
    """`x + 0` becomes `x`: zero is neutral."""
    constant = constant_of(op.rhs)
    return op.lhs if isinstance(constant, IntegerAttr) and constant.value == 0 else None


@converts(HighConstantOp)
def constant(op: HighConstantOp, new: HighConstantOp, build: ConversionBuilder) -> Result:
    """Convert a constant."""
    return build.create(LowConstantOp, value=op.value, types=[I64])


@converts(HighAddOp)
def add(op: HighAddOp, new: HighAddOp, build: ConversionBuilder) -> Result:
    """Convert an add."""
    return build.create(LowAddOp, lhs=new.lhs, rhs=new.rhs, exact=op.exact)


PATTERNS = (
    constant,
    add,
    *mirror({HighLoopOp: LowLoopOp, HighYieldOp: LowYieldOp, HighUseOp: LowUseOp}),
)
TARGET = ConversionTarget(legal=("low",), illegal=("high",))
FAILING = ConversionTarget(legal=("low",), illegal=("high", LowUseOp))


def types() -> TypeConverter:
    """Convert i32 to i64."""
    converter = TypeConverter()
    converter.keep(Type)
    converter.add(IntegerType, lambda t: I64 if t is I32 else t)
    return converter


def program(ops: int) -> ModuleOp:
    """Build kernels of some 300 operations: adds, a third of them of zero, in loops."""
    block = Block()
    build = Builder(InsertPoint(block), FileLoc("kernel", 1, 1))
    made = 0
    while made < ops:
        zero = build.create(HighConstantOp, value=0, types=[I32])
        init = build.create(HighConstantOp, value=1, types=[I32]).result
        body = Block([I32])
        inside = Builder(InsertPoint(body), FileLoc("kernel", 2, 1))
        carried = body.args[0]
        for index in range(KERNEL - 5):
            rhs = zero.result if index % 3 == 0 else init
            carried = inside.create(HighAddOp, lhs=carried, rhs=rhs, exact=bool(index % 2)).result
        inside.create(HighYieldOp, inputs=[carried])
        loop = build.create(HighLoopOp, inits=[init], body=body, types=[I32])
        build.create(HighUseOp, inputs=loop.results)
        made += KERNEL
    return create_op(ModuleOp, body=block)


def timed(make: Callable[[], Operation], act: Callable[[Operation], object], repeat: int) -> float:
    """The least processor time of one action on a fresh program, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        op = make()
        gc.collect()
        gc.disable()
        start = process_time()
        act(op)
        best = min(best, process_time() - start)
        gc.enable()
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="operations per second of the IR core")
    parser.add_argument("--ops", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    module = program(options.ops)
    count = sum(1 for _ in module.walk())
    actions: dict[str, Callable[[Operation], object]] = {
        "build": lambda op: program(options.ops),
        "verify": verify,
        "clone": lambda op: op.clone(),
        "walk": lambda op: sum(1 for _ in op.walk()),
        "compare": lambda op: equivalent(op, module),
        "greedy fold + dce": lambda op: apply_rules(op, (add_zero,)),
        "cse": lambda op: Cse().run(op, Sink()),
        "convert": lambda op: convert(op, TARGET, PATTERNS, types()),
        "convert, failing": lambda op: convert(op, FAILING, PATTERNS, types(), sink=Sink()),
    }
    print(f"{count} operations, best of {options.repeat}, collector off")
    for name, act in actions.items():
        seconds = timed(module.clone, act, options.repeat)
        print(f"{name:20}{count / seconds:12,.0f} ops/s")


if __name__ == "__main__":
    main()
