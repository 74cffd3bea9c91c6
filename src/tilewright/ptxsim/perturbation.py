"""Other results of approximate instructions, within the error that PTX documents.

The emulator rounds the exact results of approximate instructions. A GPU does not, and GPUs differ:
a kernel that depends on more than the documented error is wrong on some of them. With a
perturbation, each result is moved within its bound, by a hash of the seed, the instruction and its
operands, so that equal operands have equal results, as on a GPU.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from tilewright.ptxsim.documented_errors import DOCUMENTED_ERRORS
from tilewright.ptxsim.scalar_types import Array


class Perturbation:
    """Replaces results of approximate instructions, by a seed."""

    __slots__ = ("_seed",)

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def move(
        self,
        name: str,
        results: Array,
        exact: Array,
        operands: Sequence[Array],
        precision: int,
        tiny: float,
    ) -> Array:
        """Replace results by numbers of `precision` bits within the error of an instruction.

        Results of zeros, infinities and NaNs stay, since the manual lists them; those that are not
        normal numbers are moved only by an absolute error.
        """
        bound, is_absolute = _bound(name, exact, operands, _ulp(exact, precision, tiny))
        # Rounding adds half an ulp.
        reach = np.maximum(bound - _ulp(np.abs(exact) + bound, precision, tiny) / 2, 0)
        moved = exact + self._fraction(name, operands) * reach
        step = _ulp(moved, precision, tiny)
        moved = np.rint(moved / step) * step
        is_normal = _is_normal(exact, tiny) & _is_normal(moved, tiny)
        may_move = np.isfinite(exact) & (is_normal | is_absolute) & (reach > 0)
        for operand in operands:
            may_move &= np.isfinite(operand) & (operand != 0)
        if name == "ex2.f32":
            # Not documented, but libdevice computes powers of two so, as in `tanh` of f64.
            may_move &= operands[0] != np.rint(operands[0])
        return np.where(may_move, moved, results)

    def _fraction(self, name: str, operands: Sequence[Array]) -> Array:
        """The part of its bound that each result is moved by: -1 or 1 for two of three operands."""
        state = np.array([zlib.crc32(f"{self._seed} {name}".encode())], np.uint64)
        for operand in operands:
            state = _mixed(state ^ np.ascontiguousarray(operand).view(np.uint64))
        uniform = (state >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.clip(6 * uniform - 3, -1, 1)


def _bound(
    name: str, exact: Array, operands: Sequence[Array], step: Array
) -> tuple[Array, Array | bool]:
    """The documented bound of each result, zero if there is none, and whether it is absolute."""
    rows = DOCUMENTED_ERRORS.get(name, ())
    masks = [row.holds_for(operands[-1]) for row in rows]
    bounds = [row.ulps * step + row.relative * np.abs(exact) + row.absolute for row in rows]
    bound = np.select(masks, bounds, 0.0) if rows else np.zeros_like(exact)
    is_absolute = np.select(masks, [row.absolute > 0 for row in rows], False) if rows else False
    return bound, is_absolute


def _ulp(numbers: Array, precision: int, tiny: float) -> Array:
    """The distance of adjacent numbers with `precision` bits."""
    size = np.where(np.isfinite(numbers), np.maximum(np.abs(numbers), tiny), 1.0)
    return np.ldexp(math.ldexp(1.0, -precision), np.frexp(size)[1])


def _is_normal(numbers: Array, tiny: float) -> Array:
    """Mask of the normal numbers of a type: the power of two above the largest is `4 / tiny`."""
    size = np.abs(numbers)
    return (size >= tiny) & (size < 4 / tiny)


def _mixed(state: Array) -> Array:
    """Mix the bits of 64-bit words (the finalizer of SplitMix64)."""
    for shift, odd in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(odd)
    return state ^ (state >> np.uint64(31))
