"""Tests of linear layouts: against maps written out element by element."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st
from layouts import layouts, table

import tilewright.layout
from tilewright.layout.linear import Layout, elements, log2

MODULES = [name for _, name, _ in pkgutil.iter_modules(tilewright.layout.__path__)]


@each_case("name", MODULES)
def test_examples_of_the_documentation_hold(name: str) -> None:
    module = importlib.import_module(f"tilewright.layout.{name}")
    assert doctest.testmod(module).failed == 0


@given(layouts())
def test_a_layout_is_linear(layout: Layout) -> None:
    """The element at the exclusive or of two inputs is the exclusive or of the elements."""
    map_ = table(layout)
    for one in list(map_)[:16]:
        for two in list(map_)[-16:]:
            combined = tuple(a ^ b for a, b in zip(one, two, strict=True))
            assert map_[combined] == tuple(a ^ b for a, b in zip(map_[one], map_[two], strict=True))


@given(layouts())
def test_replicas_leave_every_element_held_once(layout: Layout) -> None:
    masks = layout.replicas()
    held = [
        element
        for indices, element in elements(layout)
        if not any(indices[name] & mask for name, mask in masks.items())
    ]
    assert len(held) == len(set(held))
    assert set(held) == {element for _, element in elements(layout)}


@given(layouts())
def test_surjective_as_counted(layout: Layout) -> None:
    held = [element for _, element in elements(layout)]
    assert layout.is_surjective == (len(set(held)) == layout.size)


@given(layouts(surjective=True))
def test_the_inverse_finds_every_element(layout: Layout) -> None:
    inverse = layout.inverse()
    for packed in range(layout.size):
        inputs = layout.split(inverse.packed(element=packed))
        assert layout.packed(**inputs) == packed


@given(layouts(), st.data())
def test_permute_reorders_coordinates(layout: Layout, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(layout.shape))))
    moved = layout.permute(order)
    for indices, element in elements(layout):
        assert moved.at(**indices) == tuple(element[dimension] for dimension in order)


@given(layouts(), st.data())
def test_drop_forgets_a_coordinate(layout: Layout, data: st.DataObject) -> None:
    dimension = data.draw(st.integers(0, len(layout.shape) - 1))
    dropped = layout.drop(dimension)
    for indices, element in elements(layout):
        assert dropped.at(**indices) == (*element[:dimension], *element[dimension + 1 :])


@given(layouts())
def test_reshape_keeps_the_row_major_number(layout: Layout) -> None:
    flat = layout.reshape((layout.size,))
    for indices, _ in elements(layout):
        assert flat.at(**indices) == (layout.packed(**indices),)
    assert flat.reshape(layout.shape) == layout


@given(layouts(), layouts())
def test_division_undoes_the_product(inner: Layout, outer: Layout) -> None:
    if len(inner.shape) != len(outer.shape):
        return
    whole = inner.product(outer)
    quotient = whole.divide(inner)
    assert quotient is not None
    assert table(quotient.only(*outer.names)) == table(outer)
    for indices, element in elements(inner):
        assert whole.at(**indices) == element


def test_a_layout_does_not_divide_by_another() -> None:
    rows = Layout.build({"lane": [(0, 1), (1, 0)]}, (2, 2))
    columns = Layout.build({"lane": [(1, 0)]}, (2, 1))
    assert rows.divide(columns) is None


@given(layouts(surjective=True))
def test_then_follows_the_memory(layout: Layout) -> None:
    bits = log2(layout.size)
    reversed_bits = Layout(
        [("element", [1 << (bits - 1 - b) for b in range(bits)])], (layout.size,)
    )
    composed = layout.then(reversed_bits)
    for indices, _ in elements(layout):
        expected = int(format(layout.packed(**indices), f"0{bits}b")[::-1], 2) if bits else 0
        assert composed.packed(**indices) == expected


def test_extents_are_powers_of_two() -> None:
    with pytest.raises(ValueError, match="expected a power of two, got 12"):
        log2(12)


def test_vectors_are_within_the_tile() -> None:
    with pytest.raises(ValueError, match="expected vectors of lane within"):
        Layout([("lane", [4])], (4,))


def test_equal_layouts_are_one_key() -> None:
    one = Layout.build({"lane": [(1,)]}, (2,))
    two = Layout([("lane", (1,))], (2,))
    assert one == two
    assert {one: "x"}[two] == "x"
