"""The cheapest layout conversion of a tile: in registers, by shuffles or through memory."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.layout import gf2
from tilewright.layout.linear import HOLDERS, LANE, REGISTER, Layout, log2

if TYPE_CHECKING:
    from collections.abc import Sequence

BARRIER_COST: Final = 16
"""The cost, in shuffles, of the two barriers of a round trip through shared memory."""

FEW: Final = 8
"""Tiles of more registers go through shared memory, in accesses of up to 16 bytes."""


class Move(IntEnum):
    """Kinds of layout conversion, the cheapest first."""

    NOTHING = 0
    REGISTERS = 1
    """Every thread has what it needs, in other registers."""
    SHUFFLES = 2
    """Every warp has what it needs, in other lanes."""
    SHARED = 3
    """Warps need what other warps have."""
    CLUSTER = 4
    """CTAs need what other CTAs have."""


class Transfer:
    """A layout conversion: its kind, and the source of each element of the destination."""

    __slots__ = ("move", "origin", "variants")

    def __init__(self, move: Move, origin: Layout, variants: int) -> None:
        self.move = move
        self.origin = origin
        """The destination's inputs to packed inputs of the source."""
        self.variants = variants
        """For shuffles: the number of source registers that each lane selects from."""

    @property
    def shuffles(self) -> int:
        """How many shuffles a thread executes."""
        return self.origin.extent(REGISTER) * self.variants

    def __repr__(self) -> str:
        return f"<{self.move.name.lower()}: {self.origin}>"


@lru_cache(maxsize=1024)
def transfer(source: Layout, destination: Layout) -> Transfer:
    """The cheapest conversion between two layouts of one tile.

    >>> from tilewright.layout.spread import spread
    >>> one, two = spread((64, 2), warps=1), spread((64, 2), warps=1, vector=2)
    >>> transfer(one, two).move.name, transfer(one, one).move.name
    ('SHUFFLES', 'NOTHING')
    """
    if source.shape != destination.shape:
        message = f"expected layouts of one tile, got {source} and {destination}"
        raise ValueError(message)
    if any(source.extent(name) != destination.extent(name) for name in HOLDERS[1:]):
        message = f"expected layouts over the same threads, got {source} and {destination}"
        raise ValueError(message)
    origin = _origin(source, destination)
    return Transfer(_classify(source, origin), origin, _variants(source, origin))


def is_shuffled(conversion: Transfer) -> bool:
    """Whether a conversion uses shuffles: one per register, of few registers."""
    if conversion.move is not Move.SHUFFLES or conversion.variants > 1:
        return False
    return conversion.origin.extent(REGISTER) <= FEW and shuffles_pay(conversion)


def shuffles_pay(conversion: Transfer) -> bool:
    """Whether shuffling costs less than writing to shared memory and reading back."""
    return conversion.shuffles <= BARRIER_COST + 2 * conversion.origin.extent(REGISTER)


def _origin(source: Layout, destination: Layout) -> Layout:
    """For each input of the destination, an input of the source that holds its element.

    Each bit maps to itself where possible; the rest is taken from registers first, then from
    lanes, then from warps. Replicas leave that choice.
    """
    ordered = _by_cost(source)
    columns = ordered.columns()
    basis = gf2.Basis(columns)
    starts = _starts(ordered)
    inputs: list[tuple[str, list[int]]] = []
    for name, vectors in destination.inputs:
        own = ordered.vectors(name)
        origins: list[int] = []
        for bit, vector in enumerate(vectors):
            same = 1 << (starts[name] + bit) if bit < len(own) else 0
            missing = basis.express(vector ^ (own[bit] if same else 0))
            if missing is None:
                message = f"expected a layout that holds every element, got {source}"
                raise ValueError(message)
            origins.append(same ^ missing)
        inputs.append((name, origins))
    return Layout(inputs, (1 << len(columns),))


def _by_cost(layout: Layout) -> Layout:
    """The layout with its inputs in the order of `HOLDERS`, all of them present."""
    return Layout([(name, layout.vectors(name)) for name in HOLDERS], layout.shape)


def _starts(layout: Layout) -> dict[str, int]:
    starts: dict[str, int] = {}
    position = 0
    for name, vectors in layout.inputs:
        starts[name] = position
        position += len(vectors)
    return starts


def _classify(source: Layout, origin: Layout) -> Move:
    ordered = _by_cost(source)
    starts = _starts(ordered)
    identity = all(
        vector == 1 << (starts[name] + bit)
        for name, vectors in origin.inputs
        for bit, vector in enumerate(vectors)
    )
    if identity and origin.extent(REGISTER) == source.extent(REGISTER):
        return Move.NOTHING
    kinds = (Move.REGISTERS, Move.SHUFFLES, Move.SHARED)
    for move, name in zip(kinds, HOLDERS[1:], strict=True):
        if _stays_from(origin, starts, name):
            return move
    return Move.CLUSTER


def _stays_from(origin: Layout, starts: dict[str, int], first: str) -> bool:
    """Whether the inputs from `first` on map to themselves, and no other input maps to them."""
    bound = starts[first]
    kept = HOLDERS[HOLDERS.index(first) :]
    for name, vectors in origin.inputs:
        for bit, vector in enumerate(vectors):
            own = 1 << (starts[name] + bit) if name in kept else 0
            if vector >> bound << bound != own:
                return False
    return True


def _variants(source: Layout, origin: Layout) -> int:
    """How many source registers lanes that read from one lane select from: a power of two."""
    registers = log2(source.extent(REGISTER))
    lanes = log2(source.extent(LANE))
    low = (1 << registers) - 1
    wanted = origin.vectors(LANE)
    from_lane = [vector >> registers & ((1 << lanes) - 1) for vector in wanted]
    return 1 << _kernel_image(from_lane, [vector & low for vector in wanted])


def _kernel_image(keys: Sequence[int], values: Sequence[int]) -> int:
    """The rank of the values over all sums whose keys cancel."""
    basis = gf2.Basis()
    seen = gf2.Basis()
    for number, key in enumerate(keys):
        if basis.offer(number, key):
            continue
        sources = basis.express(key) or 0
        seen.offer(number, values[number] ^ gf2.combine(values, sources))
    return len(seen)
