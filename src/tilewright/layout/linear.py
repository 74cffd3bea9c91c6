"""Linear layouts: which element of a tile each register of each thread holds, bit by bit.

Every extent is a power of two, so a layout is a linear map over bits: each bit of an input index
(register, lane, warp, cta, or the offset in memory) contributes one vector of output bits, and an
element's index is the exclusive or of the contributions. A zero vector says that both values of
that bit hold the same element: a replica.

An 8x4 tile on 8 lanes with 4 registers each, a row a lane:

>>> rows = Layout.build({"register": [(0, 1), (0, 2)], "lane": [(1, 0), (2, 0), (4, 0)]}, (8, 4))
>>> rows.at(register=3, lane=5)
(5, 3)
>>> print(rows)
register: (0, 1) (0, 2); lane: (1, 0) (2, 0) (4, 0) -> 8x4

Inputs are listed from the fastest to the slowest, extents of the output as tensors are written,
the last one fastest: the packed output is the row-major number of an element, and reshaping a
tile changes none of the vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.layout import gf2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

REGISTER: Final = "register"
LANE: Final = "lane"
WARP: Final = "warp"
CTA: Final = "cta"
OFFSET: Final = "offset"

HOLDERS: Final = (REGISTER, LANE, WARP, CTA)
"""The input dimensions of a register layout, the cheapest to exchange over first."""


def log2(extent: int) -> int:
    """The number of bits of an extent, which must be a power of two."""
    if extent < 1 or extent & (extent - 1):
        message = f"expected a power of two, got {extent}"
        raise ValueError(message)
    return extent.bit_length() - 1


class Layout:
    """A linear map from named inputs to the packed index of an element; a frozen value."""

    __slots__ = ("_hash", "inputs", "shape")

    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    """By name, the packed vector of each bit, the lowest bit first."""
    shape: tuple[int, ...]
    """The extents of the output."""

    def __init__(self, inputs: Sequence[tuple[str, Sequence[int]]], shape: Sequence[int]) -> None:
        self.inputs = tuple((name, tuple(vectors)) for name, vectors in inputs)
        self.shape = tuple(shape)
        self._hash = hash((self.inputs, self.shape))
        for extent in self.shape:
            log2(extent)
        size = self.size
        for name, vectors in self.inputs:
            if any(not 0 <= vector < size for vector in vectors):
                message = f"expected vectors of {name} within {self.shape}, got {vectors}"
                raise ValueError(message)

    @staticmethod
    def build(inputs: Mapping[str, Sequence[Sequence[int]]], shape: Sequence[int]) -> Layout:
        """A layout from coordinates instead of packed vectors."""
        packed = [
            (name, [pack(vector, shape) for vector in vectors]) for name, vectors in inputs.items()
        ]
        return Layout(packed, shape)

    @property
    def size(self) -> int:
        """How many elements the output has."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(name for name, _ in self.inputs)

    def vectors(self, name: str) -> tuple[int, ...]:
        """The packed vectors of an input; none if there is no such input."""
        for other, vectors in self.inputs:
            if other == name:
                return vectors
        return ()

    def extent(self, name: str) -> int:
        """How many values an input takes."""
        return 1 << len(self.vectors(name))

    def columns(self) -> list[int]:
        """The vectors of all inputs one after the other: the map of the packed input."""
        return [vector for _, vectors in self.inputs for vector in vectors]

    def packed(self, **indices: int) -> int:
        """The packed index of the element at an input."""
        element = 0
        for name, index in indices.items():
            element ^= gf2.combine(self.vectors(name), index)
        return element

    def at(self, **indices: int) -> tuple[int, ...]:
        """The coordinates of the element at an input."""
        return unpack(self.packed(**indices), self.shape)

    @property
    def is_surjective(self) -> bool:
        """Whether every element is somewhere."""
        return 1 << gf2.rank(self.columns()) == self.size

    def replicas(self) -> dict[str, int]:
        """By input, the mask of the bits that repeat elements held where the bit is 0.

        The inputs with all these bits 0 hold every element once: side effects act from them.

        >>> Layout.build({"lane": [(1,), (0,)], "warp": [(1,)]}, (2,)).replicas()
        {'lane': 2, 'warp': 1}
        """
        basis = gf2.Basis()
        masks: dict[str, int] = {}
        for name, vectors in self.inputs:
            mask = 0
            for bit, vector in enumerate(vectors):
                if not basis.offer(0, vector):
                    mask |= 1 << bit
            if mask:
                masks[name] = mask
        return masks

    def with_input(self, name: str, vectors: Sequence[int]) -> Layout:
        """The same layout with other vectors for one input, which is added if it is new."""
        if name not in self.names:
            return Layout((*self.inputs, (name, vectors)), self.shape)
        replaced = [(other, vectors if other == name else old) for other, old in self.inputs]
        return Layout(replaced, self.shape)

    def only(self, *names: str) -> Layout:
        """The layout with every other input held at 0."""
        return Layout([pair for pair in self.inputs if pair[0] in names], self.shape)

    def reshape(self, shape: Sequence[int]) -> Layout:
        """The layout of the same elements as a tile of another shape, in row-major order."""
        result = Layout(self.inputs, shape)
        if result.size != self.size:
            message = f"expected {self.size} elements, got {result.size}"
            raise ValueError(message)
        return result

    def permute(self, order: Sequence[int]) -> Layout:
        """The layout of the transposed tile: dimension i of it is dimension order[i] of this one.

        >>> Layout.build({"lane": [(0, 1), (1, 0)]}, (2, 2)).permute((1, 0)).at(lane=1)
        (1, 0)
        """
        shape = [self.shape[dimension] for dimension in order]

        def moved(vector: int) -> int:
            coordinates = unpack(vector, self.shape)
            return pack([coordinates[dimension] for dimension in order], shape)

        return self._map(moved, shape)

    def drop(self, dimension: int) -> Layout:
        """The layout of what is left when a dimension is reduced: its vectors become replicas."""
        shape = [e for number, e in enumerate(self.shape) if number != dimension]

        def projected(vector: int) -> int:
            coordinates = unpack(vector, self.shape)
            return pack([c for number, c in enumerate(coordinates) if number != dimension], shape)

        return self._map(projected, shape)

    def expand(self, dimension: int) -> Layout:
        """The layout with a new dimension of extent 1."""
        return self.reshape((*self.shape[:dimension], 1, *self.shape[dimension:]))

    def resize(self, shape: Sequence[int]) -> Layout:
        """The layout with extents cut or grown: what points outside becomes a replica."""

        def cut(vector: int) -> int:
            coordinates = unpack(vector, self.shape)
            return pack([c % e for c, e in zip(coordinates, shape, strict=True)], shape)

        return self._map(cut, shape)

    def _map(self, change: Callable[[int], int], shape: Sequence[int]) -> Layout:
        changed = [(name, [change(v) for v in vectors]) for name, vectors in self.inputs]
        return Layout(changed, shape)

    def distinct_registers(self) -> Layout:
        """The layout without registers that repeat what other registers of the thread hold."""
        basis = gf2.Basis()
        kept = [v for v in self.vectors(REGISTER) if basis.offer(0, v)]
        return self.with_input(REGISTER, kept)

    def then(self, memory: Layout) -> Layout:
        """First this map, then another whose inputs, packed, are this one's packed output.

        >>> rows = Layout.build({"lane": [(0, 1), (1, 0)]}, (2, 2))
        >>> swapped = Layout([("element", [2, 1])], (4,))
        >>> rows.then(swapped).vectors("lane")
        (2, 1)
        """
        columns = memory.columns()
        if 1 << len(columns) != self.size:
            message = f"expected {self.size} inputs, got {1 << len(columns)}"
            raise ValueError(message)
        return self._map(lambda vector: gf2.combine(columns, vector), memory.shape)

    def product(self, outer: Layout) -> Layout:
        """Copies of this layout, arranged by another: its bits lie above this one's.

        >>> pair = Layout.build({"register": [(0, 1)]}, (1, 2))
        >>> pair.product(Layout.build({"lane": [(1, 0), (0, 1)]}, (2, 2))).shape
        (2, 4)
        """
        shape = [a * b for a, b in zip(self.shape, outer.shape, strict=True)]
        inner = {
            name: [repack(vector, self.shape, shape) for vector in vectors]
            for name, vectors in self.inputs
        }
        for name, vectors in outer.inputs:
            scaled = [
                pack(
                    [c * e for c, e in zip(unpack(v, outer.shape), self.shape, strict=True)], shape
                )
                for v in vectors
            ]
            inner.setdefault(name, []).extend(scaled)
        return Layout(list(inner.items()), shape)

    def divide(self, inner: Layout) -> Layout | None:
        """The layout whose product with `inner` below it is this one; None if there is none."""
        if len(inner.shape) != len(self.shape):
            return None
        if any(e % i for e, i in zip(self.shape, inner.shape, strict=True)):
            return None
        shape = [e // i for e, i in zip(self.shape, inner.shape, strict=True)]
        quotient: list[tuple[str, list[int]]] = []
        for name, vectors in self.inputs:
            low = [repack(vector, inner.shape, self.shape) for vector in inner.vectors(name)]
            if list(vectors[: len(low)]) != low:
                return None
            rest: list[int] = []
            for vector in vectors[len(low) :]:
                coordinates = unpack(vector, self.shape)
                if any(c % i for c, i in zip(coordinates, inner.shape, strict=True)):
                    return None
                rest.append(
                    pack([c // i for c, i in zip(coordinates, inner.shape, strict=True)], shape)
                )
            quotient.append((name, rest))
        if any(name not in self.names and vectors for name, vectors in inner.inputs):
            return None
        return Layout(quotient, shape)

    def split(self, packed: int) -> dict[str, int]:
        """A packed input, by name."""
        indices: dict[str, int] = {}
        for name, vectors in self.inputs:
            indices[name] = packed & ((1 << len(vectors)) - 1)
            packed >>= len(vectors)
        return indices

    def inverse(self) -> Layout:
        """The map from elements to the packed input that holds them, replicas at 0.

        >>> Layout.build({"lane": [(2,), (1,)]}, (4,)).inverse().vectors("element")
        (2, 1)
        """
        basis = gf2.Basis(self.columns())
        masks = [basis.express(1 << bit) for bit in range(log2(self.size))]
        solved = [mask for mask in masks if mask is not None]
        if len(solved) < len(masks):
            message = f"expected a layout that holds every element, got {self}"
            raise ValueError(message)
        return Layout([("element", solved)], (1 << len(self.columns()),))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.inputs == other.inputs and self.shape == other.shape

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        parts = [
            f"{name}: " + " ".join(_coordinates(v, self.shape) for v in vectors)
            for name, vectors in self.inputs
            if vectors
        ]
        return "; ".join(parts) + " -> " + "x".join(map(str, self.shape))

    def __repr__(self) -> str:
        return f"<{self}>"


def pack(coordinates: Sequence[int], shape: Sequence[int]) -> int:
    """The row-major number of an element."""
    packed = 0
    for coordinate, extent in zip(coordinates, shape, strict=True):
        packed = packed * extent + coordinate
    return packed


def unpack(packed: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of the element with a row-major number."""
    coordinates: list[int] = []
    for extent in reversed(shape):
        coordinates.append(packed % extent)
        packed //= extent
    return tuple(reversed(coordinates))


def repack(packed: int, shape: Sequence[int], other: Sequence[int]) -> int:
    """The number, in a tile of another shape, of the element with the same coordinates."""
    return pack(unpack(packed, shape), other)


def _coordinates(vector: int, shape: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, unpack(vector, shape))) + ")"


def elements(layout: Layout) -> Iterator[tuple[dict[str, int], tuple[int, ...]]]:
    """Every input with the coordinates of its element: for pictures and tests."""
    for packed in range(1 << len(layout.columns())):
        indices = layout.split(packed)
        yield indices, layout.at(**indices)
