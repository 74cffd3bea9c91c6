"""Rows of the emission table: an intrinsic or inline PTX, and the required feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.llvm.types import PointerType, StructType
from tilewright.emit.llvm.constants import escaped
from tilewright.ir.types import FloatType, IntegerType, VectorType
from tilewright.support.diagnostics import InternalError
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.flags import FlagsAttr
    from tilewright.emit.llvm.function import Emit, FunctionWriter
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

Requires = Feature | Callable[[Any], Feature]
Arguments = Callable[["FunctionWriter", Any], Sequence[str]]


class Row:
    """How an operation is written, and what a target must have for it."""

    __slots__ = ("emit", "requires")

    def __init__(self, emit: Emit, requires: Requires = Feature.BASE) -> None:
        self.emit = emit
        self.requires = requires

    def feature(self, op: Any) -> Feature:
        """The features that the operation requires of a target."""
        requires = self.requires
        return requires if isinstance(requires, Feature) else requires(op)


def _all_operands(w: FunctionWriter, op: Any) -> Sequence[str]:
    return w.all_typed(op.operands)


def intrinsic(
    name: str | Callable[[Any], str],
    requires: Requires = Feature.BASE,
    arguments: Arguments = _all_operands,
) -> Row:
    """A call of `llvm.nvvm.NAME`, by default with all operands."""
    if isinstance(name, str):
        full = f"llvm.nvvm.{name}"

        def emit(w: FunctionWriter, op: Any) -> None:
            w.call(op, full, arguments(w, op))

        return Row(emit, requires)

    def emit_named(w: FunctionWriter, op: Any) -> None:
        w.call(op, f"llvm.nvvm.{name(op)}", arguments(w, op))

    return Row(emit_named, requires)


_BY_WIDTH: Final = {1: "b", 16: "h", 32: "r", 64: "l"}


def register_letter(type: Type) -> str:
    """The constraint of a value in assembly: the kind of register that holds it."""
    match type:
        case PointerType():
            return "l"
        case IntegerType() if type.width in _BY_WIDTH:
            return _BY_WIDTH[type.width]
        case FloatType(format="f32"):
            return "f"
        case FloatType(format="f64"):
            return "d"
        case FloatType(width=16):
            return "h"
        case VectorType(shape=(extent,)) if (bits := extent * _width(type.element)) in _BY_WIDTH:
            return _BY_WIDTH[bits]
        case _:
            raise InternalError(f"no register of PTX holds '{type}'")


def _width(type: Any) -> int:
    return type.width


_flag_texts: dict[FlagsAttr, str] = {}


def flags_text(flags: FlagsAttr) -> str:
    """Print the flags that are set, with a trailing space."""
    text = _flag_texts.get(flags)
    if text is None:
        text = f"{str(flags).replace(', ', ' ')} " if flags.bits else ""
        _flag_texts[flags] = text
    return text


def space_of(pointer: Value) -> int:
    """The address space that a pointer points into."""
    assert isinstance(pointer.type, PointerType)
    return pointer.type.space


class Assembly:
    """A piece of assembly: outputs and inputs are numbered as they are added, outputs first."""

    __slots__ = ("_arguments", "_constraints", "_outputs", "_w")

    def __init__(self, w: FunctionWriter) -> None:
        self._w = w
        self._outputs: list[Type] = []
        self._constraints: list[str] = []
        self._arguments: list[str] = []

    def output(self, type: Type, *, apart: bool = False) -> str:
        """A register that the assembly sets; all of them come before the inputs.

        One that is apart holds no input, since it is set before all of them are read.
        """
        assert not self._arguments
        self._outputs.append(type)
        self._constraints.append(f"={'&' * apart}{register_letter(type)}")
        return f"${len(self._constraints) - 1}"

    def input(self, value: Value) -> str:
        """A register that holds a value."""
        return self.named(value.type, self._w.names[value])

    def named(self, type: Type, name: str) -> str:
        """A register that holds something of LLVM IR by its name there."""
        self._arguments.append(f"{self._w.types[type]} {name}")
        self._constraints.append(register_letter(type))
        return f"${len(self._constraints) - 1}"

    def tied(self, type: Type, name: str, output: int) -> None:
        """The initial value of a register that the assembly sets."""
        self._arguments.append(f"{self._w.types[type]} {name}")
        self._constraints.append(str(output))

    def call(self, text: str, *, convergent: bool = True, memory: bool = True) -> str:
        """Emit the inline PTX; it clobbers memory by default."""
        outputs, types = self._outputs, self._w.types
        if len(outputs) > 1:
            type = types[StructType(tuple(outputs))]
        else:
            type = types[outputs[0]] if outputs else "void"
        constraints = ",".join([*self._constraints, *(["~{memory}"] if memory else [])])
        words = " sideeffect" if memory or convergent else ""
        tail = " convergent nounwind" if convergent else " nounwind"
        inside = ", ".join(self._arguments)
        return f'call {type} asm{words} "{escaped(text)}", "{constraints}"({inside}){tail}'


def predicate(asm: Assembly, value: Value | None) -> str:
    """`@$5 ` in front of an instruction that runs only where a value is true."""
    return "" if value is None else f"@{asm.input(value)} "


def optional(w: FunctionWriter, value: Value | None, type: str) -> tuple[str, str]:
    """Return an optional operand and the flag that says whether it is present."""
    if value is None:
        return f"{type} 0", "i1 false"
    return w.typed(value), "i1 true"
