"""The cheapest move of a tile from one layout to another."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.layout import gf2
from tilewright.layout.linear import HOLDERS, LANE, REGISTER, Layout, log2

if TYPE_CHECKING:
    from collections.abc import Sequence

BARRIER_COST: Final = 16
"""A round trip through shared memory waits twice for all warps: about so many shuffles."""

FEW: Final = 8
"""More registers go through shared memory, which moves up to 16 bytes at once."""


class Move(IntEnum):
    """Ways to move, the cheapest first."""

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
    """A move, and from where each place of the destination takes its element."""

    __slots__ = ("move", "origin", "variants")

    def __init__(self, move: Move, origin: Layout, variants: int) -> None:
        self.move = move
        self.origin = origin
        """The destination's inputs to packed inputs of the source."""
        self.variants = variants
        """For shuffles: between how many registers of the source each lane has to choose."""

    @property
    def shuffles(self) -> int:
        """How many shuffles a thread executes."""
        return self.origin.extent(REGISTER) * self.variants

    def __repr__(self) -> str:
        return f"<{self.move.name.lower()}: {self.origin}>"


@lru_cache(maxsize=1024)
def transfer(source: Layout, destination: Layout) -> Transfer:
    """The cheapest move between two layouts of one tile.

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


def is_shuffled(found: Transfer) -> bool:
    """Whether a move goes by shuffles: one for each register, of few registers."""
    if found.move is not Move.SHUFFLES or found.variants > 1:
        return False
    return found.origin.extent(REGISTER) <= FEW and shuffles_pay(found)


def shuffles_pay(found: Transfer) -> bool:
    """Whether shuffling costs less than writing to shared memory and reading back."""
    return found.shuffles <= BARRIER_COST + 2 * found.origin.extent(REGISTER)


def _origin(source: Layout, destination: Layout) -> Layout:
    """For each input of the destination, an input of the source that holds its element.

    Each bit stays where it is as far as it can: what is missing comes from registers first, then
    from lanes, then from warps. Replicas make that a choice.
    """
    ordered = _by_cost(source)
    columns = ordered.columns()
    basis = gf2.Basis(columns)
    starts = _starts(ordered)
    inputs: list[tuple[str, list[int]]] = []
    for name, vectors in destination.inputs:
        own = ordered.vectors(name)
        found: list[int] = []
        for bit, vector in enumerate(vectors):
            same = 1 << (starts[name] + bit) if bit < len(own) else 0
            missing = basis.express(vector ^ (own[bit] if same else 0))
            if missing is None:
                message = f"expected a layout that holds every element, got {source}"
                raise ValueError(message)
            found.append(same ^ missing)
        inputs.append((name, found))
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
    moves = (Move.REGISTERS, Move.SHUFFLES, Move.SHARED)
    for move, name in zip(moves, HOLDERS[1:], strict=True):
        if _stays_from(origin, starts, name):
            return move
    return Move.CLUSTER


def _stays_from(origin: Layout, starts: dict[str, int], first: str) -> bool:
    """Whether the inputs from that one on are taken over as they are, and by nobody else."""
    bound = starts[first]
    kept = HOLDERS[HOLDERS.index(first) :]
    for name, vectors in origin.inputs:
        for bit, vector in enumerate(vectors):
            own = 1 << (starts[name] + bit) if name in kept else 0
            if vector >> bound << bound != own:
                return False
    return True


def _variants(source: Layout, origin: Layout) -> int:
    """Between how many registers lanes that read from one lane have to choose: a power of two."""
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
