"""Tests of moves between layouts: carried out on tables, and as cheap as they can be."""

from __future__ import annotations

from hypothesis import given

from tests.shared.layouts import thread_layouts
from tilewright.layout.fragments import mma_accumulator, mma_left
from tilewright.layout.linear import HOLDERS, LANE, REGISTER, WARP, Layout, elements
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.transfer import Move, shuffles_pay, transfer


def holder(source: Layout, packed: int) -> dict[str, int]:
    """A packed input of the source in the order of `HOLDERS`, by name."""
    ordered = Layout([(name, source.vectors(name)) for name in HOLDERS], source.shape)
    return {name: i for name, i in ordered.split(packed).items() if source.vectors(name)}


@given(thread_layouts(surjective=True), thread_layouts())
def test_each_place_takes_its_element_from_one_that_holds_it(one: Layout, two: Layout) -> None:
    found = transfer(one, two)
    for indices, place in elements(two):
        origin = holder(one, found.origin.packed(**indices))
        assert one.at(**origin) == place


@given(thread_layouts(surjective=True), thread_layouts())
def test_a_move_reaches_no_further_than_it_says(one: Layout, two: Layout) -> None:
    found = transfer(one, two)
    for indices, _ in elements(two):
        origin = holder(one, found.origin.packed(**indices))
        if found.move <= Move.SHUFFLES:
            assert origin.get(WARP, 0) == indices.get(WARP, 0)
        if found.move <= Move.REGISTERS:
            assert origin.get(LANE, 0) == indices.get(LANE, 0)
        if found.move == Move.NOTHING:
            assert origin.get(REGISTER, 0) == indices.get(REGISTER, 0)


@given(thread_layouts(surjective=True), thread_layouts())
def test_no_cheaper_move_exists(one: Layout, two: Layout) -> None:
    """By search: a thread (a warp) that holds what it needs moves registers (shuffles) only."""
    in_thread: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    in_warp: dict[int, set[tuple[int, ...]]] = {}
    for indices, place in elements(one):
        in_thread.setdefault((indices[LANE], indices[WARP]), set()).add(place)
        in_warp.setdefault(indices[WARP], set()).add(place)
    needs = [(indices[LANE], indices[WARP], place) for indices, place in elements(two)]
    if all(place in in_thread[lane, warp] for lane, warp, place in needs):
        assert transfer(one, two).move <= Move.REGISTERS
    elif all(place in in_warp[warp] for _, warp, place in needs):
        assert transfer(one, two).move <= Move.SHUFFLES


@given(thread_layouts(surjective=True))
def test_a_layout_moves_to_itself_for_nothing(layout: Layout) -> None:
    assert transfer(layout, layout).move == Move.NOTHING


def test_accumulators_of_halves_are_left_operands() -> None:
    """The accumulator of one product is the A operand of the next, in other registers at most."""
    accumulator = fragment_tile(
        mma_accumulator(), (16, 16), Grid(1, 1, 1, 1), rows=True, columns=True
    )
    assert transfer(accumulator, mma_left(16)).move <= Move.REGISTERS


def test_between_warps_it_takes_shared_memory() -> None:
    found = transfer(spread((64, 64), 4), spread((64, 64), 4, order=(0, 1)))
    assert found.move == Move.SHARED


def test_a_transpose_within_a_warp_chooses_between_registers() -> None:
    found = transfer(spread((32, 32), 1), spread((32, 32), 1, order=(0, 1)))
    assert found.move == Move.SHUFFLES
    assert found.variants == 32
    assert not shuffles_pay(found)


def test_replicas_are_read_where_they_are() -> None:
    everywhere = Layout.build({LANE: [(0,), (0,)], REGISTER: [(1,), (2,)]}, (4,))
    spread_out = Layout.build({LANE: [(1,), (2,)]}, (4,))
    assert transfer(everywhere, spread_out).move == Move.REGISTERS
