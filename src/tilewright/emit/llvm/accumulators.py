"""Accumulators of inline PTX: registers that an instruction updates in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.llvm.aggregate import ShuffleVectorOp
from tilewright.dialects.llvm.types import StructType
from tilewright.dialects.nvvm.wgmma import TiedOp, WgmmaStepsOp
from tilewright.ir.types import F16, I32, VectorType
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.emit.llvm.rows import Assembly
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def registers_of(type: Type) -> tuple[Type, ...]:
    """Return the register types of an accumulator; f16 are packed in pairs."""
    match type:
        case StructType():
            return type.elements
        case VectorType(element=element):
            words = _words(type)
            return (words.element if element is F16 else element,) * words.shape[0]
        case _:
            raise InternalError(f"'{type}' is no accumulator")


def _words(type: Type) -> VectorType:
    """Return the vector type with one element per register."""
    assert isinstance(type, VectorType)
    return VectorType((type.shape[0] // 2,), I32) if type.element is F16 else type


def tie(asm: Assembly, w: FunctionWriter, accumulators: Sequence[Value]) -> list[str]:
    """Add accumulators as tied operands; return their register lists."""
    types = [registers_of(value.type) for value in accumulators]
    lists = [f"{{{', '.join([asm.output(type) for type in group])}}}" for group in types]
    index = 0
    for value, group in zip(accumulators, types, strict=True):
        for type, name in zip(group, _extract_registers(w, value), strict=True):
            asm.tied(type, name, index)
            index += 1
    return lists


def copied(
    asm: Assembly, w: FunctionWriter, accumulators: Sequence[Value]
) -> tuple[list[str], list[str]]:
    """Add accumulators as outputs; return their register lists and the movs that fill them."""
    types = [registers_of(value.type) for value in accumulators]
    names = [[asm.output(type, apart=True) for type in group] for group in types]
    movs: list[str] = []
    for value, group, outputs in zip(accumulators, types, names, strict=True):
        for type, part, output in zip(group, _extract_registers(w, value), outputs, strict=True):
            movs.append(f"mov.b32 {output}, {asm.named(type, part)};")
    return [f"{{{', '.join(group)}}}" for group in names], movs


def _extract_registers(w: FunctionWriter, value: Value) -> list[str]:
    """Extract the registers of an accumulator."""
    known = w.lanes.get(value)
    if known is not None:
        return known
    typed, count = w.typed(value), len(registers_of(value.type))
    if isinstance(value.type, StructType):
        return [w.temporary(f"extractvalue {typed}, {index}") for index in range(count)]
    words = _words(value.type)
    if words is not value.type:
        text = w.types[words]
        typed = f"{text} {w.temporary(f'bitcast {typed} to {text}')}"
    return [w.temporary(f"extractelement {typed}, i32 {index}") for index in range(count)]


def bind_tied(w: FunctionWriter, outputs: Sequence[Value], call: str) -> None:
    """Bind the results of inline PTX to the output accumulators."""
    if len(outputs) == 1 and isinstance(outputs[0].type, StructType):
        w.bind(outputs[0], call)
        return
    types = [type for output in outputs for type in registers_of(output.type)]
    whole = f"{w.types[StructType(tuple(types))]} {w.temporary(call)}"
    names = iter([w.temporary(f"extractvalue {whole}, {index}") for index in range(len(types))])
    for output in outputs:
        parts = [next(names) for _ in registers_of(output.type)]
        w.lanes[output] = parts
        if not all(_takes_registers(w, user) for user in output.users):
            _insert_registers(w, output, parts)


def _takes_registers(w: FunctionWriter, user: Operation) -> bool:
    if isinstance(user, ShuffleVectorOp):
        return takes_lanes(w, user)
    return isinstance(user, TiedOp | WgmmaStepsOp)


def takes_lanes(w: FunctionWriter, op: ShuffleVectorOp) -> bool:
    """Whether a shuffle picks known registers of a vector; LLVM is slow at shuffles."""
    lanes = w.lanes.get(op.v1)
    if lanes is None or op.v1.type is not _words(op.v1.type):
        return False
    return 0 <= min(op.mask) and max(op.mask) < len(lanes)


def bind_lanes(w: FunctionWriter, op: ShuffleVectorOp) -> None:
    """Build a vector from registers of another."""
    lanes = w.lanes[op.v1]
    _insert_registers(w, op.res, [lanes[index] for index in op.mask])


def _insert_registers(w: FunctionWriter, output: Value, parts: list[str]) -> None:
    """Assemble an accumulator, or a part of one, from registers."""
    type, registers = output.type, registers_of(output.type)
    insert, index_type = "insertvalue", ""
    if isinstance(type, VectorType):
        type, insert, index_type = _words(type), "insertelement", "i32 "
    text, built, last = w.types[type], "poison", len(parts) - 1
    for index, (part, register) in enumerate(zip(parts, registers, strict=True)):
        line = f"{insert} {text} {built}, {w.types[register]} {part}, {index_type}{index}"
        if index == last and type is output.type:
            w.bind(output, line)
            return
        built = w.temporary(line)
    w.bind(output, f"bitcast {text} {built} to {w.types[output.type]}")
