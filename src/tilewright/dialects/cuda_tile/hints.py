"""Optimization hints: their values, and checks of them.

Checks are on request only: an invalid hint is ignored otherwise. A hint of fewer than four warps is
raised if the largest tile exceeds their registers (`worker_warps`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr
from tilewright.ir.types import I1
from tilewright.support.bits import is_power_of_two
from tilewright.target.arch import ARCHES, MAX_CLUSTER

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

DEFAULT: Final = "default"
"""The entry of architectures without an entry of their own."""

WARPS: Final = "num_worker_warps_per_cta"
FEWEST_WARPS: Final = 4
"""The warps of a block whose number is not relaxed."""
WORDS_PER_WARP: Final = 32 * 128
"""The largest tile that a warp holds: its threads have 255 registers, for operands as well."""
WORD_BITS: Final = 32
POINTER_BITS: Final = 64

_ENTRY_HINTS: Final = ("num_cta_in_cga", WARPS, "occupancy")
_VIEW_HINTS: Final = ("allow_tma", "latency")
HINTS: Final[dict[str, tuple[str, ...]]] = {
    "cuda_tile.entry": _ENTRY_HINTS,
    "cuda_tile.load_view_tko": _VIEW_HINTS,
    "cuda_tile.store_view_tko": _VIEW_HINTS,
    "cuda_tile.load_ptr_tko": ("latency",),
    "cuda_tile.store_ptr_tko": ("latency",),
}
"""The hints that each operation supports."""


def hint(hints: OptimizationHintsAttr | None, arch: str, name: str) -> int | None:
    """The value of a hint for an architecture, or `None` if absent or out of range."""
    value = _asked(hints, arch, name)
    if value is None or value_problem(name, value, arch) is not None:
        return None
    assert isinstance(value, IntegerAttr)
    return value.value


def worker_warps(entry: Operation, hints: OptimizationHintsAttr | None, arch: str) -> int | None:
    """The number of warps that the hints of a kernel ask for, or `None`.

    Fewer than four are more, up to four, where the largest tile exceeds their registers.
    """
    warps = hint(hints, arch, WARPS)
    if warps is None or warps >= FEWEST_WARPS:
        return warps
    largest = _largest_tile(entry)
    while warps < FEWEST_WARPS and largest > warps * WORDS_PER_WARP:
        warps *= 2
    return warps


def _largest_tile(entry: Operation) -> int:
    """The 32-bit words of the largest tile of a kernel."""
    types = {value.type for op in entry.walk() for value in op.results}
    return max([_words(type) for type in types if isinstance(type, TileType)], default=0)


def _words(type: TileType) -> int:
    return prod(type.shape) * getattr(type.element, "width", POINTER_BITS) // WORD_BITS


class UnmetHint(NamedTuple):
    """A hint that is not used as it is."""

    name: str
    reason: str
    asked: int | None = None
    accepted: int | None = None
    """The value that is used instead; None if the hint is ignored."""


def unmet_hints(op: Operation, arch: str) -> Iterator[UnmetHint]:
    """Each hint for an architecture that is not used as it is."""
    hints = op.attributes.get("optimization_hints")
    if not isinstance(hints, OptimizationHintsAttr):
        return
    for name in HINTS.get(op.name, ()):
        value = _asked(hints, arch, name)
        if value is None:
            continue
        problem = value_problem(name, value, arch)
        if problem is not None:
            yield UnmetHint(name, problem)
        elif name == "latency":
            yield UnmetHint(name, "pipelines choose how early they copy")
        elif name == WARPS and isinstance(value, IntegerAttr):
            warps = worker_warps(op, hints, arch)
            if warps != value.value:
                reason = f"the largest tile has {_largest_tile(op)} words"
                yield UnmetHint(name, reason, value.value, warps)


def _asked(hints: OptimizationHintsAttr | None, arch: str, name: str) -> Attribute | None:
    for key in (arch, DEFAULT):
        entry = hints.entries.get(key) if hints is not None else None
        value = entry.get(name) if isinstance(entry, DictionaryAttr) else None
        if value is not None:
            return value
    return None


def value_problem(name: str, value: Attribute, arch: str) -> str | None:
    """Check the value of a hint; returns an error message or `None`."""
    if name == "allow_tma":
        boolean = isinstance(value, IntegerAttr) and value.type is I1
        return None if boolean else "expected a boolean"
    if not isinstance(value, IntegerAttr) or value.type is I1:
        return "expected an integer"
    number = value.value
    target = ARCHES.get(arch)
    lacks_clusters = target is not None and target.cluster_problem is not None
    if name == "num_cta_in_cga" and lacks_clusters and number != 1:
        return f"expected 1, got {number}"
    most = {"latency": 10, "num_cta_in_cga": MAX_CLUSTER}.get(name, 32)
    if not 1 <= number <= most:
        return f"expected 1 to {most}, got {number}"
    if name in ("num_cta_in_cga", WARPS) and not is_power_of_two(number):
        return f"expected a power of two, got {number}"
    return None


def hint_problems(op: Operation) -> Iterator[str]:
    """Check the hints of an operation."""
    hints = op.attributes.get("optimization_hints")
    if not isinstance(hints, OptimizationHintsAttr):
        return
    allowed = HINTS.get(op.name, ())
    for arch, entry in hints.entries.entries:
        if arch != DEFAULT and arch not in ARCHES:
            yield f"unknown architecture '{arch}' in optimization hints"
            continue
        assert isinstance(entry, DictionaryAttr)
        for name, value in entry.entries:
            if name not in allowed:
                yield f"unknown optimization hint '{name}' for {arch}"
            elif (problem := value_problem(name, value, arch)) is not None:
                yield f"optimization hint '{name}' for {arch}: {problem}"
