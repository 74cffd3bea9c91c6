"""Tiles from one layout to another: within threads, or through shared memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import (
    add,
    constant,
    exclusive_or,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.coordinates import linear
from tilewright.conversion.nv_tileas_to_nvgpu.lanes import within_warps
from tilewright.conversion.nv_tileas_to_nvgpu.matrices import Matrices
from tilewright.conversion.nv_tileas_to_nvgpu.memory import both, elements, holder
from tilewright.conversion.nv_tileas_to_nvgpu.scratch import (
    read_shared,
    scratch_pointer,
    write_shared,
)
from tilewright.conversion.nv_tileas_to_nvgpu.shape import picked, within_threads
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread, thread_vectors
from tilewright.conversion.nv_tileas_to_nvgpu.types import vector_type
from tilewright.conversion.nv_tileas_to_nvgpu.words import (
    from_words,
    put_together,
    taken_apart,
    to_words,
    word_type,
)
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.gpu.threads import BarrierOp
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import VectorType
from tilewright.layout import gf2
from tilewright.layout.linear import REGISTER, WARP, log2
from tilewright.layout.matrices import ROW, matrix_access, matrix_memory
from tilewright.layout.pieces import (
    one_piece,
    piece_bits,
    piece_of_thread,
    piece_registers,
)
from tilewright.layout.staging import common_vector, staging
from tilewright.layout.transfer import Move, is_shuffled, transfer
from tilewright.plans.scratch import register_bytes

if TYPE_CHECKING:
    from collections.abc import Generator

    from tilewright.conversion.nv_tileas_to_nvgpu.arithmetic import Number
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


@converts(ConvertLayoutOp)
def convert_layout(op: ConvertLayoutOp, new: ConvertLayoutOp, build: ConversionBuilder) -> Result:
    """Threads that hold what they need pick it, lanes exchange it, others meet in shared memory."""
    source, wanted = layout_of(op.source), layout_of(op.result)
    found = transfer(source, wanted)
    if found.move <= Move.REGISTERS:
        return within_threads(op, build, new.source, source, wanted)
    if is_shuffled(found):
        return within_warps(op, build, new.source, found.origin)
    return _Pieces(op, build).moved(new.source)


class _Pieces:
    """A move through shared memory: of a small tile at once, of a large one piece by piece."""

    __slots__ = ("_acting", "_bits", "_build", "_op", "_reads", "_source", "_wanted", "_writes")

    def __init__(self, op: ConvertLayoutOp, build: ConversionBuilder) -> None:
        self._op, self._build = op, build
        self._source, self._wanted = layout_of(op.source), layout_of(op.result)
        bytes = register_bytes(element_of(op.source.type))
        self._bits = piece_bits(self._source, self._wanted, bytes)
        source, wanted = (one_piece(each, self._bits) for each in (self._source, self._wanted))
        matrices = matrix_memory(source, wanted, bytes)
        places = (matrices or staging(source, wanted, bytes)).inverse()
        vector = ROW // bytes if matrices else 1 << len(common_vector(source, wanted, bytes))
        self._acting = holder(op, build, op.source)
        self._writes = Shares(op, build, source.then(places), vector, bytes)
        there = wanted.then(places)
        access = matrix_access(there, bytes) if matrices else None
        if access is None:
            self._reads = Shares(op, build, there, vector, bytes)
        else:
            self._reads = Matrices(op, build, access, [v * bytes for v in there.vectors(WARP)])

    def moved(self, vector: Value) -> Value:
        """What a thread holds when all pieces have moved."""
        build, type = self._build, vector_type(self._build, self._op.result)
        if not self._bits:
            return self._piece(vector, 0, type)
        found: dict[int, Value] = {}
        count = type.shape[0] >> len(self._bits)
        for piece in range(1 << len(self._bits)):
            if piece:
                build.create(BarrierOp)
            part = self._piece(vector, piece, VectorType((count,), type.element))
            registers = piece_registers(self._wanted, self._bits, piece)
            found.update(zip(registers, elements(build, part), strict=True))
        ordered = [found[register] for register in range(len(found))]
        return build.create(FromElementsOp, elements=ordered, types=[type]).result

    def _piece(self, vector: Value, piece: int, type: VectorType) -> Value:
        build = self._build
        with where(build, both(build, self._acting, self._has(piece))):
            registers = piece_registers(self._source, self._bits, piece)
            self._writes.write(picked(build, vector, registers))
        build.create(BarrierOp)
        return self._reads.read(type)

    def _has(self, piece: int) -> Value | None:
        """Whether a thread has something of a piece; nothing if all threads have."""
        build = self._build
        vectors = piece_of_thread(self._source, self._bits)
        mine = linear(build, thread(self._op, build), vectors)
        if isinstance(mine, int):
            return None
        other = constant(build, piece & gf2.support(vectors))
        return build.create(CmpIOp, predicate=CmpIPredicate.EQ, lhs=mine, rhs=other).result


@contextmanager
def where(build: ConversionBuilder, condition: Value | None) -> Generator[None]:
    """Create what only the threads for which the condition holds do; all of them without one."""
    if condition is None:
        yield
        return
    inside = Block()
    build.create(IfOp, condition=condition, then_region=inside, types=[])
    with build.at(InsertPoint.at_end(inside)):
        yield
        build.create(YieldOp)


class Shares:
    """What a thread has of a tile in shared memory: groups of registers that lie together.

    The tile begins `start` bytes behind the beginning of the scratch memory, and `further` ones.
    """

    __slots__ = ("_build", "_bytes", "_order", "_pointers", "_width")

    def __init__(
        self,
        op: Operation,
        build: ConversionBuilder,
        places: Layout,
        vector: int,
        bytes: int,
        *,
        start: Number = 0,
        further: int = 0,
    ) -> None:
        self._build = build
        self._bytes = bytes
        self._width = vector * bytes
        self._order = consecutive(places, vector)
        own = linear(build, thread(op, build), thread_vectors(places))
        reach = gf2.support(thread_vectors(places))
        # What changes bits of the thread's part is in few starts; the rest is added for nothing.
        bases: dict[int, Number] = {}
        self._pointers: list[Value] = []
        for register in self._order[::vector]:
            place = places.packed(register=register)
            changed = place & reach
            if changed not in bases:
                part = multiply(build, exclusive_or(build, own, changed), bytes)
                bases[changed] = add(build, part, start)
            known = (place ^ changed) * bytes + further
            self._pointers.append(scratch_pointer(op, build, bases[changed], known))

    def write(self, vector: Value) -> None:
        """Put all registers where they belong."""
        build, width = self._build, self._width
        words = to_words(build, picked(build, vector, self._order), width)
        for number, pointer in enumerate(self._pointers):
            write_shared(build, pointer, put_together(build, words, number, width), width)

    def read(self, type: VectorType) -> Value:
        """Take all registers from where they are."""
        build, width = self._build, self._width
        words: list[Value] = []
        for pointer in self._pointers:
            moved = read_shared(build, pointer, word_type(width), width)
            words += taken_apart(build, moved, width)
        back = [0] * len(self._order)
        for place, register in enumerate(self._order):
            back[register] = place
        return picked(build, from_words(build, words, type), back)


def consecutive(places: Layout, vector: int) -> list[int]:
    """The registers in an order in which each group of so many lies side by side."""
    basis = gf2.Basis(places.vectors(REGISTER))
    masks: list[int] = []
    chosen = gf2.Basis()
    for bit in range(log2(vector)):
        mask = basis.express(1 << bit)
        assert mask is not None
        chosen.offer(bit, mask)
        masks.append(mask)
    for bit in range(len(places.vectors(REGISTER))):
        if chosen.offer(len(masks), 1 << bit):
            masks.append(1 << bit)
    return [gf2.combine(masks, number) for number in range(places.extent(REGISTER))]


PATTERNS: Final[Patterns] = (convert_layout,)
