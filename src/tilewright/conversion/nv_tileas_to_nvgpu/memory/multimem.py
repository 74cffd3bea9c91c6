"""Accesses of multimem addresses: every thread accesses its elements in registers of PTX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import ordering_attributes
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import tile_accesses
from tilewright.conversion.nv_tileas_to_nvgpu.memory.views import padding_bits
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import from_words, to_words
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of, pointee_bytes, width_of
from tilewright.dialects.nv_tileaa.multimem import MULTIMEM_WORD, reduction_of
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas import multimem
from tilewright.dialects.nvvm import multimem as nvvm
from tilewright.dialects.nvvm.attributes import ReduxKind
from tilewright.dialects.vector.elements import FromElementsOp, ToElementsOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I4, I32, I64, VectorType
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value


def _registers(op: AnyMultimemOp, vector: int) -> tuple[int, int]:
    """The bytes of a register, and the number of registers of an access."""
    if width_of(op.tile.type) == I4.width:
        raise Unsupported("multimem access of elements of 4 bits", op.location)
    size = pointee_bytes(element_of(op.tile.type))
    if size * vector < MULTIMEM_WORD:
        raise Unsupported(
            f"multimem access of {size * vector} bytes: expected {MULTIMEM_WORD} or more, with "
            "neighbours that are contiguous, aligned and in bounds together",
            op.location,
        )
    word = size if size > MULTIMEM_WORD else MULTIMEM_WORD
    return word, size * vector // word


def _accessed_type(word: int, count: int) -> Type:
    register = I64 if word > MULTIMEM_WORD else I32
    return register if count == 1 else VectorType((count,), register)


def _joined(build: Builder, words: Sequence[Value], type: Type) -> Value:
    if not isinstance(type, VectorType):
        return words[0]
    return build.create(FromElementsOp, elements=words, types=[type]).result


def _split(build: Builder, value: Value) -> Sequence[Value]:
    if not isinstance(value.type, VectorType):
        return (value,)
    types = [value.type.element] * value.type.shape[0]
    return build.create(ToElementsOp, source=value, types=types).elements


def _reduction(op: multimem.MultimemLoadReduceOp | multimem.MultimemReduceOp) -> dict[str, Any]:
    kind = ReduxKind[reduction_of(op.mode).upper()]
    return {"kind": kind, "element": element_of(op.tile.type)}


@converts(multimem.MultimemLoadReduceOp)
def multimem_load_reduce(
    op: multimem.MultimemLoadReduceOp,
    new: multimem.MultimemLoadReduceOp,
    build: ConversionBuilder,
) -> Result:
    """Every thread loads its registers; elements out of bounds are padding."""
    (type,) = build.types.convert(op.tile.type) or (I64,)
    assert isinstance(type, VectorType)
    word, count = _registers(op, op.vector)
    accessed = _accessed_type(word, count)
    padding = tiled_view(op.view).padding
    bits = 0 if padding is None else padding_bits(padding, type.element)
    filled = build.create(ConstantOp, value=literal([bits], type), types=[type]).result
    others = to_words(build, filled, word)
    words: list[Value] = []
    accesses = tile_accesses(op, build, op.view, op.indices, op.tile, op.vector)
    for number, access in enumerate(accesses):
        other = others[number * count : (number + 1) * count]
        loaded = build.create(
            nvvm.MultimemLoadReduceOp,
            addr=global_pointer(build, access.address),
            predicate=access.predicate,
            other=None if access.predicate is None else _joined(build, other, accessed),
            offset=access.offset,
            types=[accessed],
            **_reduction(op),
            **ordering_attributes(op),
        ).res
        words += _split(build, loaded)
    return [from_words(build, words, type), ()]


@converts(multimem.MultimemReduceOp)
def multimem_reduce(
    op: multimem.MultimemReduceOp, new: multimem.MultimemReduceOp, build: ConversionBuilder
) -> Result:
    """The owner of each element updates it once, if it is in bounds."""
    word, count = _registers(op, op.vector)
    _write(op, new.tile, build, nvvm.MultimemReduceOp, word, count, _reduction(op))
    return [()]


@converts(multimem.MultimemStoreOp)
def multimem_store(
    op: multimem.MultimemStoreOp, new: multimem.MultimemStoreOp, build: ConversionBuilder
) -> Result:
    """The owner of each element stores it, if it is in bounds."""
    word, count = _registers(op, op.vector)
    # Vectors are of words.
    word, count = (MULTIMEM_WORD, word * count // MULTIMEM_WORD) if count > 1 else (word, count)
    _write(op, new.tile, build, nvvm.MultimemStoreOp, word, count, {})
    return [()]


def _write(
    op: multimem.MultimemReduceOp | multimem.MultimemStoreOp,
    tile: Value,
    build: ConversionBuilder,
    kind: type[nvvm.MultimemReduceOp] | type[nvvm.MultimemStoreOp],
    word: int,
    count: int,
    attributes: dict[str, Any],
) -> None:
    """Create an access for every `count` words of a tile."""
    active = is_owner(op, build, op.tile)
    words, accessed = to_words(build, tile, word), _accessed_type(word, count)
    accesses = tile_accesses(op, build, op.view, op.indices, op.tile, op.vector, active)
    for number, access in enumerate(accesses):
        build.create(
            kind,
            addr=global_pointer(build, access.address),
            value=_joined(build, words[number * count : (number + 1) * count], accessed),
            predicate=access.predicate,
            offset=access.offset,
            **attributes,
            **ordering_attributes(op),
        )


PATTERNS: Final[Patterns] = (multimem_load_reduce, multimem_reduce, multimem_store)
