"""Part B: accesses of multimem addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.cuda_tile_to_nv_tileaa.memory import access_attributes
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import (
    default_attributes,
    result_types,
)
from tilewright.dialects.cuda_tile import multimem
from tilewright.dialects.cuda_tile.enums import MultimemReduction
from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.nv_tileaa import multimem as new_multimem
from tilewright.dialects.nv_tileaa.attributes import RmwMode
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilewright.dialects.cuda_tile.multimem import AnyMultimemOp
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.conversion_pattern import Result
    from tilewright.ir.operation import Operation

KINDS: Final[Mapping[type[Operation], type[Operation]]] = {
    multimem.MultimemLoadReduceViewTkoOp: new_multimem.MultimemLoadReduceOp,
    multimem.MultimemReduceViewTkoOp: new_multimem.MultimemReduceOp,
    multimem.MultimemStoreViewTkoOp: new_multimem.MultimemStoreOp,
}


def pattern(arch: str) -> ConversionPattern:
    """Lower to an access of nv_tileaa, with the tile as first operand like a store."""

    def lower(op: AnyMultimemOp, new: AnyMultimemOp, build: ConversionBuilder) -> Result:
        results = result_types(op, build.types)
        if results is None:
            return build.reject("expected results that can be converted")
        kind = KINDS[type(op)]
        tokens = () if new.token is None else (new.token,)
        stored = () if isinstance(new, multimem.MultimemLoadReduceViewTkoOp) else (new.tile,)
        operands = (*stored, new.view, *new.indices, *tokens)
        segments = (*[1] * len(stored), 1, len(new.indices), len(tokens))
        attributes = {**default_attributes(kind), **_attributes(op, arch)}
        return build.insert(kind(operands, results, attributes, (), op.location, (), segments))

    return ConversionPattern(tuple(KINDS), lower, "multimem access")


def _attributes(op: AnyMultimemOp, arch: str) -> dict[str, Attribute]:
    attributes = access_attributes(op, arch)
    if not any(op.inbounds):
        del attributes["in_bounds"]
    reduction = attributes.pop("reduction", None)
    if isinstance(reduction, MultimemReduction):
        is_float = isinstance(tile(op.tile).element, FloatType)
        adds_floats = is_float and reduction is MultimemReduction.ADD
        attributes["rmw_mode"] = RmwMode.ADDF if adds_floats else RmwMode[reduction.name]
    return attributes
