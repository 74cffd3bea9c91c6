"""Emitters of accesses of multimem addresses, for which LLVM has no intrinsics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nvvm.attributes import ReduxKind
from tilewright.dialects.nvvm.multimem import (
    WORDS,
    MultimemLoadReduceOp,
    MultimemReduceOp,
    MultimemStoreOp,
)
from tilewright.emit.llvm.rows import Assembly, Row, predicate
from tilewright.ir.types import BF16, F16, F32, F64, I32, I64
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.dialects.nvvm.multimem import MultimemOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

_FLOATS: Final[dict[Type, str]] = {F16: "f16x2", BF16: "bf16x2", F32: "f32", F64: "f64"}
_OPERATIONS: Final = {ReduxKind.UMIN: "min", ReduxKind.UMAX: "max"}
"""The operations of PTX, if not called like the kind: the type has the signedness."""
_SIGNED: Final = (ReduxKind.MIN, ReduxKind.MAX)
_BITWISE: Final = (ReduxKind.AND, ReduxKind.OR, ReduxKind.XOR)


def _head(what: str, op: MultimemOp) -> str:
    """`multimem.st.release.sys.global`."""
    scope = "" if op.scope is None else f".{op.scope.keyword}"
    return f"multimem.{what}.{op.order.keyword}{scope}.global"


def _reduction(kind: ReduxKind, element: Type, *, loads: bool) -> tuple[str, str]:
    """`.add.acc::f32` and `.f16x2`: the operation and the type; f16 and bf16 are added in f32."""
    name = f".{_OPERATIONS.get(kind, kind.keyword)}"
    if element in _FLOATS:
        narrow = loads and element in (F16, BF16) and kind is ReduxKind.ADD
        return f"{name}.acc::f32" if narrow else name, f".{_FLOATS[element]}"
    letter = "s" if kind in _SIGNED else "b" if kind in _BITWISE else "u"
    return name, f".{letter}{64 if element is I64 else 32}"


def _vector(count: int) -> str:
    return "" if count == 1 else f".v{count}"


def _braced(registers: list[str]) -> str:
    return registers[0] if len(registers) == 1 else f"{{{', '.join(registers)}}}"


def _words(w: FunctionWriter, value: Value) -> list[str]:
    """The registers of a value, by their names in LLVM IR."""
    count = WORDS[value.type]
    if count == 1:
        return [w.names[value]]
    return [w.temporary(f"extractelement {w.typed(value)}, i32 {n}") for n in range(count)]


def _load_reduce(w: FunctionWriter, op: MultimemLoadReduceOp) -> None:
    count = WORDS[op.res.type]
    register = I64 if op.res.type is I64 else I32
    others = [] if op.other is None else _words(w, op.other)
    asm = Assembly(w)
    registers = [asm.output(register) for _ in range(count)]
    for number, other in enumerate(others):
        asm.tied(register, other, number)
    address = asm.input(op.addr)
    guard = predicate(asm, op.predicate)
    operation, type = _reduction(op.kind, op.element, loads=True)
    name = f"{_head('ld_reduce', op)}{operation}{_vector(count)}{type}"
    text = f"{guard}{name} {_braced(registers)}, [{address}{op.offset:+d}];"
    call = asm.call(text, convergent=False)
    if count == 1:
        w.bind(op.res, call)
        return
    loaded, vector = w.temporary(call), w.types[op.res.type]
    struct = f"{{{', '.join(['i32'] * count)}}}"
    joined = "poison"
    for number in range(count):
        word = w.temporary(f"extractvalue {struct} {loaded}, {number}")
        insert = f"insertelement {vector} {joined}, i32 {word}, i32 {number}"
        if number == count - 1:
            w.bind(op.res, insert)
        else:
            joined = w.temporary(insert)


def _write(w: FunctionWriter, op: MultimemReduceOp | MultimemStoreOp, name: str) -> None:
    words = _words(w, op.value)
    register = I64 if op.value.type is I64 else I32
    asm = Assembly(w)
    address = asm.input(op.addr)
    registers = [asm.named(register, word) for word in words]
    guard = predicate(asm, op.predicate)
    text = f"{guard}{name} [{address}{op.offset:+d}], {_braced(registers)};"
    w.line(asm.call(text, convergent=False))


def _reduce(w: FunctionWriter, op: MultimemReduceOp) -> None:
    operation, type = _reduction(op.kind, op.element, loads=False)
    _write(w, op, f"{_head('red', op)}{operation}{_vector(WORDS[op.value.type])}{type}")


def _store(w: FunctionWriter, op: MultimemStoreOp) -> None:
    count = WORDS[op.value.type]
    # Only floats are stored in vectors; a store does not change their bits.
    type = ".f32" if count > 1 else ".b64" if op.value.type is I64 else ".b32"
    _write(w, op, f"{_head('st', op)}{_vector(count)}{type}")


MULTIMEM_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    MultimemLoadReduceOp: Row(_load_reduce, Feature.MULTIMEM),
    MultimemReduceOp: Row(_reduce, Feature.MULTIMEM),
    MultimemStoreOp: Row(_store, Feature.MULTIMEM),
}
