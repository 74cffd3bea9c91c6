"""Reduction of failing programs: remove operations one by one while the failure persists."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.dialects.cuda_tile.constraints import NUMBER_TILE
from tilewright.dialects.cuda_tile.control_flow import ForOp, IfOp
from tilewright.dialects.cuda_tile.core import ConstantOp
from tilewright.dialects.cuda_tile.simplify.branches import take_branch
from tilewright.dialects.cuda_tile.simplify.constants import splat
from tilewright.dialects.cuda_tile.simplify.regions import inline, jumps
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.ir.operation import Operation
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError

Fails = Callable[[ModuleOp], bool]
Edit = Callable[[Operation], bool]
"""Changes an operation if the edit applies."""


def shrink(module: ModuleOp, fails: Fails) -> ModuleOp:
    """Reduce a failing program step by step; each step must fail, too.

    Kernel parameters stay, so that arguments do. A step may introduce undefined behaviour: `fails`
    must distinguish it from the failure of interest.
    """
    best = module
    size = -1
    while size != (size := _size(best)):
        for edit in (_erase, _by_operand, _by_zero, _then, _otherwise, _once):
            best = _shrink_by(edit, best, fails)
    return best


def _size(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def _shrink_by(edit: Edit, module: ModuleOp, fails: Fails) -> ModuleOp:
    """Try one kind of edit on all operations, last first."""
    at = _size(module) - 1
    while at > 0:
        copy = module.clone()
        op = _nth(copy, at)
        if op is not None and edit(op) and _is_valid(copy) and fails(copy):
            module = copy
        at = min(at, _size(module)) - 1
    return module


def _nth(module: ModuleOp, number: int) -> Operation | None:
    return next((op for at, op in enumerate(module.walk()) if at == number), None)


def _is_valid(module: ModuleOp) -> bool:
    try:
        verify(module)
    except UserError:
        return False
    return True


def _is_fixed(op: Operation) -> bool:
    return op.is_terminator or op.parent_op is None or op.name == "cuda_tile.entry"


def _erase(op: Operation) -> bool:
    """Erase an operation without uses."""
    if _is_fixed(op) or any(result.users for result in op.results):
        return False
    op.erase()
    return True


def _by_operand(op: Operation) -> bool:
    """Replace results by operands of the same types."""
    if _is_fixed(op) or not op.results:
        return False
    candidates = [next((v for v in op.operands if v.type is r.type), None) for r in op.results]
    values = [value for value in candidates if value is not None]
    if len(values) != len(candidates):
        return False
    Rewriter.at(op).replace(op, *values)
    return True


def _by_zero(op: Operation) -> bool:
    """Replace results by zeros, if all used results are tiles of numbers."""
    if _is_fixed(op) or isinstance(op, ConstantOp):
        return False
    used = [result for result in op.results if result.users]
    if not used or not all(NUMBER_TILE.accepts(result.type) for result in used):
        return False
    build = Rewriter.at(op)
    for result in used:
        zero = build.create(ConstantOp, value=splat(0, result.type), types=[result.type])
        build.replace_value(result, zero.result)
    return True


def _then(op: Operation) -> bool:
    return _taken(op, True)


def _otherwise(op: Operation) -> bool:
    return _taken(op, False)


def _taken(op: Operation, condition: bool) -> bool:
    """Replace an `if` by one of its branches."""
    if not isinstance(op, IfOp) or (op.results and not op.else_region.blocks):
        return False
    build = Rewriter.at(op)
    build.replace(op, *take_branch(op, condition, build))
    return True


def _once(op: Operation) -> bool:
    """Replace a counted loop by its body."""
    if not isinstance(op, ForOp) or len(list(jumps(op.body.block))) != 1:
        return False
    build = Rewriter.at(op)
    build.replace(op, *inline(op.body.block, op, build, (op.lower_bound, *op.init_values)))
    return True
