"""Interpret kernels on scalar integers, by the specification of Tile IR.

The behavior of a kernel is the list of its prints: the text, the values, and the earlier prints
that a token orders before it. Shares no arithmetic with the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.dialects.cuda_tile import bitwise, control_flow, conversion, core, integer, memory
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.misc import AssumeOp, PrintTkoOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import IntegerType
from tilewright.ir.values import Value

Event = tuple[str, tuple[int, ...], frozenset[int]]


class OutOfFuelError(Exception):
    """The kernel runs for too long."""


class UndefinedError(Exception):
    """The kernel has undefined behavior."""


PREDICATES: dict[ComparisonPredicate, Callable[[int, int], bool]] = {
    ComparisonPredicate.EQUAL: lambda a, b: a == b,
    ComparisonPredicate.NOT_EQUAL: lambda a, b: a != b,
    ComparisonPredicate.LESS_THAN: lambda a, b: a < b,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: lambda a, b: a <= b,
    ComparisonPredicate.GREATER_THAN: lambda a, b: a > b,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: lambda a, b: a >= b,
}

BINARY: dict[type[Operation], Callable[[int, int], int]] = {
    integer.AddIOp: lambda a, b: a + b,
    integer.SubIOp: lambda a, b: a - b,
    integer.MulIOp: lambda a, b: a * b,
    bitwise.AndIOp: lambda a, b: a & b,
    bitwise.OrIOp: lambda a, b: a | b,
    bitwise.XOrIOp: lambda a, b: a ^ b,
}


def width(value: Value) -> int:
    assert isinstance(value.type, TileType)
    assert isinstance(value.type.element, IntegerType)
    return value.type.element.width


def signed(pattern: int, bits: int) -> int:
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern


class Interpreter:
    """One run of one kernel. Integers are patterns, tokens the sets of prints that precede them."""

    def __init__(self, entry: EntryOp, arguments: Sequence[int], fuel: int = 20000) -> None:
        self.values: dict[Value, Any] = dict(zip(entry.arguments, arguments, strict=True))
        self.events: list[Event] = []
        self.fuel = fuel
        self.block(entry.body.block)

    def block(self, block: Block) -> tuple[Operation, list[Any]]:
        """Run a block; return the operation that left it, and its operands."""
        for op in block:
            self.fuel -= 1
            if self.fuel < 0:
                raise OutOfFuelError
            if isinstance(op, control_flow.RegionTerminatorOp):
                return op, [self.values[value] for value in op.operands]
            left = self.step(op)
            if left is not None:
                return left
        raise AssertionError("a block without an end")

    def step(self, op: Operation) -> tuple[Operation, list[Any]] | None:
        """Run an operation; return the exit from its block, or `None`."""
        match op:
            case control_flow.IfOp():
                return self.branch(op)
            case control_flow.ForOp():
                self.count(op)
            case control_flow.LoopOp():
                return self.repeat(op)
            case PrintTkoOp():
                before = self.values[op.token] if op.token is not None else frozenset[int]()
                shown = tuple(self.values[value] for value in op.args)
                self.values[op.result_token] = before | {len(self.events)}
                self.events.append((op.format, shown, before))
            case _:
                self.values[op.results[0]] = self.compute(op)
        return None

    def branch(self, op: control_flow.IfOp) -> tuple[Operation, list[Any]] | None:
        region = op.then_region if self.values[op.condition] else op.else_region
        if not region.blocks:
            return None
        last, passed = self.block(region.block)
        if not isinstance(last, control_flow.YieldOp):
            return last, passed
        self.values.update(zip(op.results, passed, strict=True))
        return None

    def count(self, op: control_flow.ForOp) -> None:
        bits = width(op.lower_bound)
        read = (lambda p: p) if op.unsigned_cmp else (lambda p: signed(p, bits))
        lower, upper, step = (
            read(self.values[v]) for v in (op.lower_bound, op.upper_bound, op.step)
        )
        if step <= 0:
            raise UndefinedError
        carried = [self.values[value] for value in op.init_values]
        for counter in range(lower, upper, step):
            entry = [counter % (1 << bits), *carried]
            self.values.update(zip(op.body.block.args, entry, strict=True))
            last, carried = self.block(op.body.block)
            assert isinstance(last, control_flow.ContinueOp)
        self.values.update(zip(op.results, carried, strict=True))

    def repeat(self, op: control_flow.LoopOp) -> tuple[Operation, list[Any]] | None:
        carried = [self.values[value] for value in op.init_values]
        while True:
            self.values.update(zip(op.body.block.args, carried, strict=True))
            last, carried = self.block(op.body.block)
            if isinstance(last, control_flow.BreakOp):
                self.values.update(zip(op.results, carried, strict=True))
                return None
            if isinstance(last, control_flow.ReturnOp):
                return last, carried

    def compute(self, op: Operation) -> Any:
        get = self.values.__getitem__
        match op:
            case core.ConstantOp():
                return op.value.elements()[0]
            case core.SelectOp():
                return get(op.val_if_true) if get(op.cond) else get(op.val_if_false)
            case AssumeOp():
                return get(op.value)
            case memory.MakeTokenOp():
                return frozenset[int]()
            case memory.JoinTokensOp():
                return frozenset[int]().union(*map(get, op.tokens))
            case conversion.ExtIOp():
                pattern, bits = get(op.source), width(op.source)
                number = signed(pattern, bits) if op.signedness is Signedness.SIGNED else pattern
                return number % (1 << width(op.result))
            case conversion.TruncIOp():
                return get(op.source) % (1 << width(op.result))
            case _:
                return self.arithmetic(op)

    def arithmetic(self, op: Operation) -> int:
        a, b = (self.values[value] for value in op.operands)
        bits = width(op.operands[0])
        if type(op) in BINARY:
            return BINARY[type(op)](a, b) % (1 << bits)
        assert isinstance(op, integer.SignedInteger | integer.CmpIOp)
        if op.signedness is Signedness.SIGNED:
            a, b = signed(a, bits), signed(b, bits)
        match op:
            case integer.CmpIOp():
                return int(PREDICATES[op.comparison_predicate](a, b))
            case integer.MaxIOp():
                return max(a, b) % (1 << bits)
            case integer.MinIOp():
                return min(a, b) % (1 << bits)
            case integer.DivIOp():
                if b == 0:
                    raise UndefinedError
                return -(-a // b) % (1 << bits)  # loops are split with this rounding alone
            case _:
                raise AssertionError(f"{op.name} is not interpreted")


def trace(entry: EntryOp, arguments: Sequence[int]) -> list[Event] | None:
    """Return the prints of a kernel, or `None` if it runs for too long."""
    try:
        return Interpreter(entry, arguments).events
    except OutOfFuelError:
        return None
