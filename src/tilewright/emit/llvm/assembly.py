"""Inline PTX of a program, and the check that LLVM accepts its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import types_of
from tilewright.dialects.llvm.types import StructType
from tilewright.emit.llvm.constants import escaped
from tilewright.emit.llvm.rows import register_letter
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from tilewright.dialects.llvm.calls import InlineAsmOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.attributes import Type


def is_known(constraints: str, outputs: tuple[Type, ...], inputs: tuple[Type, ...]) -> bool:
    """Whether constraints match the types: LLVM aborts on some mismatches."""
    parts = [part for part in constraints.split(",") if part and not part.startswith("~{")]
    wanted = [part.removeprefix("=").removeprefix("&") for part in parts if part.startswith("=")]
    given = [part for part in parts if not part.startswith("=")]
    if len(wanted) != len(outputs) or len(given) != len(inputs):
        return False
    try:
        letters = [register_letter(type) for type in outputs]
        if wanted != letters:
            return False
        pairs = zip(given, inputs, strict=True)
        return all(_fits(part, type, letters) for part, type in pairs)
    except InternalError:
        return False


def _fits(constraint: str, type: Type, outputs: list[str]) -> bool:
    letter = register_letter(type)
    if constraint.isdigit():
        return int(constraint) < len(outputs) and outputs[int(constraint)] == letter
    return constraint in (letter, "n")


def _outputs(op: InlineAsmOp) -> tuple[Type, ...]:
    """Return the types of the outputs; several are a struct."""
    types = types_of(op.outputs)
    if len(types) == 1 and isinstance(types[0], StructType):
        return types[0].elements
    return types


def emit_assembly(w: FunctionWriter, op: InlineAsmOp) -> None:
    """Emit inline PTX."""
    if not is_known(op.constraints, _outputs(op), types_of(op.args)):
        w.module.unproven.append(f"the constraints '{op.constraints}'")
    words = " sideeffect" if op.has_side_effects else ""
    words += " alignstack" if op.is_align_stack else ""
    text, constraints = escaped(op.asm_string), escaped(op.constraints)
    result = op.outputs[0] if op.outputs else None
    type = "void" if result is None else w.types[result.type]
    tail = " convergent nounwind" if op.convergent else " nounwind"
    arguments = ", ".join(w.all_typed(op.args))
    instruction = f'call {type} asm{words} "{text}", "{constraints}"({arguments}){tail}'
    if result is None:
        w.line(instruction)
    else:
        w.bind(result, instruction)
