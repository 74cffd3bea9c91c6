"""Reductions, scans and generated tiles, with layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import aggregate as tileaa
from tilewright.dialects.nv_tileas.attributes import laid_out, layout_of
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR
from tilewright.ir.traits import TERMINATOR, HasParent

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


class YieldOp(tileaa.YieldOp):
    """Terminate the body of `reduce`, `scan` or `generate`, yielding its values."""

    name = "nv_tileas.yield"
    traits = (TERMINATOR, HasParent("nv_tileas.reduce", "nv_tileas.scan", "nv_tileas.generate"))


class ReduceOp(tileaa.ReduceOp):
    """Reduce all elements along an axis: in registers, then across lanes, then across warps.

    Every thread that held an element of a line holds the line's result.
    """

    name = "nv_tileas.reduce"
    traits = (*tileaa.ReduceOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)

    def combined(self, source: Type) -> Type:
        rest = layout_of(source).drop(self.axis).distinct_registers()
        return laid_out(element_of(source), rest) if rest.shape else element_of(source)

    def verify(self) -> Iterator[str]:
        wrong = list(LAID_OUT.verify(self))
        yield from wrong or super().verify()


class ScanOp(tileaa.ScanOp):
    """Combine each element with its prefix: in registers, across lanes, across warps."""

    name = "nv_tileas.scan"
    traits = (*tileaa.ScanOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


class GenerateOp(tileaa.GenerateOp):
    """Generate a tile by a body that computes each element from its indices."""

    name = "nv_tileas.generate"
    traits = (*tileaa.GenerateOp.traits, LAID_OUT)
