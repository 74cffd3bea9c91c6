"""cf to LLVM: branches, and assertions that call CUDA's `__assertfail`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.symbols import Symbols
from tilewright.dialects.cf import AssertOp, BranchOp, CondBranchOp, SwitchOp
from tilewright.dialects.llvm.control_flow import BrOp, CondBrOp
from tilewright.dialects.llvm.control_flow import SwitchOp as LLVMSwitchOp
from tilewright.dialects.llvm.control_flow import UnreachableOp as LLVMUnreachableOp
from tilewright.dialects.ub import UnreachableOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.symbol_table import nearest_symbol_table, symbol_name
from tilewright.ir.types import I32, I64
from tilewright.support.source_location import source_location

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation


@converts(BranchOp)
def branch(op: BranchOp, new: BranchOp, build: ConversionBuilder) -> Result:
    """Lower `cf.br` to `llvm.br`."""
    return build.create(BrOp, arguments=new.arguments, successors=new.successors)


@converts(CondBranchOp)
def conditional(op: CondBranchOp, new: CondBranchOp, build: ConversionBuilder) -> Result:
    """Lower `cf.cond_br` to `llvm.cond_br`."""
    return build.create(
        CondBrOp,
        condition=new.condition,
        true_operands=new.true_arguments,
        false_operands=new.false_arguments,
        branch_weights=op.branch_weights,
        successors=new.successors,
    )


@converts(SwitchOp)
def switch(op: SwitchOp, new: SwitchOp, build: ConversionBuilder) -> Result:
    """Lower `cf.switch` to `llvm.switch`."""
    sizes = [sum([len(build.values(value)) for value in case]) for case in op.cases]
    return build.create(
        LLVMSwitchOp,
        value=new.flag,
        default_operands=new.default_arguments,
        case_operands=new.case_arguments,
        case_values=op.case_values,
        case_segments=sizes,
        successors=new.successors,
    )


def _function_name(op: Operation) -> str:
    """Return the name of the function around an operation."""
    names = (symbol_name(outer) for outer in op.ancestors())
    return next((name for name in names if name is not None), "")


@converts(AssertOp)
def assertion(op: AssertOp, new: AssertOp, build: ConversionBuilder) -> Result:
    """Call `__assertfail` with message and source location if the condition is false."""
    if nearest_symbol_table(op) is None:
        return build.reject("expected a module around it for the string constants")
    failed = build.add_block()
    after = build.add_block(after=failed)
    build.create(CondBrOp, condition=new.condition, successors=[after, failed])
    location = source_location(op.location)
    file, line = ("unknown", 0) if location is None else (location.file, location.line)
    symbols = Symbols(op, build)
    with build.at(InsertPoint.at_end(failed)):
        message = symbols.text(".assert_msg", op.message)
        source = symbols.text(".assert_file", file)
        line_number = constant(build, line, I32)
        function = symbols.text(".assert_func", _function_name(op))
        width = constant(build, 1, I64)
        symbols.call("__assertfail", [message, source, line_number, function, width])
        build.create(BrOp, successors=[after])
    build.continue_in(after)
    return ()


@converts(UnreachableOp)
def unreachable(op: UnreachableOp, new: UnreachableOp, build: ConversionBuilder) -> Result:
    """Lower `ub.unreachable` to `llvm.unreachable`."""
    return build.create(LLVMUnreachableOp)


PATTERNS: Final[Patterns] = (branch, conditional, switch, assertion, unreachable)
