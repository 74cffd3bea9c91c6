"""Kernels without calls and without regions that only carry directives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa.queue import PragmaOp
from tilewright.dialects.nv_tileaa.structure import CallOp, FuncOp
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.passes import Pass
from tilewright.ir.rules import apply_rules, rule
from tilewright.ir.symbol_table import resolve
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.rewriter import Rewriter
    from tilewright.ir.rules import Replacement, Rules
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


def _copied(build: Rewriter, block: Block, values: dict[Value, Value]) -> list[Value]:
    """Insert copies of the operations of a block; gives what its end hands on."""
    *inside, end = block
    for op in inside:
        build.clone(op, values)
    return [values.get(value, value) for value in end.operands]


@rule(CallOp)
def inlined(op: CallOp, build: Rewriter) -> Replacement:
    """A call is what the function does with its arguments."""
    target = _callee(op)
    if target is None:
        return None
    body = target.body.block
    return _copied(build, body, dict(zip(body.args, op.arguments, strict=True)))


@rule(PragmaOp)
def unwrapped(op: PragmaOp, build: Rewriter) -> Replacement:
    """A region with directives is what is in it."""
    return _copied(build, op.body.block, {})


def _callee(op: CallOp) -> FuncOp | None:
    found = resolve(SymbolRefAttr(op.callee), op)
    return found if isinstance(found, FuncOp) else None


def _check(function: FuncOp, around: tuple[FuncOp, ...]) -> None:
    """Stop where a function calls itself, by way of others or not."""
    for op in function.walk():
        target = _callee(op) if isinstance(op, CallOp) else None
        if target is None:
            continue
        if target is function or target in around:
            raise Unsupported(f"'@{target.sym_name}', which calls itself", op.location)
        _check(target, (*around, function))


RULES: Final[Rules] = (inlined, unwrapped)


class InlineCalls(Pass):
    """Put functions where they are called; what is left of them goes."""

    name = "inline-calls"

    def run(self, op: Operation, sink: Sink) -> None:
        functions = [each for each in op.walk() if isinstance(each, FuncOp)]
        helpers = [function for function in functions if not function.is_kernel]
        if not helpers and not any(isinstance(each, PragmaOp) for each in op.walk()):
            return
        for function in functions:
            _check(function, ())
        apply_rules(op, RULES, sink=sink)
        for helper in helpers:
            helper.erase()
