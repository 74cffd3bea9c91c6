"""Inlining of calls, and of regions that only carry directives."""

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
    """Clone the operations of a block; returns the operands of its terminator."""
    *inside, end = block
    for op in inside:
        build.clone(op, values)
    return [values.get(value, value) for value in end.operands]


@rule(CallOp)
def inlined(op: CallOp, build: Rewriter) -> Replacement:
    """A call becomes the body of its callee."""
    target = _callee(op)
    if target is None:
        return None
    body = target.body.block
    return _copied(build, body, dict(zip(body.args, op.arguments, strict=True)))


@rule(PragmaOp)
def unwrapped(op: PragmaOp, build: Rewriter) -> Replacement:
    """A `pragma` becomes its body: its directives have been used."""
    return _copied(build, op.body.block, {})


def _callee(op: CallOp) -> FuncOp | None:
    callee = resolve(SymbolRefAttr(op.callee), op)
    return callee if isinstance(callee, FuncOp) else None


def _check(function: FuncOp, around: tuple[FuncOp, ...]) -> None:
    """Reject recursion, direct or mutual."""
    for op in function.walk():
        target = _callee(op) if isinstance(op, CallOp) else None
        if target is None:
            continue
        if target is function or target in around:
            raise Unsupported(f"'@{target.sym_name}', which calls itself", op.location)
        _check(target, (*around, function))


RULES: Final[Rules] = (inlined, unwrapped)


class InlineCalls(Pass):
    """Inline every call, and erase the functions that are not kernels."""

    name = "inline-calls"
    is_required = True

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
