"""Structured control flow: branches, loops and their terminators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import BOOL_TILE, SCALAR_I1, SCALAR_INT
from tilewright.dialects.cuda_tile.operand_types import listed, types_of
from tilewright.dialects.cuda_tile.types import TensorViewType, ViewType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import STRING_ATTR
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.traits import TERMINATOR, Effects, HasParent, SameType

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import BlockArgument, Value


def _view_problems(what: str, values: Iterable[Value]) -> Iterator[str]:
    """Reject views: they exist at compile time only, so no branch or loop can carry them."""
    for index, value in enumerate(values):
        if isinstance(value.type, TensorViewType | ViewType):
            yield f"{what} #{index} must not be a view, got '{value.type}'"


class IfOp(TileOp):
    """Conditional; the branch taken yields the results.

    A branch may also exit by `break`, `continue` or `return`. The `else` branch may be omitted if
    there are no results.
    """

    name = "cuda_tile.if"
    since = (13, 1)
    effects = Effects.RECURSIVE
    syntax = (
        "$condition (`->` `(` type($outputs)^ `)`)? custom<Branch>($then_region) "
        "(`else` custom<Branch>($else_region)^)? attr-dict"
    )
    default_dialect = "cuda_tile"

    condition = d.operand(SCALAR_I1)
    outputs = d.results(ANY_TYPE)
    then_region = d.region(terminator="cuda_tile.yield")
    else_region = d.region(min_blocks=0, terminator="cuda_tile.yield")

    def verify(self) -> Iterator[str]:
        yield from _view_problems("result", self.results)

    def verify_context(self) -> Iterator[str]:
        if self.results and not self.else_region.blocks:
            yield "expected an else branch, since there are results"
        yield from self._branch_problems("then", self.then_region)
        yield from self._branch_problems("else", self.else_region)

    def _branch_problems(self, which: str, region: Region) -> Iterator[str]:
        for block in region.blocks:
            if block.args:
                yield f"expected the {which} branch to have no arguments"
            last = block.last
            if not isinstance(last, YieldOp):
                continue
            expected, actual = types_of(self.results), types_of(last.operands)
            if expected != actual:
                problem = f"to yield {listed(expected)}, got {listed(actual)}"
                yield f"expected the {which} branch {problem}"


class ForOp(TileOp):
    """Counted loop from the lower bound to the upper bound (exclusive) by the step.

    Bounds are compared as signed integers unless `unsignedCmp` is set. The operands of
    `continue` are the loop-carried values of the next iteration, those of the last iteration the
    results.
    """

    name = "cuda_tile.for"
    since = (13, 1)
    effects = Effects.RECURSIVE
    traits = (SameType("lower_bound", "upper_bound", "step"),)
    syntax = (
        "(`unsigned` $unsigned_cmp^)? custom<CountedLoop>($lower_bound, $upper_bound, $step, "
        "$init_values, $outputs, $body) attr-dict"
    )
    default_dialect = "cuda_tile"
    loop_body = "body"

    lower_bound = d.operand(SCALAR_INT)
    upper_bound = d.operand(SCALAR_INT)
    step = d.operand(SCALAR_INT)
    init_values = d.operands(ANY_TYPE)
    unsigned_cmp = d.flag(spelling="unsignedCmp", since=(13, 2))
    outputs = d.results(ANY_TYPE)
    body = d.region(terminator="cuda_tile.continue")

    @property
    def induction_variable(self) -> BlockArgument:
        """The induction variable."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[BlockArgument, ...]:
        """The block arguments of the loop-carried values."""
        return self.body.block.args[1:]

    def verify(self) -> Iterator[str]:
        yield from _view_problems("loop-carried value", self.init_values)
        initial, final = types_of(self.init_values), types_of(self.results)
        if initial != final:
            yield f"expected results of types {listed(initial)}, got {listed(final)}"

    def verify_context(self) -> Iterator[str]:
        actual = types_of(self.body.block.args)
        expected = (self.lower_bound.type, *types_of(self.init_values))
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        if self.results:
            yield 0, "for"

    def block_argument_names(
        self, region: Region, style: str
    ) -> Iterator[tuple[BlockArgument, str]]:
        for block in region.blocks[:1]:
            for argument in block.args:
                yield argument, f"iterArg{argument.index - 1}" if argument.index else "loopIdx"


class LoopOp(TileOp):
    """Loop until a `break`, whose operands are the results."""

    name = "cuda_tile.loop"
    since = (13, 1)
    effects = Effects.RECURSIVE
    syntax = "custom<EndlessLoop>($init_values, $outputs, $body) attr-dict"
    default_dialect = "cuda_tile"
    loop_body = "body"

    init_values = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)
    body = d.region(terminator="cuda_tile.continue")

    @property
    def carried(self) -> tuple[BlockArgument, ...]:
        """The block arguments of the loop-carried values."""
        return self.body.block.args

    def verify(self) -> Iterator[str]:
        yield from _view_problems("loop-carried value", self.init_values)
        yield from _view_problems("result", self.results)

    def verify_context(self) -> Iterator[str]:
        actual, expected = types_of(self.carried), types_of(self.init_values)
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"


def _nearest_other(op: Operation, *passed: type[Operation]) -> Operation | None:
    """The nearest enclosing operation that is not an instance of `passed`."""
    return next((outer for outer in op.ancestors() if not isinstance(outer, passed)), None)


def _named(op: Operation | None) -> str:
    return "nothing" if op is None else f"'{op.name}'"


class RegionTerminatorOp(TileOp):
    """Base of the terminators that pass values on."""

    since = (13, 1)
    # Not pure: an operation that contains a jump must not be speculated.
    effects = Effects.NONE
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)

    def _mismatch(self, what: str, expected: Iterable[Value]) -> Iterator[str]:
        types, actual = types_of(expected), types_of(self.operands)
        if types != actual:
            yield f"expected operands of the types of {what} {listed(types)}, got {listed(actual)}"


class YieldOp(RegionTerminatorOp):
    """Terminate a branch of `if`, or the body of `reduce` and `scan`, yielding its values."""

    name = "cuda_tile.yield"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("cuda_tile.if", "cuda_tile.reduce", "cuda_tile.scan"))


class BreakOp(RegionTerminatorOp):
    """Exit the innermost `loop`; the operands become its results."""

    name = "cuda_tile.break"
    jumps_to = ("cuda_tile.loop",)
    traits = (TERMINATOR, HasParent("cuda_tile.if", "cuda_tile.loop"))

    def verify_context(self) -> Iterator[str]:
        target = _nearest_other(self, IfOp)
        if isinstance(target, LoopOp):
            yield from self._mismatch("the results of the loop", target.results)
        elif isinstance(self.parent_op, IfOp):
            yield f"must be nested in a loop, through ifs alone, got {_named(target)}"


class ContinueOp(RegionTerminatorOp):
    """Start the next iteration of the innermost loop with these loop-carried values."""

    name = "cuda_tile.continue"
    jumps_to = ("cuda_tile.for", "cuda_tile.loop")
    traits = (TERMINATOR, HasParent("cuda_tile.for", "cuda_tile.if", "cuda_tile.loop"))

    def verify_context(self) -> Iterator[str]:
        target = _nearest_other(self, IfOp)
        if isinstance(target, ForOp | LoopOp):
            yield from self._mismatch("the carried values", target.init_values)
        elif isinstance(self.parent_op, IfOp):
            yield f"must be nested in a for or loop, through ifs alone, got {_named(target)}"


class ReturnOp(RegionTerminatorOp):
    """Return from the kernel, also from inside `if` and `loop`, but not from inside `for`."""

    name = "cuda_tile.return"
    jumps_to = ("cuda_tile.entry",)
    traits = (TERMINATOR, HasParent("cuda_tile.entry", "cuda_tile.if", "cuda_tile.loop"))

    def verify(self) -> Iterator[str]:
        if self.operands:
            yield f"expected no operands, since a kernel returns nothing, got {len(self.operands)}"

    def verify_context(self) -> Iterator[str]:
        if not isinstance(self.parent_op, IfOp | LoopOp):
            return
        target = _nearest_other(self, IfOp, LoopOp)
        if target is None or target.name != "cuda_tile.entry":
            expected = "a cuda_tile.entry, through ifs and loops alone"
            yield f"must be nested in {expected}, got {_named(target)}"


class AssertOp(TileOp):
    """Report the message, and an error to the host, if an element of the condition is false."""

    name = "cuda_tile.assert"
    since = (13, 1)
    syntax = "$condition `,` $message attr-dict `:` type($condition)"

    condition = d.operand(BOOL_TILE)
    message = d.attribute(STRING_ATTR)
