"""scan: a chunk in the registers of a thread, then lanes, then warps, then segments.

Each level scans the totals of the level below, and returns the exclusive prefix of each member.
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
from tilewright.conversion.nv_tileas_to_nvgpu.threads import LANE_BITS, synchronize, thread_id
from tilewright.conversion.nv_tileas_to_nvgpu.types import element_type, thread_bits
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_vector,
    concatenate,
    elements,
    select_registers,
)
from tilewright.conversion.nv_tileas_to_nvgpu.warp_shuffles import shuffle_registers
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp, SelectOp
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.integer import OrIOp, XOrIOp
from tilewright.dialects.arith.literals import literal, pattern_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.attributes import ShuffleMode
from tilewright.dialects.nv_tileas.aggregate import ScanOp
from tilewright.ir.attributes import FloatAttr, IntegerAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import VectorType
from tilewright.layout.linear import REGISTER, WARP, log2
from tilewright.plans.scratch import lines_of, scan_iterations, scan_of, slot_location
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.layout.scans import Scan


class Prefix(NamedTuple):
    """The exclusive prefix of a member of a level, for each source."""

    values: list[Value]
    exists: Value | None
    """Whether any element precedes the member; None if always."""


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
        prefix, segments = self._lanes(columns[-1])
        if self._scan.warps:
            prefix, segments = self._warps(prefix, segments)
        parts: list[Prefix | None] = [Prefix(column, None) for column in columns]
        if not self._op.inclusive:
            parts = [None, *parts[:-1]]
        parts = [self._extended(prefix, part) for part in parts]
        result = self._segments(parts, segments)
        if self._op.reverse:
            result.reverse()
        return [
            self._in_order([column[source] for column in result]) for source in range(len(sources))
        ]

    def _combine(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return combine_vectors(self._op, self._build, left, right)

    def _columns(self, sources: Sequence[Value]) -> list[list[Value]]:
        """The registers by their index in the chunk, scanned within it; reversed from its end."""
        chunk = 1 << self._scan.chunk
        count = self._scan.layout.extent(REGISTER)
        columns = [
            [self._registers(source, range(index, count, chunk)) for source in sources]
            for index in range(chunk)
        ]
        if self._op.reverse:
            columns.reverse()
        for index in range(1, chunk):
            columns[index] = self._combine(columns[index - 1], columns[index])
        return columns

    def _index(self, bits: int, start: int) -> Value:
        """The index of the thread in a level, from bits of its id; from the end if reversed."""
        build, mask = self._build, (1 << bits) - 1
        index = extract_bits(build, thread_id(self._op, build), mask << start, -start)
        if not self._op.reverse:
            return index
        return build.create(XOrIOp, lhs=index, rhs=constant(build, mask)).result

    def _select(
        self, condition: Value | None, true_values: Sequence[Value], false_values: Sequence[Value]
    ) -> list[Value]:
        if condition is None:
            return list(true_values)
        pairs = zip(true_values, false_values, strict=True)
        return [
            self._build.create(SelectOp, condition=condition, true_value=a, false_value=b).result
            for a, b in pairs
        ]

    def _at_least(self, index: Value, number: int) -> Value:
        """Whether an index is at least `number`."""
        limit = constant(self._build, number)
        return self._build.create(CmpIOp, predicate=CmpIPredicate.UGE, lhs=index, rhs=limit).result

    def _lanes(self, totals: list[Value]) -> tuple[Prefix | None, list[Value]]:
        """The prefix of each lane's chunk in its warp, and the total of all lanes."""
        build = self._build
        if not self._scan.lanes:
            return None, totals
        mode = ShuffleMode.DOWN if self._op.reverse else ShuffleMode.UP
        index = self._index(self._scan.lanes, 0)
        scanned = totals
        for step in range(self._scan.lanes):
            offset = constant(build, 1 << step)
            others = [shuffle_registers(build, value, mode, offset) for value in scanned]
            has_source = self._at_least(index, 1 << step)
            scanned = self._select(has_source, self._combine(others, scanned), scanned)
        one = constant(build, 1)
        prefix = [shuffle_registers(build, value, mode, one) for value in scanned]
        last = self._last_lane()
        total = [shuffle_registers(build, value, ShuffleMode.IDX, last) for value in scanned]
        return Prefix(prefix, self._at_least(index, 1)), total

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
        """Scan the totals of warps: some registers after the others, if there are many."""
        count = scan_iterations(self._op, self._scan)
        if count == 1:
            return self._exchanged(before, totals)
        parts: list[tuple[Prefix | None, list[Value]]] = []
        for number in range(count):
            if number:
                synchronize(self._op, self._build)
            own = None
            if before is not None:
                own = Prefix(self._part(before.values, number, count), before.exists)
            parts.append(self._exchanged(own, self._part(totals, number, count)))
        prefixes = [prefix for prefix, _ in parts if prefix is not None]
        prefix = Prefix(self._joined([each.values for each in prefixes]), prefixes[0].exists)
        return prefix, self._joined([total for _, total in parts])

    def _joined(self, parts: Sequence[Sequence[Value]]) -> list[Value]:
        """The registers of each source, from consecutive parts of them."""
        return [concatenate(self._build, list(part)) for part in zip(*parts, strict=True)]

    def _exchanged(
        self, before: Prefix | None, totals: list[Value]
    ) -> tuple[Prefix | None, list[Value]]:
        """Exchange totals of warps through shared memory, and scan them."""
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
        synchronize(self._op, build)
        index = self._index(scan.warps, LANE_BITS)
        count = 1 << scan.warps
        order = list(range(count - 1, -1, -1) if op.reverse else range(count))
        running = slots.read(order[0])
        prefix = running
        for step in range(1, count):
            if step > 1:
                prefix = self._select(self._at_least(index, step), running, prefix)
            running = self._combine(running, slots.read(order[step]))
        exists = self._at_least(index, 1)
        return self._extended(Prefix(prefix, exists), before), running

    def _extended(self, outer: Prefix | None, inner: Prefix | None) -> Prefix | None:
        """The prefix over two levels: that of the outer level first."""
        if outer is None or inner is None:
            return outer or inner
        combined = self._select(
            outer.exists, self._combine(outer.values, inner.values), inner.values
        )
        values = self._select(inner.exists, combined, outer.values)
        if outer.exists is None or inner.exists is None:
            return Prefix(values, None)
        exists = self._build.create(OrIOp, lhs=outer.exists, rhs=inner.exists).result
        return Prefix(values, exists)

    def _segments(self, columns: Sequence[Prefix | None], totals: list[Value]) -> list[list[Value]]:
        """Scan segments in order, carrying the total of those before."""
        count = 1 << self._scan.segments
        order = list(range(count - 1, -1, -1) if self._op.reverse else range(count))
        results: list[dict[int, list[Value]]] = [{} for _ in columns]
        carry: list[Value] | None = None
        for segment in order:
            prefix = None if carry is None else Prefix(carry, None)
            for parts, column in zip(results, columns, strict=True):
                extended = self._extended(prefix, self._segment_prefix(column, segment))
                parts[segment] = self._defined(extended)
            if segment != order[-1]:
                total = self._segment(totals, segment)
                carry = total if carry is None else self._combine(carry, total)
        sources = range(len(totals))
        return [
            [
                concatenate(self._build, [parts[s][source] for s in range(count)])
                for source in sources
            ]
            for parts in results
        ]

    def _segment_prefix(self, column: Prefix | None, segment: int) -> Prefix | None:
        if column is None:
            return None
        return Prefix(self._segment(column.values, segment), column.exists)

    def _segment(self, values: Sequence[Value], segment: int) -> list[Value]:
        """The registers of a segment."""
        return self._part(values, segment, 1 << self._scan.segments)

    def _part(self, values: Sequence[Value], number: int, count: int) -> list[Value]:
        """The registers of one of `count` parts of each column."""
        size = self._rows // count
        indices = range(number * size, (number + 1) * size)
        return [self._registers(value, indices) for value in values]

    def _registers(self, vector: Value, indices: range) -> Value:
        """Some registers of a column, or of a source.

        One is extracted, as LLVM 22 ends with a failed assertion on segmented scans of i32 whose
        columns are shuffles of one element.
        """
        if len(indices) == 1:
            return as_vector(self._build, elements(self._build, vector)[indices[0]])
        return select_registers(self._build, vector, list(indices))

    @property
    def _rows(self) -> int:
        """How many registers a column has."""
        return self._scan.layout.extent(REGISTER) >> self._scan.chunk

    def _defined(self, prefix: Prefix | None) -> list[Value]:
        """The values of a prefix; identities where it is empty."""
        if prefix is not None and prefix.exists is None:
            return prefix.values
        identities = self._identities()
        return (
            identities if prefix is None else self._select(prefix.exists, prefix.values, identities)
        )

    def _identities(self) -> list[Value]:
        """The identities of the body, in all registers of a segment."""
        op, build = self._op, self._build
        assert op.identities is not None
        identities: list[Value] = []
        for identity, source in zip(op.identities, op.sources, strict=True):
            assert isinstance(identity, IntegerAttr | FloatAttr)
            element = element_type(element_of(source.type))
            type = VectorType((self._rows >> self._scan.segments,), element)
            value = literal([thread_bits(pattern_of(identity), source.type)], type)
            identities.append(build.create(ConstantOp, value=value, types=[type]).result)
        return identities

    def _in_order(self, columns: Sequence[Value]) -> Value:
        """The columns of a source as the registers of the layout."""
        vector = concatenate(self._build, columns)
        chunk, rows = len(columns), self._rows
        order = [r % chunk * rows + r // chunk for r in range(chunk * rows)]
        return select_registers(self._build, vector, order)


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
        """The index of the thread's line, without its registers."""

    def _pointer(self, source: int, register: int, warp: OpFoldResult) -> Value:
        scan, build = self._scan, self._build
        bytes, start = slot_location(self._op, scan, source)
        line = add(build, self._line, register * lines_of(scan))
        index = add(build, multiply(build, line, 1 << scan.warps), warp)
        return scratch_pointer(self._op, build, add(build, multiply(build, index, bytes), start))

    def write(self, warp: OpFoldResult, totals: Sequence[Value]) -> None:
        """Store the totals of a warp to its slots."""
        for source, value in enumerate(totals):
            bytes, _ = slot_location(self._op, self._scan, source)
            for register, word in enumerate(to_words(self._build, value, bytes)):
                store_shared(self._build, self._pointer(source, register, warp), word, bytes)

    def read(self, warp: int) -> list[Value]:
        """Load the totals of a warp on the thread's lines."""
        return [self._read(source, type, warp) for source, type in enumerate(self._types)]

    def _read(self, source: int, type: Type, warp: int) -> Value:
        assert isinstance(type, VectorType)
        bytes, _ = slot_location(self._op, self._scan, source)
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
