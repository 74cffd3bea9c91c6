"""Warp-level exchange: shuffle, vote, match, redux, elect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.operation import Operation, Write
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Pair
from tilewright.ptxsim.warps import WarpTable, gather, members, whole_warps

_B32: Final = SCALAR_TYPES["b32"]
_PREDICATE: Final = SCALAR_TYPES["pred"]
_LANES: Final = np.arange(WARP, dtype=np.int64)


def _results(op: Operation) -> tuple[Write, Write | None]:
    """Writers of `d` and, for a `d|p` operand, of `p`."""
    operand = op.operand(0)
    if isinstance(operand, Pair):
        return op.write(operand.first, _B32), op.write(operand.second, _PREDICATE)
    return op.write(operand, _B32), None


# Lane and operand b, as bits 4:0, to the source and to whether it is in range of (least, most).
_SOURCES: Final[dict[str, Callable[[Array, Array, Array, Array], tuple[Array, Array]]]] = {
    "up": lambda b, least, most, keep: (_LANES - b, _LANES - b >= most),
    "down": lambda b, least, most, keep: (_LANES + b, _LANES + b <= most),
    "bfly": lambda b, least, most, keep: (_LANES ^ b, (_LANES ^ b) <= most),
    "idx": lambda b, least, most, keep: (least | (b & ~keep), (least | (b & ~keep)) <= most),
}


@instruction("shfl.sync", blocks=True)
def shuffle(op: Operation) -> Run:
    """`shfl.sync.mode d|p, a, b, c, mask`: the value of another lane of the same segment."""
    mode = op.choice(*_SOURCES)
    if mode is None:
        op.fail("expected a mode")
    op.ignore("b32")
    source_of = _SOURCES[mode]
    write, write_predicate = _results(op)
    value, b, c, mask = (op.read(at, _B32) for at in range(1, 5))
    site = op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        warps = WarpTable(lanes)
        clamp = warps.table(c(lanes)).astype(np.int64)
        keep = (clamp >> 8) & 31
        most = (_LANES & keep) | (clamp & 31 & ~keep)
        step = warps.table(b(lanes)).astype(np.int64) & 31
        source, in_range = source_of(step, _LANES & keep, most, keep)
        source = np.where(in_range, source, _LANES)
        _check_sources(warps, source, masks, lanes, op)
        result = np.take_along_axis(warps.table(value(lanes)), source, axis=1)
        write(lanes, warps.flat(result))
        if write_predicate is not None:
            write_predicate(lanes, warps.flat(in_range))

    return run


def _check_sources(
    warps: WarpTable, source: Array, masks: Array, lanes: Lanes, op: Operation
) -> None:
    """Report a shuffle from a lane that does not participate, whose value is undefined."""
    if not lanes.wave.checks_for("uninitialised"):
        return
    participating = masks & warps.for_lanes(warps.present())
    source_bit = np.uint32(1) << warps.flat(source).astype(np.uint32)
    absent = (participating & source_bit) == 0
    if absent.any():
        lane = int(np.argmax(absent))
        text = f"reads lane {int(warps.flat(source)[lane])}, which does not participate"
        lanes.wave.violation(text, op.site, int(lanes.threads[lane]))


@instruction("vote.sync", blocks=True)
def vote(op: Operation) -> Run:
    """`vote.sync.mode d, p, mask`: ballot, any, all or uniform over the mask."""
    mode = op.choice("all", "any", "uni", "ballot")
    type = op.type()
    write, predicate, mask = op.write(0, type), op.predicate(1), op.read(2, _B32)
    site = op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        warps = WarpTable(lanes)
        participating = masks & warps.for_lanes(warps.present())
        ayes = masks & warps.for_lanes(warps.bits(predicate(lanes)))
        if mode == "ballot":
            write(lanes, ayes)
        elif mode == "any":
            write(lanes, ayes != 0)
        elif mode == "all":
            write(lanes, ayes == participating)
        else:
            write(lanes, (ayes == participating) | (ayes == 0))

    return run


@instruction("activemask")
def active_mask(op: Operation) -> Run:
    """`activemask d`: the active lanes of the warp."""
    op.ignore("b32")
    write = op.write(0, _B32)

    def run(lanes: Lanes) -> None:
        warps = WarpTable(lanes)
        write(lanes, warps.for_lanes(warps.present()))

    return run


@instruction("elect.sync", blocks=True)
def elect(op: Operation) -> Run:
    """`elect.sync d|p, mask`: elect the lowest lane of the mask."""
    write, write_predicate = _results(op)
    mask, site = op.read(1, _B32), op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        warps = WarpTable(lanes)
        leaders = np.argmax(members(masks & warps.for_lanes(warps.present())), axis=1)
        write(lanes, leaders.astype(np.uint32))
        if write_predicate is not None:
            write_predicate(lanes, leaders == lanes.lane_ids)

    return run


@instruction("match.any.sync", "match.all.sync", blocks=True)
def match(op: Operation) -> Run:
    """`match.sync d, a, mask`: the lanes of the mask with the same value."""
    is_all = op.name == "match.all.sync"
    type = op.type()
    write, write_predicate = _results(op)
    value, mask, site = op.read(1, type), op.read(2, _B32), op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        warps = WarpTable(lanes)
        participating = masks & warps.for_lanes(warps.present())
        values = warps.table(value(lanes))
        same = values[:, :, None] == values[:, None, :]
        packed = np.packbits(same, axis=2, bitorder="little").view(np.uint32)[:, :, 0]
        equal = warps.flat(packed) & participating
        if is_all:
            agreed = equal == participating
            write(lanes, np.where(agreed, participating, np.uint32(0)))
            if write_predicate is not None:
                write_predicate(lanes, agreed)
        else:
            write(lanes, equal)

    return run


def _least(values: Array) -> Array:
    return np.minimum.reduce(values, axis=-1)


def _greatest(values: Array) -> Array:
    return np.maximum.reduce(values, axis=-1)


def _wrapping_add(values: Array) -> Array:
    return np.add.reduce(values.view(np.uint32), axis=-1, dtype=np.uint32)


# The reduction of the values of a mask, and the neutral element for other lanes.
_REDUCTIONS: Final[dict[str, tuple[Callable[[Array], Array], dict[str, int]]]] = {
    "add": (_wrapping_add, {}),
    "min": (_least, {"u32": 0xFFFFFFFF, "s32": 0x7FFFFFFF}),
    "max": (_greatest, {"s32": -0x80000000}),
    "and": (lambda values: np.bitwise_and.reduce(values, axis=-1), {"b32": 0xFFFFFFFF}),
    "or": (lambda values: np.bitwise_or.reduce(values, axis=-1), {}),
    "xor": (lambda values: np.bitwise_xor.reduce(values, axis=-1), {}),
}


@instruction("redux.sync", blocks=True)
def reduce(op: Operation) -> Run:
    """`redux.sync.op d, a, mask`: reduce the values of all lanes of the mask."""
    name = op.choice(*_REDUCTIONS)
    type = op.type()
    if name is None:
        op.fail("expected an operation")
    if type.name == "f32":
        return _reduce_floats(op, greater=name == "max")
    if type.bits != 32:
        op.unsupported(f".{type.name}")
    function, neutral = _REDUCTIONS[name]
    neutral_value = type.dtype.type(neutral.get(type.name, 0))
    write, value = op.write(0, type), op.read(1, type)
    mask, site = op.read(2, _B32), op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        values, present = _values_for_lanes(lanes, masks, value(lanes))
        write(lanes, function(np.where(present, values, neutral_value)).view(type.dtype))

    return run


def _values_for_lanes(lanes: Lanes, masks: Array, values: Array) -> tuple[Array, Array]:
    """For each lane the 32 values of its warp, and a mask of the participating ones."""
    warps = WarpTable(lanes)
    participating = masks & warps.for_lanes(warps.present())
    rows = np.repeat(warps.table(values), WARP, axis=0).reshape(warps.count, WARP, WARP)
    chosen = rows.reshape(-1, WARP)[warps.flat(np.arange(warps.count * WARP))]
    return chosen, members(participating)


def _reduce_floats(op: Operation, greater: bool) -> Run:
    """Minimum or maximum of floats; NaN is ignored unless `.NaN`."""
    magnitude, keep_nan = op.flag("abs"), op.flag("NaN")
    float_type = SCALAR_TYPES["f32"]
    write, value = op.write(0, float_type), op.read(1, float_type)
    mask, site = op.read(2, _B32), op.site

    def run(lanes: Lanes) -> None:
        lanes, masks = gather(lanes, mask, site)
        if not lanes.count:
            return
        values = value(lanes)
        values = abs(values) if magnitude else values
        rows, present = _values_for_lanes(lanes, masks, values)
        write(lanes, _extreme_float(rows, present, greater, keep_nan))

    return run


def _extreme_float(rows: Array, present: Array, greater: bool, keep_nan: bool) -> Array:
    nan = np.isnan(rows)
    # As integers that order floats, with -0 before +0.
    bits = rows.view(np.int32).astype(np.int64)
    keys = np.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    counted = present & ~nan
    neutral = -(1 << 40) if greater else 1 << 40
    keys = np.where(counted, keys, neutral)
    best = _greatest(keys) if greater else _least(keys)
    bits = np.where(best < 0, (-best - 1) | 0x80000000, best)
    is_nan = (present & nan).any(axis=-1) if keep_nan else ~counted.any(axis=-1)
    return np.where(is_nan, 0x7FFFFFFF, bits & 0xFFFFFFFF).astype(np.uint32).view(np.float32)


@instruction("movmatrix.sync.aligned", blocks=True)
def move_matrix(op: Operation) -> Run:
    """`movmatrix.m8n8.trans d, a`: an 8×8 matrix of 16-bit elements, transposed."""
    if op.rest() != ("m8n8", "trans", "b16"):
        op.unsupported()
    write, read, site = op.write(0, _B32), op.read(1, _B32), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        # Lane 4r + c has elements 2c and 2c + 1 of row r: rows are contiguous.
        elements = np.array(lanes.spread(read(lanes))).view(np.uint16).reshape(-1, 8, 8)
        write(lanes, elements.transpose(0, 2, 1).copy().view(np.uint32).reshape(-1))

    return run
