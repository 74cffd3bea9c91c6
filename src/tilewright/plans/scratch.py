"""Scratch plans: the shared memory that an operation of nv_tileas stages values through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileas.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of, maybe_layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, ExtractOp, HistogramOp
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.layout.linear import LANE, REGISTER, WARP
from tilewright.layout.pieces import LIMIT, piece_bits
from tilewright.layout.reduction import reduction
from tilewright.layout.scans import Scan, scan_layout
from tilewright.layout.transfer import Move, is_shuffled, transfer
from tilewright.layout.word_exchange import word_exchange
from tilewright.plans.allocations import aligned
from tilewright.plans.mma import FmaDotPlan

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.layout.reduction import Reduction
    from tilewright.layout.word_exchange import WordExchange


def scratch_bytes(op: Operation) -> int:
    """The bytes of scratch memory that an operation stages values through; 0 for most.

    All threads of a block wait for each other between writing and reading it, unless the operation
    `stays_in_warps`.
    """
    match op:
        case ConvertLayoutOp() if not in_shared_memory(op.result):
            conversion = transfer(layout_of(op.source), layout_of(op.result))
            in_registers = conversion.move <= Move.REGISTERS or is_shuffled(conversion)
            return 0 if in_registers or exchanged_words(op) is not None else _converted(op)
        case ReduceOp():
            exchanges = slot_exchanges(op, reduction(layout_of(op.sources[0]), op.axis))
            return max((sum(slots.values()) for slots in exchanges), default=0)
        case ScanOp():
            scan = scan_of(op)
            return _slots_before(op, scan, len(op.sources)) if scan.warps else 0
        case DotOp():
            plan = FmaDotPlan.of(op)
            return 0 if plan is None else plan.bytes
        case ExtractOp():
            spread = layout_of(op.source).only(LANE, WARP).columns()
            return _aligned(register_bytes(element_of(op.source.type))) if any(spread) else 0
        case HistogramOp():
            pieces = histogram_pieces(op)
            return _aligned(_tile(op.result.type) >> len(pieces))
        case LoadOp() | AtomicOp():
            return _aligned(_tile(op.result.type)) if is_broadcast(op) else 0
        case _:
            return 0


def exchanged_words(op: ConvertLayoutOp) -> WordExchange | None:
    """How a layout conversion shuffles words of several elements; None if it does not."""
    if register_bytes(element_of(op.source.type)) > 1:
        return None
    return word_exchange(layout_of(op.source), layout_of(op.result))


def stays_in_warps(op: Operation) -> bool:
    """Whether only the lanes of a warp exchange data: through memory of the warp's own, if any.

    Every execution of the operation has the same memory for a warp.
    """
    if not isinstance(op, ConvertLayoutOp) or in_shared_memory(op.result):
        return False
    source = layout_of(op.source)
    # Of elements that several warps hold, only one would write them.
    is_held_once = WARP not in source.replicas()
    return is_held_once and transfer(source, layout_of(op.result)).move <= Move.SHUFFLES


def _converted(op: ConvertLayoutOp) -> int:
    """The bytes that a layout conversion stages at once: the tile, or a piece of it."""
    bytes = register_bytes(element_of(op.source.type))
    pieces = piece_bits(layout_of(op.source), layout_of(op.result), bytes)
    return _tile(op.source.type) >> len(pieces)


def _tile(type: Type) -> int:
    return count(type) * register_bytes(element_of(type))


def slot_exchanges(op: ReduceOp, steps: Reduction) -> list[dict[int, int]]:
    """The bytes of the slots of each source, a slot per line of an iteration and warp, by exchange.

    Warps exchange their parts of as many sources at once as is within the limit, at least of one.
    """
    if not steps.warps:
        return []
    sizes = [register_bytes(element_of(source.type)) for source in op.sources]
    lines = steps.partial.size >> len(steps.iterations(sum(sizes)))
    exchanges: list[dict[int, int]] = [{}]
    for source, size in enumerate(sizes):
        bytes = _aligned(lines * size << len(steps.warps))
        if exchanges[-1] and sum(exchanges[-1].values()) + bytes > LIMIT:
            exchanges.append({})
        exchanges[-1][source] = bytes
    return exchanges


def _aligned(bytes: int) -> int:
    return aligned(bytes, 16)


def scan_of(op: ScanOp) -> Scan:
    """The plan of a scan, whose sources are in the layout of scans already."""
    layout = layout_of(op.sources[0])
    return scan_layout(layout.shape, op.axis, layout.extent(WARP))


def lines_of(scan: Scan) -> int:
    """How many lines of a scan the threads of a block hold per register."""
    return scan.layout.extent(LANE) * scan.layout.extent(WARP) >> scan.lanes >> scan.warps


def slot_location(op: ScanOp, scan: Scan, source: int) -> tuple[int, int]:
    """The bytes of a partial result of a source, and the byte offset of the source's slots."""
    start = _slots_before(op, scan, source)
    return register_bytes(element_of(op.sources[source].type)), start


def scan_iterations(op: ScanOp, scan: Scan) -> int:
    """In how many iterations warps exchange their totals: each of as many registers."""
    registers = scan.layout.extent(REGISTER) >> scan.chunk
    size = sum(register_bytes(element_of(source.type)) for source in op.sources)
    bytes = registers * lines_of(scan) * size << scan.warps
    return min(registers, 1 << (-(-bytes // LIMIT) - 1).bit_length())


def _slots_before(op: ScanOp, scan: Scan, source: int) -> int:
    """The bytes of the slots of the sources before one."""
    registers = (scan.layout.extent(REGISTER) >> scan.chunk) // scan_iterations(op, scan)
    count = registers * lines_of(scan) << scan.warps
    sizes = [register_bytes(element_of(other.type)) for other in op.sources[:source]]
    return sum(_aligned(count * size) for size in sizes)


def histogram_pieces(op: HistogramOp) -> tuple[int, ...]:
    """The bits of a bin index that select the iteration that counts it; none for one iteration."""
    bins = layout_of(op.result)
    return piece_bits(bins, bins, register_bytes(element_of(op.result.type)))


def is_broadcast(op: Operation) -> bool:
    """Whether one thread performs an access and broadcasts the result to the threads that share it.

    Concurrent writes may change memory between two loads, so threads that hold replicas of an
    element must not each load it. Atomics happen once for each element.
    """
    match op:
        case LoadOp() if op.is_plain:
            return False
        case LoadOp() | AtomicOp():
            layout = maybe_layout_of(op.result)
            repeats = layout is None or layout.replicas().keys() & {LANE, WARP}
            return bool(repeats) and bool(op.result.users)
        case _:
            return False
