"""The work of a kernel: a tree of loops, each with the work of one iteration.

It is counted at nv_tileaa, before a plan is applied, or by `schedule-loops` at nv_tileas, after
splits: it does not depend on warps, stages or layouts.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from tilewright.dialects.elements import element_of, extents_of, pointee_bytes, width_of
from tilewright.dialects.nv_tileaa.aggregate import AggregateOp, ScanOp
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    GatherLoadOp,
    ScatterStoreOp,
    TileReadOp,
    TileUpdateOp,
    TileWriteOp,
)
from tilewright.dialects.nv_tileas.matrix import dot_types
from tilewright.ir.values import BlockArgument, OpResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

KeyT = TypeVar("KeyT")

LANES: Final = {
    "addf": 1, "subf": 1, "mulf": 1, "fma": 1, "maxf": 1, "minf": 1, "clampf": 2, "cmpf": 1,
    "addi": 1, "subi": 1, "muli": 1, "mulhiui": 2, "andi": 1, "ori": 1, "xori": 1, "shli": 1,
    "shri": 1, "cmpi": 1, "absi": 1, "negi": 1, "maxsi": 1, "maxui": 1, "minsi": 1, "minui": 1,
    "shrsi": 1, "shrui": 1, "select": 1, "sitofp": 1, "uitofp": 1, "ftoi": 1, "ceil": 1,
    "floor": 1, "exti": 0.5, "trunci": 0.5, "make_range": 0.5, "cat": 0.5, "addptr": 2,
    "divf": 10, "remf": 60, "sqrt": 10, "rsqrt": 3, "exp2": 3, "exp": 7, "log2": 20, "log": 20,
    "tanh": 14, "sin": 24, "cos": 24, "tan": 30, "sinh": 22, "cosh": 14, "atan2": 50, "fpowf": 80,
    "fpowi": 40, "divi": 20, "remi": 20, "histogram": 8,
}  # fmt: skip
"""Instructions of a lane for an element, by the mnemonic; those that are missing are free.

From the size of the machine code of a kernel with the operation on f32 or i32, without branches
that are rarely taken: negation, splats, views and broadcasts are operands of other instructions."""
SPECIAL_FUNCTIONS: Final = frozenset(
    "exp2 exp rsqrt sqrt log2 log tanh divf sin cos tan sinh cosh fpowf".split()
)
"""Those that take an instruction of the special function unit."""
PACKED: Final = frozenset("addf subf mulf fma maxf minf".split())
"""Those that compute two elements of 16 bits at once."""
NARROWED: Final = 0.5
"""Instructions of a lane for an element that is converted to fewer bits: pairs are."""
WIDENED: Final = 1.0


class Dot(NamedTuple):
    """A dot of two matrices."""

    m: int
    n: int
    k: int
    type: str
    """Of A, as PTX spells it."""
    bits: int
    """Of an element of A."""


class Reduction(NamedTuple):
    """A reduction or a scan along one dimension."""

    elements: int
    rows: int
    """Results."""
    inputs: int
    """Tiles that are reduced together."""
    is_scan: bool


class Work(NamedTuple):
    """What a block, or an iteration of a loop, does on average, without the loops inside of it."""

    dots: tuple[tuple[Dot, float], ...] = ()
    """With how often each is computed."""
    loads: float = 0.0
    """Bytes from global memory."""
    stores: float = 0.0
    gathers: float = 0.0
    """Elements of loads and stores that have an address each."""
    lanes: tuple[tuple[int, float], ...] = ()
    """Elements of a tile, with the instructions that a lane issues for each of them."""
    special: tuple[tuple[int, float], ...] = ()
    """The same of the special function unit."""
    reductions: tuple[tuple[Reduction, float], ...] = ()
    atomics: float = 0.0
    """Elements."""
    permuted: float = 0.0
    """Bytes of tiles whose dimensions are exchanged."""


class Loop(NamedTuple):
    """A loop, or a kernel as the loop of one iteration that holds all others."""

    trips: float | None
    """Iterations each time that it is entered; None if they are unknown."""
    entries: float
    """How often an iteration of the loop around it enters it."""
    work: Work
    loops: tuple[Loop, ...] = ()
    number: int = 0
    """The position among the loops of the kernel, in program order."""

    def walk(self) -> Iterator[Loop]:
        """The loop and all inside of it, in program order."""
        yield self
        for inner in self.loops:
            yield from inner.walk()


class Totals:
    """Work that is added up, each operation with a weight."""

    __slots__ = ("_arrays", "_counts", "dots", "lanes", "reductions", "special")

    def __init__(self, arrays: defaultdict[tuple[int, str], float]) -> None:
        self.dots = defaultdict[Dot, float](float)
        self.lanes = defaultdict[int, float](float)
        self.special = defaultdict[int, float](float)
        self.reductions = defaultdict[Reduction, float](float)
        self._counts = defaultdict[str, float](float)
        self._arrays = arrays
        """Bytes of a kernel by the number of a parameter, and `loads` or `stores`."""

    def work(self, executions: float) -> Work:
        """The work of one of several executions."""

        def mean(amounts: Mapping[KeyT, float]) -> tuple[tuple[KeyT, float], ...]:
            return tuple([(key, amount / executions) for key, amount in amounts.items()])

        counts = {name: amount / executions for name, amount in self._counts.items()}
        return Work(
            dots=mean(self.dots), lanes=mean(self.lanes), special=mean(self.special),
            reductions=mean(self.reductions), **counts,
        )  # fmt: skip

    def add(self, op: Operation, weight: float) -> None:
        """Add an operation."""
        match op:
            case DotOp():
                self._add_dot(op, weight)
            case LoadOp():
                self._add_access("loads", op.result.type, op.pointers, weight, has_addresses=True)
            case StoreOp():
                self._add_access("stores", op.value.type, op.pointers, weight, has_addresses=True)
            case AtomicOp():
                self._add_atomic(op.result.type, op.pointers, weight)
            case TileUpdateOp():
                self._add_atomic(op.tile.type, op.view, weight)
            case TileReadOp():
                gathers = isinstance(op, GatherLoadOp)
                self._add_access("loads", op.tile.type, op.view, weight, has_addresses=gathers)
            case TileWriteOp():
                scatters = isinstance(op, ScatterStoreOp)
                self._add_access("stores", op.tile.type, op.view, weight, has_addresses=scatters)
            case AggregateOp():
                source = op.sources[0].type
                rows = count(source) // shape(source)[op.axis]
                inputs = len(op.sources)
                key = Reduction(count(source), rows, inputs, isinstance(op, ScanOp))
                self.reductions[key] += weight
            case _ if op.results:
                self._add_elementwise(op, weight)
            case _:
                pass

    def _add_dot(self, op: DotOp, weight: float) -> None:
        types = dot_types(op)
        element = element_of(op.a.type)
        *batch, m, n = shape(op.c.type)
        k = shape(op.a.type)[-1]
        type = types[0] if types is not None else str(element)
        self.dots[Dot(m, n, k, type, width_of(element))] += weight * prod(batch)

    def _add_access(
        self, what: str, type: Type, base: Value, weight: float, *, has_addresses: bool = False
    ) -> None:
        size = weight * count(type) * pointee_bytes(element_of(type))
        self._counts[what] += size
        self._arrays[parameter_of(base), what] += size
        if has_addresses:
            self._counts["gathers"] += weight * count(type)

    def _add_atomic(self, type: Type, base: Value, weight: float) -> None:
        self._counts["atomics"] += weight * count(type)
        self._add_access("stores", type, base, weight)

    def _add_elementwise(self, op: Operation, weight: float) -> None:
        type = op.results[0].type
        if not extents_of(type):
            return
        name = op.name.partition(".")[2]
        elements = count(type)
        if name == "permute" and not _is_loaded(op.operands[0]):
            self._counts["permuted"] += weight * elements * pointee_bytes(element_of(type))
        if name in SPECIAL_FUNCTIONS:
            self.special[elements] += weight
        lanes = _conversion_lanes(op) if name == "fp_to_fp" else LANES.get(name, 0)
        if name in PACKED and width_of(element_of(type)) == 16:
            lanes /= 2
        if lanes:
            self.lanes[elements] += weight * lanes


def _conversion_lanes(op: Operation) -> float:
    before, after = (width_of(element_of(each.type)) for each in (op.operands[0], op.results[0]))
    return NARROWED if after < before else WIDENED


def _is_loaded(value: Value) -> bool:
    """Whether a tile is as it was loaded: the layout of the load can be that of its users."""
    while isinstance(value, OpResult) and value.owner.name.endswith((".view", ".expand_dims")):
        value = value.owner.operands[0]
    return isinstance(value.defining_op(), LoadOp | TileReadOp)


def parameter_of(value: Value) -> int:
    """The number of the parameter that an address, a view or a tile of pointers is of; -1: none."""
    while isinstance(value, OpResult) and value.owner.operands:
        value = value.owner.operands[0]
    is_parameter = isinstance(value, BlockArgument) and isinstance(value.owner.parent_op, FuncOp)
    return value.index if is_parameter else -1
