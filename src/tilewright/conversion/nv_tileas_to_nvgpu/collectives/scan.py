"""Scans: a chunk in the registers of a thread, then lanes, then warps, then segment by segment.

Each level scans totals of the level below, and gives back what comes before each of its members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.collectives.vectorized_body import combine_vectors
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    constant,
    extract_bits,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import predicated
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    to_words,
    word_type,
)
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    load_shared,
    scratch_pointer,
    store_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.threads import LANE_BITS, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import element_type, thread_bits
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import concatenate, select_registers
from tilewright.conversion.nv_tileas_to_nvgpu.warp_shuffles import shuffle_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import OrIOp, XOrIOp
from tilewright.dialects.arith.literals import literal, pattern_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.aggregate import ScanOp
from tilewright.ir.attributes import FloatAttr, IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import VectorType
from tilewright.layout.linear import REGISTER, WARP, log2
from tilewright.plans.scratch import lines_of, scan_of, slot_place
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.scans import Scan


class Prefix(NamedTuple):
    """What comes before a member of a level, for each source; and whether anything does."""

    values: list[Value]
    exists: Value | None
    """`None`: always."""


class _Scanner:
    """One scan of one thread."""

    __slots__ = ("_build", "_op", "_scan")

    def __init__(self, op: ScanOp, scan: Scan, build: ConversionBuilder) -> None:
        self._op = op
        self._scan = scan
        self._build = build

    def run(self, sources: Sequence[Value]) -> list[Value]:
        """The scanned registers of all sources."""
        columns = self._columns(sources)
        before, segments = self._lanes(columns[-1])
        if self._scan.warps:
            before, segments = self._warps(before, segments)
        parts: list[Prefix | None] = [Prefix(column, None) for column in columns]
        if not self._op.inclusive:
            parts = [None, *parts[:-1]]
        parts = [self._joined(before, part) for part in parts]
        result = self._segments(parts, segments)
        if self._op.reverse:
            result.reverse()
        return [
            self._in_order([column[source] for column in result]) for source in range(len(sources))
        ]

    def _combine(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return combine_vectors(self._op, self._build, left, right)

    def _columns(self, sources: Sequence[Value]) -> list[list[Value]]:
        """The registers by their place in the chunk, scanned within it; in reverse from the end."""
        build, chunk = self._build, 1 << self._scan.chunk
        count = self._scan.layout.extent(REGISTER)
        columns = [
            [
                select_registers(build, source, list(range(place, count, chunk)))
                for source in sources
            ]
            for place in range(chunk)
        ]
        if self._op.reverse:
            columns.reverse()
        for place in range(1, chunk):
            columns[place] = self._combine(columns[place - 1], columns[place])
        return columns

    def _place(self, bits: int, start: int) -> Value:
        """The thread's place among so many, by bits of its number; in reverse from the end."""
        build, mask = self._build, (1 << bits) - 1
        place = extract_bits(build, thread_id(self._op, build), mask << start, -start)
        if not self._op.reverse:
            return place
        return build.create(XOrIOp, lhs=place, rhs=constant(build, mask)).result

    def _chosen(
        self, condition: Value | None, yes: Sequence[Value], no: Sequence[Value]
    ) -> list[Value]:
        if condition is None:
            return list(yes)
        pairs = zip(yes, no, strict=True)
        return [
            self._build.create(SelectOp, condition=condition, true_value=a, false_value=b).result
            for a, b in pairs
        ]

    def _above(self, place: Value, number: int) -> Value:
        """Whether a place is not among the first so many."""
        limit = constant(self._build, number)
        return self._build.create(CmpIOp, predicate=CmpIPredicate.UGE, lhs=place, rhs=limit).result

    def _lanes(self, totals: list[Value]) -> tuple[Prefix | None, list[Value]]:
        """What comes before each lane's chunk in its warp, and the total of all lanes."""
        build = self._build
        if not self._scan.lanes:
            return None, totals
        back = ShuffleMode.DOWN if self._op.reverse else ShuffleMode.UP
        place = self._place(self._scan.lanes, 0)
        scanned = totals
        for step in range(self._scan.lanes):
            offset = constant(build, 1 << step)
            others = [shuffle_registers(build, value, back, offset) for value in scanned]
            here = self._above(place, 1 << step)
            scanned = self._chosen(here, self._combine(others, scanned), scanned)
        one = constant(build, 1)
        before = [shuffle_registers(build, value, back, one) for value in scanned]
        last = self._last_lane()
        whole = [shuffle_registers(build, value, ShuffleMode.IDX, last) for value in scanned]
        return Prefix(before, self._above(place, 1)), whole

    def _last_lane(self) -> Value:
        """The lane with the last chunk of the thread's line."""
        build, mask = self._build, (1 << self._scan.lanes) - 1
        first = extract_bits(build, thread_id(self._op, build), WARP_SIZE - 1 & ~mask, 0)
        if self._op.reverse:
            return first
        return build.create(OrIOp, lhs=first, rhs=constant(build, mask)).result

    def _warps(
        self, before: Prefix | None, totals: list[Value]
    ) -> tuple[Prefix | None, list[Value]]:
        """Warps tell each other their totals through shared memory."""
        op, build, scan = self._op, self._build, self._scan
        slots = WarpTotals(op, scan, build, totals)
        number = thread_id(op, build)
        own = extract_bits(build, number, ((1 << scan.warps) - 1) << LANE_BITS, -LANE_BITS)
        lane = extract_bits(build, number, (1 << scan.lanes) - 1, 0)
        first = self._build.create(
            CmpIOp, predicate=CmpIPredicate.EQ, lhs=lane, rhs=constant(build, 0)
        ).result
        with predicated(build, first):
            slots.write(own, totals)
        build.create(BarrierOp)
        place = self._place(scan.warps, LANE_BITS)
        count = 1 << scan.warps
        order = list(range(count - 1, -1, -1) if op.reverse else range(count))
        running = slots.read(order[0])
        earlier = running
        for turn in range(1, count):
            if turn > 1:
                earlier = self._chosen(self._above(place, turn), running, earlier)
            running = self._combine(running, slots.read(order[turn]))
        exists = self._above(place, 1)
        return self._joined(Prefix(earlier, exists), before), running

    def _joined(self, outer: Prefix | None, inner: Prefix | None) -> Prefix | None:
        """What comes before at two levels: the outer part first."""
        if outer is None or inner is None:
            return outer or inner
        both = self._chosen(outer.exists, self._combine(outer.values, inner.values), inner.values)
        values = self._chosen(inner.exists, both, outer.values)
        if outer.exists is None or inner.exists is None:
            return Prefix(values, None)
        either = self._build.create(OrIOp, lhs=outer.exists, rhs=inner.exists).result
        return Prefix(values, either)

    def _segments(self, columns: Sequence[Prefix | None], totals: list[Value]) -> list[list[Value]]:
        """Segments one behind the other: each comes behind the totals of those before."""
        count = 1 << self._scan.segments
        order = list(range(count - 1, -1, -1) if self._op.reverse else range(count))
        found: list[dict[int, list[Value]]] = [{} for _ in columns]
        carry: list[Value] | None = None
        for segment in order:
            before = None if carry is None else Prefix(carry, None)
            for parts, column in zip(found, columns, strict=True):
                part = self._joined(before, self._part(column, segment))
                parts[segment] = self._certain(part)
            if segment != order[-1]:
                total = self._picked(totals, segment)
                carry = total if carry is None else self._combine(carry, total)
        sources = range(len(totals))
        return [
            [
                concatenate(self._build, [parts[s][source] for s in range(count)])
                for source in sources
            ]
            for parts in found
        ]

    def _part(self, column: Prefix | None, segment: int) -> Prefix | None:
        if column is None:
            return None
        return Prefix(self._picked(column.values, segment), column.exists)

    def _picked(self, values: Sequence[Value], segment: int) -> list[Value]:
        """The registers of a segment."""
        size = self._rows >> self._scan.segments
        places = list(range(segment * size, (segment + 1) * size))
        return [select_registers(self._build, value, places) for value in values]

    @property
    def _rows(self) -> int:
        """How many registers a column has."""
        return self._scan.layout.extent(REGISTER) >> self._scan.chunk

    def _certain(self, part: Prefix | None) -> list[Value]:
        """The values of a part of a column; identities where nothing comes before."""
        if part is not None and part.exists is None:
            return part.values
        nothing = self._identities()
        return nothing if part is None else self._chosen(part.exists, part.values, nothing)

    def _identities(self) -> list[Value]:
        """What combines with nothing, in all registers of a segment."""
        op, build = self._op, self._build
        assert op.identities is not None
        found: list[Value] = []
        for number, source in zip(op.identities, op.sources, strict=True):
            assert isinstance(number, IntegerAttr | FloatAttr)
            element = element_type(element_of(source.type))
            type = VectorType((self._rows >> self._scan.segments,), element)
            value = literal([thread_bits(pattern_of(number), source.type)], type)
            found.append(build.create(ConstantOp, value=value, types=[type]).result)
        return found

    def _in_order(self, columns: Sequence[Value]) -> Value:
        """The columns of a source as the registers of the layout."""
        whole = concatenate(self._build, columns)
        chunk, rows = len(columns), self._rows
        order = [r % chunk * rows + r // chunk for r in range(chunk * rows)]
        return select_registers(self._build, whole, order)


class WarpTotals:
    """Shared memory for the totals of warps: a slot for each line and each warp on it."""

    __slots__ = ("_build", "_line", "_op", "_scan", "_types")

    def __init__(
        self, op: ScanOp, scan: Scan, build: ConversionBuilder, totals: Sequence[Value]
    ) -> None:
        self._op = op
        self._scan = scan
        self._build = build
        self._types = [value.type for value in totals]
        number = thread_id(op, build)
        lane = extract_bits(build, number, WARP_SIZE - 1 & -(1 << scan.lanes), -scan.lanes)
        threads = log2(scan.layout.extent(WARP)) + LANE_BITS
        above = (1 << threads) - 1 & -(1 << (LANE_BITS + scan.warps))
        warp = extract_bits(build, number, above, -(scan.lanes + scan.warps))
        self._line = add(build, lane, warp)
        """The number of the thread's line, without its registers."""

    def _pointer(self, source: int, register: int, warp: OpFoldResult) -> Value:
        scan, build = self._scan, self._build
        bytes, start = slot_place(self._op, scan, source)
        line = add(build, self._line, register * lines_of(scan))
        index = add(build, multiply(build, line, 1 << scan.warps), warp)
        return scratch_pointer(self._op, build, add(build, multiply(build, index, bytes), start))

    def write(self, warp: OpFoldResult, totals: Sequence[Value]) -> None:
        """Put the totals of a warp into its slots."""
        for source, value in enumerate(totals):
            bytes, _ = slot_place(self._op, self._scan, source)
            for register, word in enumerate(to_words(self._build, value, bytes)):
                store_shared(self._build, self._pointer(source, register, warp), word, bytes)

    def read(self, warp: int) -> list[Value]:
        """The totals of a warp on the thread's lines."""
        return [self._read(source, type, warp) for source, type in enumerate(self._types)]

    def _read(self, source: int, type: Type, warp: int) -> Value:
        assert isinstance(type, VectorType)
        bytes, _ = slot_place(self._op, self._scan, source)
        words = [
            load_shared(self._build, self._pointer(source, register, warp), word_type(bytes), bytes)
            for register in range(type.shape[0])
        ]
        return from_words(self._build, words, type)


@converts(ScanOp)
def scan(op: ScanOp, new: ScanOp, build: ConversionBuilder) -> Result:
    """Chunks, lanes, warps, segments."""
    return _Scanner(op, scan_of(op), build).run(new.sources)


PATTERNS: Final[Patterns] = (scan,)
