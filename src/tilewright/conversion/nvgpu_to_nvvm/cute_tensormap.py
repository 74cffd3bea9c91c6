"""Tensor maps that a kernel encodes itself, and the slots in global memory that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer
from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.nvgpu_to_nvvm.tensormap import ptx_number, replace_tensor
from tilewright.dialects.cute_nvgpu import tensormap
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.attributes import AtomicBinOp, AtomicOrdering
from tilewright.dialects.llvm.conversion import AddrSpaceCastOp
from tilewright.dialects.llvm.memory import AtomicRMWOp, CmpXchgOp
from tilewright.dialects.llvm.types import PTR
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.dialects.nvvm.attributes import MemScope, TensormapField
from tilewright.dialects.nvvm.tma import TensormapCpFenceproxyOp, TensormapReplaceOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import DYNAMIC, I32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value

DEVICE: Final = "device"
"""LLVM's synchronization scope of all threads of a GPU."""


def _per_dimension(
    build: ConversionBuilder, map: Value, field: TensormapField, values: Sequence[Value]
) -> None:
    """Replace a field of all dimensions, innermost first."""
    for dimension, value in enumerate(values):
        build.create(TensormapReplaceOp, addr=map, new_value=value, field=field, ord=dimension)


@converts(tensormap.TensorMapFillOp)
def fill(
    op: tensormap.TensorMapFillOp, new: tensormap.TensorMapFillOp, build: ConversionBuilder
) -> Result:
    """Replace every field except the L2 promotion, which no instruction sets."""
    type = op.map
    assert isinstance(type, TensorMapDescriptorType)
    number = ptx_number(type.tensor.element)
    if number is None:
        return build.reject(f"expected a tensor map element type, got '{type.tensor.element}'")
    map = Buffer.of(op.storage, build).element_address(new.indices, build)
    shape = type.tensor.shape or ()
    dynamic = iter(new.box)
    box = [next(dynamic) if extent == DYNAMIC else constant(build, extent, I32) for extent in shape]
    one = constant(build, 1, I32)
    rank = constant(build, len(shape) - 1, I32)
    build.create(TensormapReplaceOp, addr=map, new_value=rank, field=TensormapField.RANK)
    replace_tensor(map, new.address, new.sizes[::-1], new.strides[::-1], build)
    _per_dimension(build, map, TensormapField.BOX_DIM, box[::-1])
    _per_dimension(build, map, TensormapField.ELEMENT_STRIDE, [one] * len(shape))
    for field, choice in (
        (TensormapField.ELEMTYPE, number),
        (TensormapField.INTERLEAVE_LAYOUT, type.interleave.value),
        (TensormapField.SWIZZLE_MODE, type.swizzle.value),
        (TensormapField.FILL_MODE, type.oob.value),
    ):
        build.create(TensormapReplaceOp, addr=map, field=field, choice=choice)
    return ()


@converts(tensormap.TensorMapPublishOp)
def publish(
    op: tensormap.TensorMapPublishOp, new: tensormap.TensorMapPublishOp, build: ConversionBuilder
) -> Result:
    """Lower to `tensormap.cp_fenceproxy`: copy the map to its slot and release it."""
    return build.create(
        TensormapCpFenceproxyOp,
        scope=MemScope[op.scope.name],
        dst=Buffer.of(op.slots, build).element_address(new.slot_indices, build),
        src=Buffer.of(op.storage, build).element_address(new.indices, build),
    )


@converts(tensormap.TensorMapAtOp)
def at(
    op: tensormap.TensorMapAtOp, new: tensormap.TensorMapAtOp, build: ConversionBuilder
) -> Result:
    """Lower to the generic address of a slot."""
    address = Buffer.of(op.slots, build).element_address(new.indices, build)
    return build.create(AddrSpaceCastOp, arg=address, types=[PTR])


def _lock(op: Any, new: Any, build: ConversionBuilder) -> Value:
    return Buffer.of(op.locks, build).element_address(new.indices, build)


@converts(tensormap.SlotAcquireOp)
def acquire(
    op: tensormap.SlotAcquireOp, new: tensormap.SlotAcquireOp, build: ConversionBuilder
) -> Result:
    """Try to take a free slot: `cmpxchg` its reference count from 0 to the number of users."""
    exchange = build.create(
        CmpXchgOp,
        ptr=_lock(op, new, build),
        cmp=constant(build, 0, I32),
        val=constant(build, op.users, I32),
        success_ordering=AtomicOrdering.ACQUIRE,
        failure_ordering=AtomicOrdering.ACQUIRE,
        syncscope=DEVICE,
    ).res
    return build.create(ExtractValueOp, container=exchange, position=[1])


@converts(tensormap.SlotReleaseOp)
def release(
    op: tensormap.SlotReleaseOp, new: tensormap.SlotReleaseOp, build: ConversionBuilder
) -> Result:
    """Decrement the reference count of a slot."""
    build.create(
        AtomicRMWOp,
        bin_op=AtomicBinOp.ADD,
        ptr=_lock(op, new, build),
        val=constant(build, -1, I32),
        ordering=AtomicOrdering.RELEASE,
        syncscope=DEVICE,
    )
    return ()


PATTERNS: Final[Patterns] = (fill, publish, at, acquire, release)
