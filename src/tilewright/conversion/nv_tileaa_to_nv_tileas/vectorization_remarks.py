"""Remarks on accesses with narrow vectors, and the fact that would allow wider ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.axis import AxisFacts
from tilewright.conversion.nv_tileaa_to_nv_tileas.vectorize import (
    Access,
    MissingFact,
    vector_limits,
    widest,
)
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.plans.accesses import accessed
from tilewright.support import remark_catalogue as catalogue
from tilewright.support.remarks import Remark
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.conversion.nv_tileaa_to_nv_tileas.layout_solver import LayoutAssignment
    from tilewright.conversion.nv_tileaa_to_nv_tileas.vectorize import VectorLimit
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.values import Value

PASS: Final = "convert-tileaa-to-tileas"

ENTRIES: Final = {
    MissingFact.WEAK: catalogue.VECTOR_ORDER,
    MissingFact.UNIT_STRIDE: catalogue.VECTOR_STRIDE,
    MissingFact.ALIGNMENT: catalogue.VECTOR_ALIGNMENT,
    MissingFact.INDEX: catalogue.VECTOR_DIVISIBILITY,
    MissingFact.STRIDE: catalogue.VECTOR_DIVISIBILITY,
    MissingFact.BOUNDS: catalogue.VECTOR_BOUNDS,
    MissingFact.CONTIGUITY: catalogue.VECTOR_CONTIGUITY,
    MissingFact.MASK: catalogue.VECTOR_MASK,
}
"""The remark on each fact."""


def vectorization_remarks(kernel: FuncOp, assignment: LayoutAssignment) -> Iterator[Remark]:
    """Report each fact without which the vectors of an access are narrower than they could be."""
    facts: AxisFacts | None = None
    for op, access in assignment.accesses.items():
        tile = accessed(op)
        if tile is None or not isinstance(op, Access):
            continue
        threads = assignment.warps * WARP_SIZE
        wanted = min(widest(tile, access.dim), count(tile.type) // threads)
        if access.vector >= wanted:
            continue
        facts = facts or AxisFacts(kernel)
        for limit in vector_limits(op, access.dim, facts):
            if limit.width < wanted:
                yield _remark(kernel, op, tile, access.vector, wanted, limit)


def _remark(
    kernel: FuncOp, op: Access, tile: Value, vector: int, wanted: int, limit: VectorLimit
) -> Remark:
    size = pointee_bytes(element_of(tile.type))
    verb = "Load" if op.results and tile in op.results else "Store"
    text = f"{verb} of {vector * size} bytes at a time instead of {wanted * size}"
    details = (("ElementsAtOnce", str(vector)), ("Possible", str(wanted)))
    return Remark(
        ENTRIES[limit.fact],
        text,
        PASS,
        kernel.sym_name,
        op.location,
        _reason(limit, wanted, size),
        details,
    )


def _reason(limit: VectorLimit, wanted: int, size: int) -> str:
    """The fact that is missing, with the number that would do."""
    match limit.fact:
        case MissingFact.WEAK:
            return "the access is not weak, or volatile"
        case MissingFact.UNIT_STRIDE:
            return f"dimension {limit.dim} is not known to have stride 1, or is gathered"
        case MissingFact.ALIGNMENT:
            return f"the address is not known to be a multiple of {wanted * size} bytes"
        case MissingFact.INDEX:
            return f"the first element along dimension {limit.dim} is {_unknown(wanted)}"
        case MissingFact.STRIDE:
            return f"the stride of dimension {limit.dim} is {_unknown(wanted)}"
        case MissingFact.BOUNDS:
            return f"the extent of dimension {limit.dim} is {_unknown(wanted)}"
        case MissingFact.CONTIGUITY:
            return f"only {limit.width} neighbouring pointers are known to be contiguous"
        case MissingFact.MASK:
            return f"the mask is known to be the same for {limit.width} neighbours only"


def _unknown(wanted: int) -> str:
    return f"not known to be a multiple of {wanted}"
