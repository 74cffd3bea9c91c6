"""Emitters of global memory accesses with PTX cache and ordering modifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nvvm.access import PAIR, LoadGlobalOp, StoreGlobalOp
from tilewright.dialects.nvvm.attributes import AccessOrder, EvictionPriority
from tilewright.emit.llvm.rows import Assembly, Row, predicate
from tilewright.ir.types import I64

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.access import AccessOp
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.values import Value

_EVICTIONS: Final = {
    EvictionPriority.EVICT_FIRST: ".L1::evict_first",
    EvictionPriority.EVICT_LAST: ".L1::evict_last",
    EvictionPriority.EVICT_NORMAL: ".L1::evict_normal",
    EvictionPriority.EVICT_UNCHANGED: ".L1::evict_unchanged",
    EvictionPriority.NO_ALLOCATE: ".L1::no_allocate",
}


def _name(what: str, op: AccessOp) -> str:
    """`ld.relaxed.gpu.global.v2.b64`."""
    words = what
    if op.order is not AccessOrder.WEAK:
        words += f".{op.order.keyword}"
    if op.scope is not None:
        words += f".{op.scope.keyword}"
    words += ".global"
    if op.cache is not None:
        words += f".{op.cache.keyword}"
    if op.eviction is not None and op.order is AccessOrder.WEAK and op.cache is None:
        words += _EVICTIONS[op.eviction]
    return f"{words}.v2.b64" if op.bytes == 16 else f"{words}.b{op.bytes * 8}"


def _register_pair(w: FunctionWriter, pair: Value) -> list[str]:
    """Split a 16-byte value into two registers."""
    return [w.temporary(f"extractelement {w.typed(pair)}, i32 {half}") for half in range(2)]


def _load(w: FunctionWriter, op: LoadGlobalOp) -> None:
    wide = op.res.type is PAIR
    types = [I64, I64] if wide else [op.res.type]
    others: list[str] = []
    if op.other is not None:
        others = _register_pair(w, op.other) if wide else [w.names[op.other]]
    asm = Assembly(w)
    registers = [asm.output(type) for type in types]
    for number, (type, other) in enumerate(zip(types, others, strict=False)):
        asm.tied(type, other, number)
    target = f"{{{', '.join(registers)}}}" if wide else registers[0]
    address = asm.input(op.addr)
    guard = predicate(asm, op.predicate)
    text = f"{guard}{_name('ld', op)} {target}, [{address}{op.offset:+d}];"
    call = asm.call(text, convergent=False)
    if not wide:
        w.bind(op.res, call)
        return
    loaded, pair = w.temporary(call), w.types[PAIR]
    low, high = (w.temporary(f"extractvalue {{i64, i64}} {loaded}, {half}") for half in range(2))
    first = w.temporary(f"insertelement {pair} poison, i64 {low}, i32 0")
    w.bind(op.res, f"insertelement {pair} {first}, i64 {high}, i32 1")


def _store(w: FunctionWriter, op: StoreGlobalOp) -> None:
    wide = op.value.type is PAIR
    names = _register_pair(w, op.value) if wide else [w.names[op.value]]
    type = I64 if wide else op.value.type
    asm = Assembly(w)
    address = asm.input(op.addr)
    registers = [asm.named(type, name) for name in names]
    guard = predicate(asm, op.predicate)
    source = f"{{{', '.join(registers)}}}" if wide else registers[0]
    w.line(
        asm.call(f"{guard}{_name('st', op)} [{address}{op.offset:+d}], {source};", convergent=False)
    )


ACCESS_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    LoadGlobalOp: Row(_load),
    StoreGlobalOp: Row(_store),
}
