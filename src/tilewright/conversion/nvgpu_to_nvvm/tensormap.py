"""Updates of tensor maps on the device: `tensormap.replace` between acquire and release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.conversion.nvgpu_to_nvvm.tma import cluster_size, is_parameter
from tilewright.dialects.cute_nvgpu.attributes import Scope
from tilewright.dialects.cute_nvgpu.tensormap import TensorMapRebindOp
from tilewright.dialects.llvm.conversion import AddrSpaceCastOp
from tilewright.dialects.llvm.types import PTR_GLOBAL
from tilewright.dialects.nvgpu.constraints import bits_of
from tilewright.dialects.nvvm.attributes import MemScope, TensormapField
from tilewright.dialects.nvvm.sync import FenceProxyAcquireOp, FenceProxyReleaseOp
from tilewright.dialects.nvvm.tma import TensormapReplaceOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import BF16, F16, F32, F64, I32, TF32, IntegerType
from tilewright.support.tensor_map_parameters import MAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

_INTEGERS: Final = ("ui8", "ui16", "ui32", "i32", "ui64", "i64")
"""In the order of their encodings, the same in the driver and in PTX."""
_DRIVER_FLOATS: Final[Mapping[Type, int]] = {F16: 6, F32: 7, F64: 8, BF16: 9, TF32: 11}
_PTX_FLOATS: Final[Mapping[Type, int]] = {F16: 6, F32: 7, F64: 9, BF16: 10, TF32: 11}


def _element_number(element: Type, floats: Mapping[Type, int]) -> int | None:
    if element in floats:
        return floats[element]
    width = bits_of(element)
    signed = isinstance(element, IntegerType) and element.signedness != "u"
    # Signed and unsigned i8 and i16, and fp8, have one encoding.
    name = f"i{width}" if signed and width in (32, 64) else f"ui{width}"
    return _INTEGERS.index(name) if name in _INTEGERS else None


def driver_number(element: Type) -> int | None:
    """Return the driver's encoding of an element type, or `None`."""
    return _element_number(element, _DRIVER_FLOATS)


def ptx_number(element: Type) -> int | None:
    """Return `tensormap.replace`'s encoding of an element type, or `None`."""
    return _element_number(element, _PTX_FLOATS)


def replace_tensor(
    map: Value, address: Value, sizes: Sequence[Value], strides: Sequence[Value], build: Builder
) -> None:
    """Replace address, extents and strides of a map, innermost dimension first."""
    build.create(
        TensormapReplaceOp, addr=map, field=TensormapField.GLOBAL_ADDRESS, new_value=address
    )
    for field, values in (
        (TensormapField.GLOBAL_DIM, sizes),
        (TensormapField.GLOBAL_STRIDE, strides),
    ):
        for dimension, value in enumerate(values):
            build.create(TensormapReplaceOp, addr=map, field=field, new_value=value, ord=dimension)


@converts(TensorMapRebindOp)
def rebind(op: TensorMapRebindOp, new: TensorMapRebindOp, build: ConversionBuilder) -> Result:
    """Acquire the map, replace its fields, release it: no thread sees a partial update."""
    if is_parameter(op.tensor_map):
        return build.reject("expected a tensor map in global memory, got a parameter")
    if op.scope is Scope.CTA and (cluster_size(op) or 1) > 1:
        return build.reject("expected a scope of at least 'cluster' in a cluster, got 'cta'")
    scope = MemScope[op.scope.name]
    size = constant(build, MAP_BYTES, I32)
    build.create(FenceProxyAcquireOp, scope=scope, addr=new.tensor_map, size=size)
    map = build.create(AddrSpaceCastOp, arg=new.tensor_map, types=[PTR_GLOBAL]).res
    replace_tensor(map, new.address, new.sizes[::-1], new.strides[::-1], build)
    return build.create(FenceProxyReleaseOp, scope=scope)


PATTERNS: Final[Patterns] = (rebind,)
