"""The Type section: types by index, decoded on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tilewright.bytecode.opcodes import TypeTag
from tilewright.bytecode.tables import OffsetTable, Pool
from tilewright.bytecode.varint import Buffer, Cursor
from tilewright.bytecode.versions import POINTER_OPTIONS, VIEW_OPTIONS, Version, spell
from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.types import (
    ELEMENT_SINCE,
    FNV8E5M3FNU,
    TOKEN,
    TYPE_SINCE,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    FunctionType,
)
from tilewright.support.diagnostics import InvalidValue

MAX_TYPE_NESTING: Final = 8
"""The nesting limit; a function type of tiles of pointers has nesting four."""

SIMPLE: Final[dict[int, Type]] = {
    TypeTag.I1: I1,
    TypeTag.I4: I4,
    TypeTag.I8: I8,
    TypeTag.I16: I16,
    TypeTag.I32: I32,
    TypeTag.I64: I64,
    TypeTag.F16: F16,
    TypeTag.BF16: BF16,
    TypeTag.F32: F32,
    TypeTag.TF32: TF32,
    TypeTag.F64: F64,
    TypeTag.F8E4M3FN: F8E4M3FN,
    TypeTag.F8E5M2: F8E5M2,
    TypeTag.F8E8M0FNU: F8E8M0FNU,
    TypeTag.F4E2M1FN: F4E2M1FN,
    TypeTag.FNV8E5M3FNU: FNV8E5M3FNU,
    TypeTag.TOKEN: TOKEN,
}
SHORT: Final = {tag: type for tag, type in SIMPLE.items() if tag < 0x80}
"""Types that are encoded as a one-byte tag."""
SIMPLE_TAGS: Final = {type: tag for tag, type in SIMPLE.items()}

PADDINGS: Final = {member.value: member for member in PaddingValue}
POINTER_ATTRIBUTES: Final = {member.value: member for member in PtrAttr}


def since(type: Type) -> Version | None:
    """Return the version that added a type; None for the first version."""
    return TYPE_SINCE.get(type.__class__) or ELEMENT_SINCE.get(type)


class TypeTable:
    """The types of a file."""

    __slots__ = ("_known", "_open", "short", "table", "version")

    def __init__(self, cursor: Cursor, version: Version) -> None:
        self.version = version
        self.table = OffsetTable(cursor, 4, "type")
        self._known: dict[int, Type] = {}
        self._open: list[int] = []
        self.short: dict[int, Type] = {}
        """Decoded types with a one-byte index."""

    def read(self, user: Cursor) -> Type:
        """Read a type index and return the type."""
        at = user.at
        index = user.varint()
        type = self._known.get(index)
        if type is None:
            type = self._known[index] = self._decode(index, user, at)
            if index < 0x80:
                self.short[index] = type
        return type

    def type(self, index: int) -> Type:
        """Return the type of an index."""
        return self._known.get(index) or self._decode(index, self.table.cursor, 0)

    def _decode(self, index: int, user: Cursor, at: int) -> Type:
        cursor = self.table.cursor
        start, stop = self.table.bounds(index, user, at)
        type = SHORT.get(cursor.data[start]) if start < stop else None
        if type is None:
            type = self._nested(index, user, at)
        added = since(type)
        if added is not None and added > self.version:
            cursor.fail(
                f"expected a type of version {spell(self.version)}, found '{type}', "
                f"which came with {spell(added)}",
                start,
            )
        return type

    def _nested(self, index: int, user: Cursor, at: int) -> Type:
        """Decode a type that may contain others."""
        if index in self._open:
            user.fail(f"expected types without cycles, found type {index} inside itself", at)
        if len(self._open) == MAX_TYPE_NESTING:
            user.fail(f"expected types nested at most {MAX_TYPE_NESTING} deep, found more", at)
        self._open.append(index)
        type = self.table.parse(index, user, at, self._parse)
        self._open.pop()
        return type

    def _parse(self, record: Cursor) -> Type:
        at = record.at
        tag = record.varint()
        if tag in SIMPLE:
            return SIMPLE[tag]
        parse = _PARSERS.get(tag)
        if parse is None:
            record.fail(f"expected the tag of a type, found {tag}", at)
        try:
            return parse(self, record)
        except InvalidValue as problem:
            record.fail(str(problem), at)

    def tensor_view(self, record: Cursor) -> TensorViewType:
        """Read the tensor view of a tile view."""
        at = record.at
        type = self.read(record)
        if not isinstance(type, TensorViewType):
            record.fail(f"expected a tensor_view in a view, found '{type}'", at)
        return type

    def value_types(self, record: Cursor, what: str) -> tuple[Type, ...]:
        """Read the parameter or result types of a function."""
        types = tuple([self.read(record) for _ in range(record.count(what))])
        if any(isinstance(type, FunctionType) for type in types):
            record.fail(f"expected values as {what}, found a function")
        return types


def _padding(record: Cursor, present: int) -> PaddingValue | None:
    if not present & 1:
        return None
    at = record.at
    number = record.varint()
    padding = PADDINGS.get(number)
    if padding is None:
        record.fail(f"expected a padding value below {len(PADDINGS)}, found {number}", at)
    return padding


def _pointer_attribute(record: Cursor, present: int) -> PtrAttr | None:
    if not present & 1:
        return None
    at = record.at
    number = record.varint()
    attribute = POINTER_ATTRIBUTES.get(number)
    if attribute is None:
        record.fail(f"expected a pointer attribute of 0, found {number}", at)
    return attribute


def _pointer(table: TypeTable, record: Cursor) -> Type:
    options = record.varint() if table.version >= POINTER_OPTIONS else 0
    pointee = table.read(record)
    return PtrType(pointee, _pointer_attribute(record, options))


def _tile(table: TypeTable, record: Cursor) -> Type:
    element = table.read(record)
    return TileType(record.words(8, "extents"), element)


def _tensor_view(table: TypeTable, record: Cursor) -> Type:
    options = record.varint() if table.version >= POINTER_OPTIONS else 0
    element = table.read(record)
    shape = record.words(8, "extents")
    strides = record.words(8, "strides")
    return TensorViewType(shape, element, strides, _pointer_attribute(record, options))


def _partition_view(table: TypeTable, record: Cursor) -> Type:
    options = record.varint() if table.version >= VIEW_OPTIONS else 0
    tile = record.words(4, "extents")
    tensor = table.tensor_view(record)
    dim_map = record.words(4, "dimensions")
    if table.version < VIEW_OPTIONS:
        options = record.byte()
        if options > 1:
            record.fail(f"expected 0 or 1 for the presence of padding, found {options}")
    return PartitionViewType(tile, tensor, dim_map, _padding(record, options))


def _gather_scatter_view(table: TypeTable, record: Cursor) -> Type:
    options = record.varint()
    tile = record.words(4, "extents")
    tensor = table.tensor_view(record)
    sparse_dim = record.varint()
    return GatherScatterViewType(tile, tensor, sparse_dim, _padding(record, options))


def _strided_view(table: TypeTable, record: Cursor) -> Type:
    options = record.varint()
    tile = record.words(4, "extents")
    strides = record.words(4, "traversal strides")
    tensor = table.tensor_view(record)
    dim_map = record.words(4, "dimensions")
    return StridedViewType(tile, strides, tensor, dim_map, _padding(record, options))


def _function(table: TypeTable, record: Cursor) -> Type:
    inputs = table.value_types(record, "parameters")
    return FunctionType(inputs, table.value_types(record, "results"))


_PARSERS: Final[dict[int, Callable[[TypeTable, Cursor], Type]]] = {
    TypeTag.POINTER: _pointer,
    TypeTag.TILE: _tile,
    TypeTag.TENSOR_VIEW: _tensor_view,
    TypeTag.PARTITION_VIEW: _partition_view,
    TypeTag.GATHER_SCATTER_VIEW: _gather_scatter_view,
    TypeTag.STRIDED_VIEW: _strided_view,
    TypeTag.FUNCTION: _function,
}


class TypePool(Pool[Type]):
    """The types to write, in dependence order."""

    __slots__ = ("version",)

    def __init__(self, version: Version) -> None:
        super().__init__()
        self.version = version

    def index(self, type: Type) -> int:
        """Return the index of a type; raises `InvalidValue` if it has no encoding."""
        known = self.indices.get(type)
        return self.add(type, self._record(type)) if known is None else known

    def _record(self, type: Type) -> bytes:
        record = Buffer()
        tag = SIMPLE_TAGS.get(type)
        if tag is not None:
            record.varint(tag)
        else:
            write = _WRITERS.get(type.__class__)
            if write is None:
                raise InvalidValue(f"type '{type}' has no form in bytecode")
            write(self, record, type)
        return bytes(record.out)

    def options(self, record: Buffer, member: PaddingValue | PtrAttr | None) -> None:
        """Write the presence bits before the parameters."""
        record.varint(member is not None)

    def option(self, record: Buffer, member: PaddingValue | PtrAttr | None) -> None:
        """Write the optional parameter at the end."""
        if member is not None:
            record.varint(member.value)

    def pointer_options(self, record: Buffer, type: PtrType | TensorViewType) -> None:
        """Write the presence bits of pointers and tensor views, added in a later version."""
        if self.version >= POINTER_OPTIONS:
            self.options(record, type.attr)


def _write_pointer(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, PtrType)
    pointee = pool.index(type.pointee)
    record.varint(TypeTag.POINTER)
    pool.pointer_options(record, type)
    record.varint(pointee)
    pool.option(record, type.attr)


def _write_tile(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, TileType)
    record.varint(TypeTag.TILE)
    record.varint(pool.index(type.element))
    record.words(type.shape, 8)


def _write_tensor_view(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, TensorViewType)
    record.varint(TypeTag.TENSOR_VIEW)
    pool.pointer_options(record, type)
    record.varint(pool.index(type.element))
    record.words(type.shape, 8)
    record.words(type.strides, 8)
    pool.option(record, type.attr)


def _write_partition_view(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, PartitionViewType)
    record.varint(TypeTag.PARTITION_VIEW)
    if pool.version >= VIEW_OPTIONS:
        pool.options(record, type.padding)
    record.words(type.tile_shape, 4)
    record.varint(pool.index(type.tensor_view))
    record.words(type.dim_map, 4)
    if pool.version < VIEW_OPTIONS:
        pool.options(record, type.padding)
    pool.option(record, type.padding)


def _write_gather_scatter_view(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, GatherScatterViewType)
    record.varint(TypeTag.GATHER_SCATTER_VIEW)
    pool.options(record, type.padding)
    record.words(type.tile_shape, 4)
    record.varint(pool.index(type.tensor_view))
    record.varint(type.sparse_dim)
    pool.option(record, type.padding)


def _write_strided_view(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, StridedViewType)
    record.varint(TypeTag.STRIDED_VIEW)
    pool.options(record, type.padding)
    record.words(type.tile_shape, 4)
    record.words(type.traversal_strides, 4)
    record.varint(pool.index(type.tensor_view))
    record.words(type.dim_map, 4)
    pool.option(record, type.padding)


def _write_function(pool: TypePool, record: Buffer, type: Type) -> None:
    assert isinstance(type, FunctionType)
    record.varint(TypeTag.FUNCTION)
    for group in (type.inputs, type.results):
        record.varint(len(group))
        for member in group:
            record.varint(pool.index(member))


_WRITERS: Final[dict[type[Type], Callable[[TypePool, Buffer, Type], None]]] = {
    PtrType: _write_pointer,
    TileType: _write_tile,
    TensorViewType: _write_tensor_view,
    PartitionViewType: _write_partition_view,
    GatherScatterViewType: _write_gather_scatter_view,
    StridedViewType: _write_strided_view,
    FunctionType: _write_function,
}
