"""Part C: dots, reductions and scans.

Their operands must be values that parts A and B converted: a value of Tile IR after a cast has no
type of nv_tileaa to choose the form by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.attributes import converted
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import default_attributes
from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.dialects.cuda_tile import aggregate, mma
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.nv_tileaa import aggregate as new_aggregate
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.attributes import UNIT, IntegerAttr, StringAttr
from tilewright.ir.conversion import converts
from tilewright.ir.operation import Region
from tilewright.ir.types import F32, F64, I1

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import Result
    from tilewright.ir.operation import Operation

_DEFAULTS: Final = default_attributes(DotOp)
_SIDES: Final = {"signedness_lhs": "signedness_a", "signedness_rhs": "signedness_b"}


def _dot(
    op: mma.MmaOp, new: mma.MmaOp, attributes: dict[str, Attribute], build: ConversionBuilder
) -> Operation:
    operands = new.operands
    scales = len(operands) // 5
    attributes = {**_DEFAULTS, **attributes}
    types = (operands[2].type,)
    segments = (1, 1, 1, scales, scales)
    return build.insert(DotOp(operands, types, attributes, (), op.location, (), segments))


def _has_cast(new: Operation, build: ConversionBuilder) -> bool:
    """Reject an operand that is the cast of a value that no pattern converted."""
    if not any(value.defined_by(UnrealizedConversionCastOp) for value in new.operands):
        return False
    build.reject("expected operands that were converted, found an unrealized cast")
    return True


@converts(mma.MmaFOp, mma.MmaFScaledOp)
def mmaf(op: mma.MmaOp, new: mma.MmaOp, build: ConversionBuilder) -> Result:
    """Lower to a float `nv_tileaa.dot`; f32 and f64 have the input precision `ieee`."""
    if _has_cast(new, build):
        return None
    attributes = converted(op)
    is_full = tile(op.operands[0]).element in (F32, F64)
    attributes.setdefault("input_precision", StringAttr("ieee" if is_full else "tf32"))
    return _dot(op, new, attributes, build)


@converts(mma.MmaIOp)
def mmai(op: mma.MmaIOp, new: mma.MmaIOp, build: ConversionBuilder) -> Result:
    """Lower to an integer `nv_tileaa.dot`, with the signedness of A and B."""
    if _has_cast(new, build):
        return None
    return _dot(op, new, converted(op, _SIDES), build)


def _aggregate(
    kind: type[Operation],
    op: aggregate.AggregateOp,
    new: Operation,
    attributes: dict[str, Attribute],
    build: ConversionBuilder,
) -> Operation | None:
    if _has_cast(new, build):
        return None
    types = build.types.convert_all([result.type for result in op.results])
    if types is None:
        return build.reject("expected result types that can be converted")
    made = build.insert(kind(new.operands, types, attributes, [Region()], op.location))
    build.convert_region(op.body, made.regions[0])
    return made


@converts(aggregate.ReduceOp)
def reduce(op: aggregate.ReduceOp, new: aggregate.ReduceOp, build: ConversionBuilder) -> Result:
    """Lower to `nv_tileaa.reduce`, whose body takes scalars."""
    return _aggregate(new_aggregate.ReduceOp, op, new, converted(op, {"dim": "axis"}), build)


@converts(aggregate.ScanOp)
def scan(op: aggregate.ScanOp, new: aggregate.ScanOp, build: ConversionBuilder) -> Result:
    """Lower to `nv_tileaa.scan`, whose body takes scalars."""
    attributes = converted(op, {"dim": "axis"}, left_out=("reverse",))
    attributes.setdefault("inclusive", IntegerAttr(1, I1))
    if op.reverse:
        attributes["reverse"] = UNIT
    return _aggregate(new_aggregate.ScanOp, op, new, attributes, build)


PATTERNS: Final = (mmaf, mmai, reduce, scan)
