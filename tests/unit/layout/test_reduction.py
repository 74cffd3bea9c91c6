"""Tests of reductions: carried out on tables, every element counts exactly once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from layouts import thread_layouts

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.reduction import reduction


def registers_of(layout: Layout, lane: int, warp: int) -> list[tuple[int, ...]]:
    count = layout.extent(REGISTER)
    return [layout.at(register=r, lane=lane, warp=warp) for r in range(count)]


@given(thread_layouts(surjective=True), st.integers(0, 1))
def test_every_element_of_a_line_counts_once(source: Layout, axis: int) -> None:
    """Partial results are multisets of elements; lanes shuffle, warps go through slots."""
    source = source.distinct_registers()
    steps = reduction(source, axis)
    lanes, warps = range(source.extent(LANE)), range(source.extent(WARP))
    bags: dict[tuple[int, int], list[Counter[tuple[int, ...]]]] = {}
    for lane in lanes:
        for warp in warps:
            mine = registers_of(source, lane, warp)
            bags[lane, warp] = [Counter(mine[r] for r in group) for group in steps.groups]
    for step in steps.lanes:
        bags = {
            (lane, warp): [
                bag + bags[lane ^ step.bits, warp][register ^ step.registers]
                for register, bag in enumerate(own)
            ]
            for (lane, warp), own in bags.items()
        }
    slots: dict[tuple[tuple[int, ...], int], Counter[tuple[int, ...]]] = {}
    for (lane, warp), own in bags.items():
        slot = sum(1 << n for n, step in enumerate(steps.warps) if warp >> step.leading & 1)
        for register, bag in enumerate(own):
            line = steps.partial.at(register=register, lane=lane, warp=warp)
            assert slots.setdefault((line, slot), bag) == bag
    extents = source.shape
    for line in {line for line, _ in slots}:
        counted: Counter[tuple[int, ...]] = Counter()
        for slot in range(1 << len(steps.warps)):
            counted += slots[line, slot]
        expected = [(*line[:axis], index, *line[axis:]) for index in range(extents[axis])]
        assert counted == Counter(expected)
