"""Tests of layout conversions: carried out on tables, and as cheap as possible."""

from __future__ import annotations

from hypothesis import given
from layouts import thread_layouts

from tilewright.layout.fragments import mma_accumulator, mma_left
from tilewright.layout.linear import HOLDERS, LANE, REGISTER, WARP, Layout, elements
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.transfer import Move, shuffles_pay, transfer


def owner(source: Layout, packed: int) -> dict[str, int]:
    """A packed input of the source in the order of `HOLDERS`, by name."""
    ordered = Layout([(name, source.vectors(name)) for name in HOLDERS], source.shape)
    return {name: i for name, i in ordered.split(packed).items() if source.vectors(name)}


@given(thread_layouts(surjective=True), thread_layouts())
def test_each_register_takes_its_element_from_an_owner(one: Layout, two: Layout) -> None:
    conversion = transfer(one, two)
    for indices, element in elements(two):
        origin = owner(one, conversion.origin.packed(**indices))
        assert one.at(**origin) == element


@given(thread_layouts(surjective=True), thread_layouts())
def test_a_conversion_stays_in_its_scope(one: Layout, two: Layout) -> None:
    conversion = transfer(one, two)
    for indices, _ in elements(two):
        origin = owner(one, conversion.origin.packed(**indices))
        if conversion.move <= Move.SHUFFLES:
            assert origin.get(WARP, 0) == indices.get(WARP, 0)
        if conversion.move <= Move.REGISTERS:
            assert origin.get(LANE, 0) == indices.get(LANE, 0)
        if conversion.move == Move.NOTHING:
            assert origin.get(REGISTER, 0) == indices.get(REGISTER, 0)


@given(thread_layouts(surjective=True), thread_layouts())
def test_no_cheaper_conversion_exists(one: Layout, two: Layout) -> None:
    """By search: a thread (a warp) that holds all its elements uses registers (shuffles) only."""
    in_thread: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    in_warp: dict[int, set[tuple[int, ...]]] = {}
    for indices, element in elements(one):
        in_thread.setdefault((indices[LANE], indices[WARP]), set()).add(element)
        in_warp.setdefault(indices[WARP], set()).add(element)
    needs = [(indices[LANE], indices[WARP], element) for indices, element in elements(two)]
    if all(element in in_thread[lane, warp] for lane, warp, element in needs):
        assert transfer(one, two).move <= Move.REGISTERS
    elif all(element in in_warp[warp] for _, warp, element in needs):
        assert transfer(one, two).move <= Move.SHUFFLES


@given(thread_layouts(surjective=True))
def test_a_layout_converts_to_itself_for_free(layout: Layout) -> None:
    assert transfer(layout, layout).move == Move.NOTHING


def test_f16_accumulators_are_a_operands() -> None:
    """The accumulator of one mma is the A operand of the next, in other registers at most."""
    accumulator = fragment_tile(
        mma_accumulator(), (16, 16), Grid(1, 1, 1, 1), rows=True, columns=True
    )
    assert transfer(accumulator, mma_left(16)).move <= Move.REGISTERS


def test_conversions_between_warps_use_shared_memory() -> None:
    conversion = transfer(spread((64, 64), 4), spread((64, 64), 4, order=(0, 1)))
    assert conversion.move == Move.SHARED


def test_a_transpose_within_a_warp_chooses_between_registers() -> None:
    conversion = transfer(spread((32, 32), 1), spread((32, 32), 1, order=(0, 1)))
    assert conversion.move == Move.SHUFFLES
    assert conversion.variants == 32
    assert not shuffles_pay(conversion)


def test_replicas_are_read_where_they_are() -> None:
    everywhere = Layout.build({LANE: [(0,), (0,)], REGISTER: [(1,), (2,)]}, (4,))
    spread_out = Layout.build({LANE: [(1,), (2,)]}, (4,))
    assert transfer(everywhere, spread_out).move == Move.REGISTERS
