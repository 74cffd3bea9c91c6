"""Rows of tensor copies and of the tensor maps that describe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.dialects.llvm.attribute_names import BYVAL
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.llvm.memory import AllocaOp
from tilewright.dialects.llvm.types import PTR, PTR_CLUSTER
from tilewright.dialects.nvvm import copy, tma
from tilewright.dialects.nvvm.attribute_names import GRID_CONSTANT
from tilewright.dialects.nvvm.attributes import CTAGroup, TensormapField, TMALoadMode, TMAStoreMode
from tilewright.emit.llvm.rows import Assembly, Row, optional, predicate, space_of
from tilewright.ir.values import BlockArgument
from tilewright.support.diagnostics import fail
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from tilewright.dialects.nvvm.base import NvvmOp
    from tilewright.emit.llvm.function import FunctionWriter
    from tilewright.ir.values import Value

TMA: Final = Feature.TMA
PARAMETERS: Final = 101
"""The address space of the parameters of a kernel."""


def _generic(w: FunctionWriter, value: Value) -> str:
    """The typed name of a pointer that may be in any space."""
    if value.type is PTR:
        return w.typed(value)
    return f"ptr {w.temporary(f'addrspacecast {w.typed(value)} to ptr')}"


def _check_map(value: Value) -> None:
    """Refuse a tensor map that copies would not find in place."""
    made = value.defining_op()
    if isinstance(made, AllocaOp):
        fail(
            "expected a tensor map in global memory or among the parameters of a kernel, got one "
            "on the stack, where copies cannot read it",
            made.location,
        )
    function = value.parent_block.parent_op if isinstance(value, BlockArgument) else None
    if isinstance(function, FuncOp) and value.parent_block is function.body.blocks[0]:
        given = function.argument_attributes(value.index)
        if given.get(BYVAL) is not None and given.get(GRID_CONSTANT) is None:
            fail(
                f"argument #{value.index} is a tensor map passed by value: expected "
                "'nvvm.grid_constant', without which each thread gets a copy in local memory",
                function.location,
            )


def _map(w: FunctionWriter, value: Value) -> str:
    """The typed name of the address of a tensor map."""
    _check_map(value)
    return _generic(w, value)


def _cluster(w: FunctionWriter, value: Value) -> str:
    """The typed name of a pointer into the shared memory of the cluster.

    A cast would go by way of a generic address; the number is the same.
    """
    if value.type is PTR_CLUSTER:
        return w.typed(value)
    number = w.temporary(f"ptrtoint {w.typed(value)} to i64")
    return f"ptr addrspace(7) {w.temporary(f'inttoptr i64 {number} to ptr addrspace(7)')}"


def prefetch_map(w: FunctionWriter, op: copy.PrefetchOp) -> None:
    """Bring a tensor map near, before copies read it."""
    _check_map(op.addr)
    if op.predicate is not None:
        asm = Assembly(w)
        addr = asm.input(op.addr)
        guard = predicate(asm, op.predicate)
        w.line(asm.call(f"{guard}prefetch.tensormap [{addr}];", convergent=False))
        return
    pointer, space = _generic(w, op.addr), 0
    if op.in_param_space:
        # By a generic address LLVM would write the prefetch twice.
        cast = f"addrspacecast {pointer} to ptr addrspace({PARAMETERS})"
        pointer, space = f"ptr addrspace({PARAMETERS}) {w.temporary(cast)}", PARAMETERS
    w.line(f"call void @llvm.nvvm.prefetch.tensormap.p{space}({pointer})")


_LOAD_MODES: Final = {
    TMALoadMode.TILE: "tile",
    TMALoadMode.IM2COL: "im2col",
    TMALoadMode.IM2COL_W: "im2col.w",
    TMALoadMode.IM2COL_W_128: "im2col.w.128",
    TMALoadMode.TILE_GATHER4: "tile.gather4",
}
_STORE_MODES: Final = {
    TMAStoreMode.TILE: "tile",
    TMAStoreMode.IM2COL: "im2col",
    TMAStoreMode.TILE_SCATTER4: "tile.scatter4",
}
_GROUPS: Final = {None: 0, CTAGroup.CTA_1: 1, CTAGroup.CTA_2: 2}


def _load(w: FunctionWriter, op: tma.TensorLoadOp) -> None:
    if op.predicate is not None:
        _guarded_load(w, op)
        return
    hint, has_hint = optional(w, op.l2_cache_hint, "i64")
    box = w.all_typed((*op.coordinates, *op.im2col_offsets))
    shape = f"{_LOAD_MODES[op.mode]}.{op.rank}d"
    bar, source = w.typed(op.mbar), _map(w, op.tma_descriptor)
    name = "llvm.nvvm.cp.async.bulk.tensor.g2s"
    if op.cta_only:
        arguments = [w.typed(op.dst_mem), bar, source, *box, hint, has_hint]
        w.line(f"call void @{name}.cta.{shape}({', '.join(arguments)})")
        return
    mask, has_mask = optional(w, op.multicast_mask, "i16")
    target = _cluster(w, op.dst_mem)
    flags = [mask, hint, has_mask, has_hint, f"i32 {_GROUPS[op.group]}"]
    w.line(f"call void @{name}.{shape}({', '.join([target, bar, source, *box, *flags])})")


_PTX_LOAD_MODES: Final = {
    TMALoadMode.TILE: "tile",
    TMALoadMode.IM2COL: "im2col",
    TMALoadMode.IM2COL_W: "im2col::w",
    TMALoadMode.IM2COL_W_128: "im2col::w::128",
    TMALoadMode.TILE_GATHER4: "tile::gather4",
}


def _guarded_load(w: FunctionWriter, op: tma.TensorLoadOp) -> None:
    _check_map(op.tma_descriptor)
    asm = Assembly(w)
    target = asm.input(op.dst_mem)
    source = asm.input(op.tma_descriptor)
    box = ", ".join([asm.input(value) for value in op.coordinates])
    bar = asm.input(op.mbar)
    offsets = ", ".join([asm.input(value) for value in op.im2col_offsets])
    extra = [f"{{{offsets}}}"] if offsets else []
    name = f"cp.async.bulk.tensor.{op.rank}d.shared::{'cta' if op.cta_only else 'cluster'}.global"
    name += f".{_PTX_LOAD_MODES[op.mode]}.mbarrier::complete_tx::bytes"
    if op.multicast_mask is not None:
        name += ".multicast::cluster"
        extra.append(asm.input(op.multicast_mask))
    if op.group is not None:
        name += f".cta_group::{_GROUPS[op.group]}"
    if op.l2_cache_hint is not None:
        name += ".L2::cache_hint"
        extra.append(asm.input(op.l2_cache_hint))
    guard = predicate(asm, op.predicate)
    tail = "".join([f", {each}" for each in extra])
    w.line(asm.call(f"{guard}{name} [{target}], [{source}, {{{box}}}], [{bar}]{tail};"))


def _load_feature(op: tma.TensorLoadOp | tma.TensorPrefetchOp) -> Feature:
    extended = op.mode not in (TMALoadMode.TILE, TMALoadMode.IM2COL)
    return Feature.TMA_EXTENDED if extended or getattr(op, "group", None) else TMA


def _store(w: FunctionWriter, op: tma.TensorStoreOp) -> None:
    if op.predicate is not None:
        _guarded_store(w, op)
        return
    box = w.all_typed(op.coordinates)
    hint = optional(w, op.l2_cache_hint, "i64")
    name = f"llvm.nvvm.cp.async.bulk.tensor.s2g.{_STORE_MODES[op.mode]}.{op.rank}d"
    arguments = [w.typed(op.src_mem), _map(w, op.tma_descriptor), *box, *hint]
    w.line(f"call void @{name}({', '.join(arguments)})")


def _guarded_store(w: FunctionWriter, op: tma.TensorStoreOp) -> None:
    _check_map(op.tma_descriptor)
    mode = {TMAStoreMode.IM2COL: "im2col_no_offs", TMAStoreMode.TILE_SCATTER4: "tile::scatter4"}
    asm = Assembly(w)
    target = asm.input(op.tma_descriptor)
    box = ", ".join([asm.input(value) for value in op.coordinates])
    source = asm.input(op.src_mem)
    name = f"cp.async.bulk.tensor.{op.rank}d.global.shared::cta.{mode.get(op.mode, 'tile')}"
    name += ".bulk_group"
    tail = ""
    if op.l2_cache_hint is not None:
        name += ".L2::cache_hint"
        tail = f", {asm.input(op.l2_cache_hint)}"
    guard = predicate(asm, op.predicate)
    w.line(asm.call(f"{guard}{name} [{target}, {{{box}}}], [{source}]{tail};"))


def _store_feature(op: tma.TensorStoreOp) -> Feature:
    return Feature.TMA_EXTENDED if op.mode is TMAStoreMode.TILE_SCATTER4 else TMA


def _reduce(w: FunctionWriter, op: tma.TensorReduceOp) -> None:
    mode = f"{op.red_kind.keyword}.{_STORE_MODES[op.mode]}.{op.rank}d"
    box = w.all_typed(op.coordinates)
    hint = optional(w, op.l2_cache_hint, "i64")
    arguments = [w.typed(op.src_mem), _map(w, op.tma_descriptor), *box, *hint]
    w.line(f"call void @llvm.nvvm.cp.async.bulk.tensor.reduce.{mode}({', '.join(arguments)})")


def _prefetch_box(w: FunctionWriter, op: tma.TensorPrefetchOp) -> None:
    box = w.all_typed((*op.coordinates, *op.im2col_offsets))
    hint = optional(w, op.l2_cache_hint, "i64")
    name = f"llvm.nvvm.cp.async.bulk.tensor.prefetch.{_LOAD_MODES[op.mode]}.{op.rank}d"
    arguments = [_map(w, op.tma_descriptor), *box, *hint]
    w.line(f"call void @{name}({', '.join(arguments)})")


def _replace(w: FunctionWriter, op: tma.TensormapReplaceOp) -> None:
    field = op.field.keyword.replace("_", ".")
    space = space_of(op.addr)
    arguments = [w.typed(op.addr)]
    arguments += [f"i32 {op.ord}"] if op.ord is not None else []
    arguments += [w.typed(op.new_value)] if op.new_value is not None else [f"i32 {op.choice}"]
    name = f"llvm.nvvm.tensormap.replace.{field}.p{space}"
    w.line(f"call void @{name}({', '.join(arguments)})")


_PACKED_TYPES: Final = 13
"""The first number of those element types that are 4 or 6 bits wide."""


def _replace_feature(op: tma.TensormapReplaceOp) -> Feature:
    """Newer GPUs have one field more, and more types."""
    is_packed = op.field is TensormapField.ELEMTYPE and (op.choice or 0) >= _PACKED_TYPES
    if is_packed or op.field is TensormapField.SWIZZLE_ATOMICITY:
        return Feature.TENSORMAP_FIELDS
    return TMA


def _cp_fenceproxy(w: FunctionWriter, op: tma.TensormapCpFenceproxyOp) -> None:
    asm = Assembly(w)
    target, source = asm.input(op.dst), asm.input(op.src)
    name = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
    w.line(asm.call(f"{name}.{op.scope.keyword}.sync.aligned [{target}], [{source}], 128;"))


TMA_ROWS: Final[Mapping[type[NvvmOp], Row]] = {
    tma.TensorLoadOp: Row(_load, _load_feature),
    tma.TensorStoreOp: Row(_store, _store_feature),
    tma.TensorReduceOp: Row(_reduce, TMA),
    tma.TensorPrefetchOp: Row(_prefetch_box, _load_feature),
    tma.TensormapReplaceOp: Row(_replace, _replace_feature),
    tma.TensormapCpFenceproxyOp: Row(_cp_fenceproxy, TMA),
}
