"""Slices of a small program: where they end, and that they name each value once."""

from __future__ import annotations

from dialect_text import read

from tilewright.analysis.slices import backward_slice, closure, forward_slice
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value

PROGRAM = """
nv_tileaa.func @f(%a: i32, %b: i32, %c: i32) {
  %added = nv_tileaa.addi %a, %b : i32
  %twice = nv_tileaa.addi %added, %added : i32
  %scaled = nv_tileaa.muli %twice, %c : i32
  %end = nv_tileaa.addi %scaled, %added : i32
  nv_tileaa.return
}
"""


def operations() -> list[Operation]:
    """The operations of the program, in order."""
    function = read(PROGRAM).regions[0].block.first
    assert function is not None
    return list(function.regions[0].block)


def is_addition(op: Operation) -> bool:
    """What the slices go through."""
    return op.name == "nv_tileaa.addi"


def test_a_forward_slice_ends_at_operations_that_it_does_not_go_through() -> None:
    added, twice, scaled, end, _ = operations()
    uses = list(forward_slice([added.operands[0]], is_addition))
    assert {user for _, user in uses} == {added, twice, scaled, end}
    # The scaled is used by `end`, but the slice does not go through it.
    assert scaled.results[0] not in {value for value, _ in uses}
    assert (added.results[0], end) in uses


def test_a_backward_slice_has_what_values_are_computed_from() -> None:
    added, twice, scaled, end, _ = operations()
    values = list(backward_slice([end.results[0]], is_addition))
    wanted = [end.results[0], scaled.results[0], added.results[0], *added.operands]
    assert set(values) == set(wanted)
    assert len(values) == len(wanted)
    assert twice.results[0] not in values


def test_a_bounded_slice_follows_no_more_values() -> None:
    added, *_, end, _ = operations()
    assert len(list(backward_slice([end.results[0]], is_addition, most=3))) == 3
    assert added.results[0] in list(backward_slice([end.results[0]], is_addition, most=3))


def test_a_closure_names_each_value_once() -> None:
    added, twice, *_ = operations()

    def step(value: Value) -> list[Value]:
        return [twice.results[0], added.results[0], value]

    assert set(closure([added.results[0]], step)) == {added.results[0], twice.results[0]}
    assert len(list(closure([added.results[0]], step))) == 2
