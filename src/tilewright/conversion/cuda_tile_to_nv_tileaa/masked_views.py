"""Part B: tile accesses with a mask, as accesses through the pointers to the tile's elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from tilewright.conversion.cuda_tile_to_nv_tileaa.memory import access_attributes
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import default_attributes
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.cuda_tile import view
from tilewright.dialects.nv_tileaa import integer, memory, shape
from tilewright.dialects.nv_tileaa.coordinates import (
    across_tile,
    coordinates,
    in_bounds,
    zero_extended,
)
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN, TiledViewType
from tilewright.dialects.nv_tileaa.view import padding_bits
from tilewright.ir.conversion import converts
from tilewright.ir.types import DYNAMIC, I64, TensorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import ConversionPattern, Result
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

_Access: TypeAlias = view.LoadViewTkoOp | view.StoreViewTkoOp

_OF_VIEWS: Final = ("in_bounds", "allow_tma")
"""The attributes that accesses through pointers do not have."""


class _Elements(NamedTuple):
    """The pointers to the elements of a tile, and which of them are accessed."""

    pointers: Value
    mask: Value


class _Axis(NamedTuple):
    """A dimension of a tile, and the extent and stride of the tensor along it, as i64."""

    number: int
    size: Value
    stride: Value


class _TileBuilder:
    """Builds the addresses of one tile."""

    __slots__ = ("_build", "_view")

    def __init__(self, view: TiledViewType, build: ConversionBuilder) -> None:
        self._view = view
        self._build = build

    def elements(self, new: _Access, tensor: view.MakeTensorViewOp) -> _Elements:
        """Return the elements that an access to a tile of a tensor reads or writes."""
        base, mask = self._build.value(tensor.base), new.mask
        assert mask is not None
        pointers = self._splat(base, TensorType(self._view.tile, base.type))
        build, view = self._build, self._view
        for axis, index in zip(self._axes(tensor), new.indices, strict=True):
            at = coordinates(build, view, axis.number, index)
            line = self._binary(integer.MulIOp, at, self._splat(axis.stride, at.type))
            offsets = across_tile(build, view, axis.number, line)
            pointers = build.create(memory.AddPtrOp, pointers=pointers, offsets=offsets).result
            if not new.inbounds[axis.number]:
                inside = across_tile(build, view, axis.number, in_bounds(build, at, axis.size))
                mask = self._binary(integer.AndIOp, mask, inside)
        return _Elements(pointers, mask)

    def padding(self) -> Value | None:
        """Return a tile of the padding value of the view, if it has one."""
        if self._view.padding is None:
            return None
        type = self._view.tile_type
        value = literal([padding_bits(self._view.padding, type.element)], type)
        return self._build.create(ConstantOp, value=value, types=[type]).result

    def _axes(self, made: view.MakeTensorViewOp) -> list[_Axis]:
        source, dims = self._view.source, self._view.dims
        sizes = self._numbers(source.shape, made.dynamic_shape)
        strides = self._numbers(source.strides, made.dynamic_strides)
        return [_Axis(number, sizes[dim], strides[dim]) for number, dim in enumerate(dims)]

    def _numbers(self, numbers: Sequence[int], dynamic: Sequence[Value]) -> list[Value]:
        rest = iter(dynamic)
        return [
            zero_extended(self._build, self._build.value(next(rest)))
            if number == DYNAMIC
            else self._i64(number)
            for number in numbers
        ]

    def _i64(self, number: int) -> Value:
        return self._build.create(ConstantOp, value=literal([number], I64), types=[I64]).result

    def _splat(self, scalar: Value, type: Type) -> Value:
        return self._build.create(shape.SplatOp, source=scalar, types=[type]).result

    def _binary(self, kind: type[Operation], lhs: Value, rhs: Value) -> Value:
        return self._build.create(kind, lhs=lhs, rhs=rhs).results[0]


def _tile(op: _Access, build: ConversionBuilder) -> tuple[_TileBuilder, view.MakeTensorViewOp]:
    """Return the builder for the tile of an access, and the tensor that it is in."""
    made = op.view.defined_by(view.MakeViewOp)
    tensor = None if made is None else made.tensor_view.defined_by(view.MakeTensorViewOp)
    # Regions cannot yield views, and views of other dialects cannot be converted.
    assert tensor is not None
    type = build.types.only[op.view.type]
    assert isinstance(type, TiledViewType)
    return _TileBuilder(type, build), tensor


def _attributes(op: _Access, kind: type[Operation], arch: str) -> dict[str, Attribute]:
    attributes = {**default_attributes(kind), **access_attributes(op, arch)}
    return {name: value for name, value in attributes.items() if name not in _OF_VIEWS}


def _load(arch: str) -> ConversionPattern:
    @converts(view.LoadViewTkoOp)
    def masked_load(
        op: view.LoadViewTkoOp, new: view.LoadViewTkoOp, build: ConversionBuilder
    ) -> Result:
        """Lower to `nv_tileaa.load`; elements that are not read are the padding of the view."""
        tile, tensor = _tile(op, build)
        elements, other = tile.elements(new, tensor), tile.padding()
        optional = [value for value in (other, new.token) if value is not None]
        types = build.types.convert_all([result.type for result in op.results])
        assert types is not None
        attributes = _attributes(op, memory.LoadOp, arch)
        segments = (1, 1, int(other is not None), int(new.token is not None))
        operands = (*elements, *optional)
        made = memory.LoadOp(operands, types, attributes, (), op.location, (), segments)
        return build.insert(made)

    return masked_load


def _store(arch: str) -> ConversionPattern:
    @converts(view.StoreViewTkoOp)
    def masked_store(
        op: view.StoreViewTkoOp, new: view.StoreViewTkoOp, build: ConversionBuilder
    ) -> Result:
        """Lower to `nv_tileaa.store`."""
        tile, tensor = _tile(op, build)
        pointers, mask = tile.elements(new, tensor)
        tokens = () if new.token is None else (new.token,)
        attributes = _attributes(op, memory.StoreOp, arch)
        segments = (1, 1, 1, len(tokens))
        operands = (pointers, new.tile, mask, *tokens)
        made = memory.StoreOp(operands, (MEM_TOKEN,), attributes, (), op.location, (), segments)
        return build.insert(made)

    return masked_store


def patterns(arch: str) -> tuple[ConversionPattern, ...]:
    """Return the patterns of masked loads and stores."""
    return (_load(arch), _store(arch))
