"""The errors that the PTX ISA manual documents for approximate instructions.

Each row names the section of the manual: those of `.f32` and `.f64` are below "Floating Point
Instructions", those of `.f16` and `.bf16` below "Half Precision Floating Point Instructions".
Errors are relative to the exact result. `ex2.approx.f32` is documented with respect to the
correctly rounded result, so that the same number of ulps of the exact one is a little stricter.
`rsqrt.approx.f64` is not here: the manual gives no error.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from tilewright.ptxsim.scalar_types import Array


class DocumentedError(NamedTuple):
    """A bound of the error, for magnitudes of the last operand from `least` to `largest`."""

    section: str
    ulps: float = 0
    relative: float = 0
    absolute: float = 0
    least: float = 0
    largest: float = math.inf

    def holds_for(self, operand: Array) -> Array:
        """Mask of the operands that the bound is documented for."""
        size = np.abs(operand)
        return (size >= self.least) & (size <= self.largest)


_ANGLES: Final = ((2.0**-20.5, 2 * math.pi), (2.0**-14.7, 100 * math.pi))
"""Absolute errors of `sin` and `cos`, and the largest angle of each."""

DOCUMENTED_ERRORS: Final[dict[str, tuple[DocumentedError, ...]]] = {
    "rcp.f32": (DocumentedError("rcp", ulps=1),),
    "div.approx.f32": (DocumentedError("div", ulps=2, least=2.0**-126, largest=2.0**126),),
    "div.full.f32": (DocumentedError("div", ulps=2),),
    "sqrt.f32": (DocumentedError("sqrt", relative=2.0**-23),),
    "rsqrt.f32": (DocumentedError("rsqrt", relative=2.0**-22.9),),
    "sin.f32": tuple(DocumentedError("sin", absolute=e, largest=most) for e, most in _ANGLES),
    "cos.f32": tuple(DocumentedError("cos", absolute=e, largest=most) for e, most in _ANGLES),
    "lg2.f32": (
        DocumentedError("lg2", absolute=2.0**-22, least=0.5, largest=2),
        DocumentedError("lg2", relative=2.0**-22),
    ),
    "ex2.f32": (DocumentedError("ex2", ulps=2),),
    "tanh.f32": (DocumentedError("tanh", relative=2.0**-11),),
    # No error is given, but a format: the upper 32 bits, of which the lowest is an ulp.
    "rcp.upper.f64": (DocumentedError("rcp.approx.ftz.f64", ulps=1),),
    "rsqrt.upper.f64": (DocumentedError("rsqrt.approx.ftz.f64", ulps=1),),
    "ex2.f16": (DocumentedError("ex2", relative=2.0**-9.9),),
    "ex2.bf16": (DocumentedError("ex2", relative=2.0**-7),),
    "tanh.f16": (DocumentedError("tanh", absolute=2.0**-10.987),),
    "tanh.bf16": (DocumentedError("tanh", absolute=2.0**-8),),
}
"""By instruction and type; of several rows, the first one that holds for the operand."""
