"""splat, make_range, splat constants."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import coordinate
from tilewright.conversion.nv_tileas_to_nvgpu.types import thread_bits
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import AddIOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas import shape
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.vector.shapes import BroadcastOp
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import I32, IntegerType, VectorType


@converts(shape.SplatOp)
def splat(op: shape.SplatOp, new: shape.SplatOp, build: ConversionBuilder) -> Result:
    """Broadcast the scalar to every register."""
    types = build.types.convert(op.result.type)
    return build.create(BroadcastOp, source=new.source, types=types)


@converts(shape.MakeRangeOp)
def make_range(op: shape.MakeRangeOp, new: shape.MakeRangeOp, build: ConversionBuilder) -> Result:
    """The thread's coordinates, plus the start of the range."""
    element = element_of(op.result.type)
    assert isinstance(element, IntegerType)
    at = coordinate(op, build, layout_of(op.result), 0, repeated=op.repeated)
    numbers = at.vector(build)
    count = numbers.type.shape if isinstance(numbers.type, VectorType) else ()
    type = VectorType(count, element)
    if element.width != I32.width:
        kind = TruncIOp if element.width < I32.width else ExtUIOp
        numbers = build.create(kind, source=numbers, types=[type]).result
    if not op.start:
        return numbers
    start = build.create(ConstantOp, value=literal([op.start], type), types=[type]).result
    return build.create(AddIOp, lhs=numbers, rhs=start)


@converts(ConstantOp)
def constant(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    """A splat constant of a tile is one of a vector."""
    if not isinstance(op.value, DenseElementsAttr) or not op.value.is_splat:
        return build.reject("expected a constant of equal elements")
    types = build.types.convert(op.result.type)
    if types is None:
        return build.reject("expected a tile with a layout")
    value = literal([thread_bits(op.value.elements()[0], op.result.type)], types[0])
    return build.create(ConstantOp, value=value, types=types)


PATTERNS: Final[Patterns] = (
    splat,
    make_range,
    constant,
)
