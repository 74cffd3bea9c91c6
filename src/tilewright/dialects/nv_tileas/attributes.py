"""The attributes of nv_tileas: layouts of tiles, and instruction selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.nv_tileaa.attributes import STAGES
from tilewright.ir.attribute_kinds import EnumKind, InstanceKind
from tilewright.ir.attributes import EnumAttr, Parametric
from tilewright.ir.types import TensorType
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout, pack, unpack

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

HOLDERS: Final = (REGISTER, LANE, WARP)
"""The input dimensions of a register layout."""


class LayoutAttr(Parametric):
    """`#nv_tileas.layout<[8, 64], register = [[0, 1]], lane = [[0, 2], ...], warp = [[1, 0]]>`.

    The element that bit `i` of each index contributes; the element of a register of a thread is
    the exclusive or of these. `[0, 0]` says that both values of the bit hold the same.

    A tile in shared memory has a layout with `offset = [...]` alone: the element at each offset, in
    elements from the start of the tile.
    """

    __slots__ = ("layout",)
    mnemonic = "nv_tileas.layout"

    layout: Layout

    def __new__(cls, layout: Layout) -> Self:
        return cls.unique(layout)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (layout,) = parameters
        assert isinstance(layout, Layout)
        if layout.names == (OFFSET,):
            is_bijective = layout.is_surjective and layout.extent(OFFSET) == layout.size
            return None if is_bijective else "each offset must hold an element of its own"
        if layout.names != HOLDERS:
            wanted = f"{', '.join(HOLDERS)}, or {OFFSET} alone"
            return f"a layout must say {wanted}, got {', '.join(layout.names)}"
        if not layout.is_surjective:
            return "a layout must hold every element"
        if layout.distinct_registers() != layout:
            return "the registers of a thread must hold different elements"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        shape = self.layout.shape
        parts = [str(list(shape))]
        for name, vectors in self.layout.inputs:
            basis = ", ".join(str(list(unpack(vector, shape))) for vector in vectors)
            parts.append(f"{name} = [{basis}]")
        return f"<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""

        def numbers() -> tuple[int, ...]:
            return tuple(parser.listed(parser.integer, "[", "]"))

        parser.expect("<")
        at = parser.at
        shape = numbers()
        inputs: list[tuple[str, list[int]]] = []
        while parser.accept(","):
            name = parser.keyword()
            parser.expect("=")
            vectors = parser.listed(numbers, "[", "]")
            if any(len(vector) != len(shape) for vector in vectors):
                parser.error(f"expected basis vectors with {len(shape)} coordinates", at)
            inputs.append((name, [pack(vector, shape) for vector in vectors]))
        parser.expect(">")
        try:
            layout = Layout(inputs, shape)
        except ValueError as error:
            parser.error(str(error), at)
        return cls(layout)


class Atom(EnumAttr, mnemonic="nv_tileas.atom"):
    """The instruction that implements a dot."""

    FMA = 0
    """Scalar FMAs, for types without tensor-core support."""
    MMA_SYNC = 1
    WGMMA = 2

    @property
    def asynchronous(self) -> bool:
        """Whether a dot runs beside what follows it, until a wait, and reads B in shared memory."""
        return self is Atom.WGMMA

    @property
    def holds_warps(self) -> bool:
        """Whether warps wait while tensor cores multiply what is in their registers."""
        return self is Atom.MMA_SYNC


class CopyEngine(EnumAttr, mnemonic="nv_tileas.engine"):
    """What copies a tile from global to shared memory."""

    CP_ASYNC = 0
    """Each thread copies 4, 8 or 16 bytes at a time, asynchronously."""
    REGISTERS = 1
    """Each thread loads into registers and stores from there: for every other access."""
    TMA = 2
    """One thread copies boxes by the tensor memory accelerator, through a tensor map."""


class ScheduleAttr(Parametric):
    """`#nv_tileas.schedule<stages = 4, distance = 2, lag = 1>`: the software pipeline of a loop.

    Iteration `i` starts the copies of iteration `i + distance`. A stage is free `lag` iterations
    after its own: dots that are in flight still read it. Copies and reads meet at one barrier in
    each iteration, so the stages are at least `distance + lag + 1`; a pipeline in which threads
    only read what they copied themselves has no barrier, and needs `distance` stages.
    """

    __slots__ = ("distance", "lag", "stages")
    mnemonic = "nv_tileas.schedule"

    distance: int
    lag: int
    stages: int

    def __new__(cls, stages: int, distance: int, lag: int = 0) -> Self:
        return cls.unique(distance, lag, stages)

    def __reduce__(self) -> tuple[object, ...]:
        return ScheduleAttr, (self.stages, self.distance, self.lag)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        distance, lag, stages = cast("tuple[int, int, int]", parameters)
        if not 0 < distance < -STAGES[0] or lag < 0:
            expected = f"a distance from 1 to {-STAGES[0] - 1} and a lag from 0 on"
            return f"expected {expected}, got {distance} and {lag}"
        if stages < distance + lag:
            return f"expected at least {distance + lag} stages, got {stages}"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<stages = {self.stages}, distance = {self.distance}, lag = {self.lag}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        numbers: list[int] = []
        for name, mark in (("stages", "<"), ("distance", ","), ("lag", ",")):
            parser.expect(mark)
            parser.expect(name)
            parser.expect("=")
            numbers.append(parser.integer())
        parser.expect(">")
        return cls(*numbers)


class Residency(EnumAttr, mnemonic="nv_tileas.residency"):
    """The memory space of a buffer."""

    SHARED = 0
    TENSOR = 1
    """Tensor memory."""


ATOM: Final = EnumKind(Atom)
ENGINE: Final = EnumKind(CopyEngine)
LAYOUT: Final = InstanceKind(LayoutAttr, "layout")


def laid_out(element: Type, layout: Layout) -> TensorType:
    """The type of a tile in a layout."""
    return TensorType(layout.shape, element, LayoutAttr(layout))


def layout_of(value: Value | Type) -> Layout:
    """The layout of a tile, which must have one."""
    layout = maybe_layout_of(value)
    assert layout is not None
    return layout


def maybe_layout_of(value: Value | Type) -> Layout | None:
    """The layout of a tile, or `None` for scalars and tiles without a layout."""
    type = value if isinstance(value, TensorType) else getattr(value, "type", None)
    if isinstance(type, TensorType) and isinstance(type.encoding, LayoutAttr):
        return type.encoding.layout
    return None


def in_shared_memory(value: Value | Type) -> bool:
    """Whether a value is a tile in shared memory."""
    layout = maybe_layout_of(value)
    return layout is not None and layout.names == (OFFSET,)


def alias(attribute: Attribute) -> str | None:
    """Alias layouts: they are long and recur, so the printer defines each once."""
    return "layout" if isinstance(attribute, LayoutAttr) else None
