"""Bytes and operations of a kernel, counted at nv_tileaa, and its position under the roofline."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of, extents_of, pointee_bytes
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.multimem import (
    MultimemLoadReduceOp,
    MultimemReduceOp,
    MultimemStoreOp,
)
from tilewright.dialects.nv_tileaa.view import TiledAtomicRmwOp, TileLoadOp, TileStoreOp
from tilewright.dialects.nv_tileas.matrix import dot_types
from tilewright.dialects.scf import ForOp
from tilewright.explain.report import Roofline, Work
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.rules import constant_of
from tilewright.target.rates import F32, peak_operations

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch

OPERATIONS: Final = {
    "addf": 1, "subf": 1, "mulf": 1, "divf": 1, "remf": 1, "maxf": 1, "minf": 1, "fma": 2,
    "exp": 1, "exp2": 1, "log": 1, "log2": 1, "sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1,
    "tan": 1, "tanh": 1, "sinh": 1, "cosh": 1, "fpowf": 1, "atan2": 1,
}  # fmt: skip
"""Operations on floats, by the mnemonic, for each element."""
FLOPS_PER_MMA: Final = 2


class _Counts:
    """What a region loads, stores and computes, without the loops inside of it."""

    def __init__(self) -> None:
        self.loads = 0
        self.stores = 0
        self.dots = 0
        self.dot_type = ""
        self.operations = 0

    def add(self, op: Operation) -> None:
        """Count one operation."""
        match op:
            case LoadOp():
                self.loads += _bytes(op.result.type)
            case TileLoadOp():
                self.loads += _bytes(op.tile.type)
            case StoreOp():
                self.stores += _bytes(op.value.type)
            case TileStoreOp() | TiledAtomicRmwOp():
                self.stores += _bytes(op.tile.type)
            case MultimemLoadReduceOp():
                self.loads += _bytes(op.tile.type)
            case MultimemReduceOp() | MultimemStoreOp():
                self.stores += _bytes(op.tile.type)
            case AtomicOp():
                self.stores += _bytes(op.result.type)
            case DotOp():
                types = dot_types(op)
                self.dot_type = types[0] if types else str(element_of(op.a.type))
                self.dots += FLOPS_PER_MMA * prod(shape(op.c.type)) * shape(op.a.type)[-1]
            case _ if op.name.endswith((".reduce", ".scan")):
                self.operations += sum(count(each.type) for each in op.operands)
            case _:
                weight = OPERATIONS.get(op.name.partition(".")[2], 0)
                is_tile = bool(weight and op.results and extents_of(op.results[0].type))
                self.operations += weight * count(op.results[0].type) if is_tile else 0


def _bytes(type: Type) -> int:
    return count(type) * pointee_bytes(element_of(type))


def work_of(function: FuncOp, positions: Positions) -> list[Work]:
    """What a block does outside of its loops, and what an iteration of each loop does."""
    rows: list[Work] = []
    _collect(function, "block", 0, positions, rows)
    return rows


def _collect(
    owner: Operation, what: str, nesting: int, positions: Positions, rows: list[Work]
) -> None:
    counts, loops = _Counts(), list[ForOp]()
    rest = [op for region in owner.regions for block in region.blocks for op in block]
    while rest:
        op = rest.pop(0)
        counts.add(op)
        if isinstance(op, ForOp):
            loops.append(op)
        elif not op.name.endswith((".reduce", ".scan")):
            rest[:0] = [each for region in op.regions for block in region.blocks for each in block]
    trips = _trips(owner) if isinstance(owner, ForOp) else 1
    rows.append(
        Work(
            what, nesting, trips, counts.loads, counts.stores, counts.dots, counts.dot_type,
            counts.operations, positions.first(owner.location),
        )
    )  # fmt: skip
    for loop in loops:
        _collect(loop, "iteration", nesting + 1, positions, rows)


def _trips(loop: ForOp) -> int:
    """The iterations of a loop with constant bounds; 0 if they are unknown."""
    start, end, step = map(_constant, (loop.lower_bound, loop.upper_bound, loop.step))
    if start is None or end is None or not step or step < 0:
        return 0
    return max(0, -(-(end - start) // step))


def _constant(value: Value) -> int | None:
    number = constant_of(value)
    return number.value if isinstance(number, IntegerAttr) else None


def roofline_of(work: list[Work], arch: Arch) -> Roofline | None:
    """The roofline position of the region that computes most; None for unknown GPUs.

    Every access counts as one of global memory: what caches keep between blocks raises the
    intensity, and is not known here.
    """
    peak = arch.peak
    regions = [each for each in work if each.loads + each.stores]
    if peak is None or not regions:
        return None
    # An unknown loop counts as one of many iterations.
    hottest = max(regions, key=lambda each: (each.dot_operations + each.operations, each.nesting))
    computed = hottest.dot_operations + hottest.operations
    intensity = computed / (hottest.loads + hottest.stores)
    kind = hottest.dot_type if hottest.dot_operations >= hottest.operations else F32
    rate = peak_operations(peak, kind or F32)
    ridge = rate * 1000 / peak.bandwidth
    attainable = min(rate, intensity * peak.bandwidth / 1000)
    limit = "memory" if intensity < ridge else "compute"
    return Roofline(
        peak.gpu, hottest.what, round(intensity, 2), round(ridge, 1), rate, peak.bandwidth,
        round(attainable, 2), limit,
    )  # fmt: skip
