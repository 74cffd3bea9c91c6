"""Integer ranges, and their behavior at overflow."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.analysis.intervals import Interval, anything, between, exactly
from tilewright.analysis.ranges import MOST_PROGRAMS, Ranges

HEAD = """
nv_tileaa.func @f(%n: i8, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
  %a = nv_tileaa.assume #nv_tileaa.bounded<0, 100>, %n : i8
  %b = nv_tileaa.assume #nv_tileaa.bounded<-3, 5>, %n : i8
  %d = nv_tileaa.assume #nv_tileaa.bounded<2, 4>, %n : i8
"""


def last(body: str) -> Interval:
    """The interval of the last result."""
    function = read(HEAD + body + "\nnv_tileaa.return }").regions[0].block.first
    assert function is not None
    end = function.regions[0].block.last
    assert end is not None
    assert end.prev is not None
    return Ranges(function).of(end.prev.results[0])


def signed(low: int, high: int) -> Interval:
    return between(8, signed=(low, high))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("addi %b, %d", signed(-1, 9)),
        # 100 + 100 leaves the signed bytes, not the unsigned ones.
        ("addi %a, %a", between(8, unsigned=(0, 200))),
        ("addi %a, %a overflow<nsw>", signed(0, 127)),
        ("addi %n, %d", anything(8)),
        ("subi %d, %b", signed(-3, 7)),
        ("subi %a, %a", signed(-100, 100)),
        ("muli %b, %d", signed(-12, 20)),
        ("muli %a, %d", anything(8)),
        ("divi %a, %d signed", signed(0, 50)),
        ("divi %b, %d signed", signed(-1, 2)),
        ("divi %b, %d signed rounding<negative_inf>", signed(-2, 2)),
        ("divi %b, %d signed rounding<positive_inf>", signed(-1, 3)),
        ("divi %a, %b signed", signed(-100, 100)),
        ("remi %a, %d signed", signed(0, 3)),
        ("remi %b, %d signed", signed(-3, 3)),
        ("remi %n, %d unsigned", signed(0, 3)),
        ("andi %n, %d", signed(0, 4)),
        ("ori %d, %a", signed(2, 127)),
        ("xori %d, %d", signed(0, 7)),
        ("shli %d, %d", between(8, unsigned=(8, 64))),
        ("shli %a, %d", anything(8)),
        ("shri %b, %d signed", signed(-1, 1)),
        ("shri %n, %d unsigned", signed(0, 63)),
    ],
)
def test_arithmetic(operation: str, expected: Interval) -> None:
    assert last(f"%r = nv_tileaa.{operation} : i8") == expected


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ("slt, %b, %d", anything(1)),
        ("sle, %b, %a", anything(1)),
        ("sge, %a, %b", anything(1)),
        ("slt, %n, %n", anything(1)),
    ],
)
def test_open_comparisons(comparison: str, expected: Interval) -> None:
    assert last(f"%r = nv_tileaa.cmpi {comparison} : i8") == expected


def test_decided_comparisons() -> None:
    assert last("%r = nv_tileaa.cmpi slt, %x, %c0 : i32") == exactly(0, 1)
    assert last("%r = nv_tileaa.cmpi sge, %x, %c0 : i32") == exactly(1, 1)
    assert last("%r = nv_tileaa.cmpi eq, %c1, %c10 : i32") == exactly(0, 1)


def test_blocks_are_counted_from_zero() -> None:
    interval = last("%r = nv_tileaa.addi %x, %c1 : i32")
    assert (interval.low, interval.high) == (1, MOST_PROGRAMS)


def test_conversions() -> None:
    assert last("%r = nv_tileaa.exti %b signed : i8 to i32") == between(32, signed=(-3, 5))
    assert last("%r = nv_tileaa.exti %b unsigned : i8 to i32") == between(32, unsigned=(0, 255))
    assert last("%r = nv_tileaa.trunci %c10 : i32 to i8") == exactly(10, 8)
    assert last("%r = nv_tileaa.trunci %k : i32 to i8") == anything(8)


def test_the_index_of_a_loop() -> None:
    loop = """
    %r = scf.for %i = %c1 to %c10 step %c1 iter_args(%o = %c0) -> (i32) : i32 {
      scf.yield %i : i32
    }
    """
    assert last(loop) == between(32, signed=(0, 9))


def test_a_loop_that_adds_up_ends_at_the_ends_of_the_type() -> None:
    loop = """
    %r = scf.for %i = %c1 to %k step %c1 iter_args(%o = %c0) -> (i32) : i32 {
      %s = nv_tileaa.addi %o, %c1 : i32
      scf.yield %s : i32
    }
    """
    assert last(loop) == anything(32)


def test_small_values_in_a_loop_stay_bounded() -> None:
    loop = """
    %r = scf.for %i = %c1 to %k step %c1 iter_args(%o = %c0) -> (i32) : i32 {
      %s = nv_tileaa.addi %o, %c1 : i32
      %t = nv_tileaa.remi %s, %c10 unsigned : i32
      scf.yield %t : i32
    }
    """
    # Widening: a growing bound stops at the next of a few widths.
    assert last(loop).high <= 127
    assert last(loop).low == 0
