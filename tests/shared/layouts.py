"""Random layouts, and layouts written out as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, elements, log2


def shapes() -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of small tiles."""
    return st.lists(st.sampled_from((1, 2, 4, 8)), min_size=1, max_size=3).map(tuple)


@st.composite
def layouts(draw: st.DrawFn, *, surjective: bool = False, shape: tuple[int, ...] = ()) -> Layout:
    """Layouts of registers, lanes and warps; a surjective one covers every element."""
    extents = shape or draw(shapes())
    bits = log2(Layout([], extents).size)
    vectors = draw(st.lists(st.integers(0, (1 << bits) - 1), max_size=3))
    if surjective:
        vectors = draw(st.permutations(vectors + _mixed(draw, bits)))
    first = draw(st.integers(0, len(vectors)))
    second = draw(st.integers(first, len(vectors)))
    return Layout(
        [(REGISTER, vectors[:first]), (LANE, vectors[first:second]), (WARP, vectors[second:])],
        extents,
    )


@st.composite
def thread_layouts(draw: st.DrawFn, *, surjective: bool = False) -> Layout:
    """Layouts of a 4x8 tile over four lanes and two warps, with any number of registers."""
    vectors = draw(st.lists(st.integers(0, 31), min_size=3, max_size=5))
    if surjective:
        vectors = draw(st.permutations(vectors[3:] + _mixed(draw, 5)))
    return Layout([(REGISTER, vectors[3:]), (LANE, vectors[:2]), (WARP, vectors[2:3])], (4, 8))


def _mixed(draw: st.DrawFn, bits: int) -> list[int]:
    """A random basis: unit vectors, each with some of those before it added."""
    return [(1 << bit) | draw(st.integers(0, (1 << bit) - 1)) for bit in range(bits)]


def table(layout: Layout) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return the element of every input."""
    return {tuple(indices.values()): element for indices, element in elements(layout)}


def is_injective(layout: Layout) -> bool:
    """Return whether no element is held twice, by counting."""
    held = [element for _, element in elements(layout)]
    return len(held) == len(set(held))


def wavefronts(lanes: Sequence[int], width: int) -> int:
    """Shared-memory wavefronts of one access: per phase, the words of the fullest bank.

    `lanes` has the byte offset that each bit of the lane number adds; a lane takes `width` bytes.
    """
    layout = Layout([(LANE, lanes)], (1 << max(lanes).bit_length(),))
    lanes_per_phase = 32 if width <= 4 else 128 // width
    count = 0
    for start in range(0, 32, lanes_per_phase):
        words: dict[int, set[int]] = {}
        for lane in range(start, start + lanes_per_phase):
            for byte in range(0, width, 4):
                word = (layout.packed(lane=lane) + byte) // 4
                words.setdefault(word % 32, set()).add(word)
        count += max(map(len, words.values()))
    return count
