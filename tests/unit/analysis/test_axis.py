"""Axis facts of small programs, and cases in which none may be claimed."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.runs import MOST, Run
from tilewright.ir.values import Value

HEAD = """
nv_tileaa.func @f(%n: i32, %p: !nv_tileaa.ptr<f16>, %b: i8, %t: tensor<64xi32>) {
  %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
  %range = nv_tileaa.make_range : tensor<64xi32>
  %c64 = arith.constant 64 : i32
  %c8 = arith.constant 8 : i32
  %s8 = nv_tileaa.splat %c8 : i32 -> tensor<64xi32>
  %start = nv_tileaa.muli %x, %c64 : i32
  %starts = nv_tileaa.splat %start : i32 -> tensor<64xi32>
  %own = nv_tileaa.addi %starts, %range : tensor<64xi32>
  %n16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %n : i32
  %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : !nv_tileaa.ptr<f16>
"""


def facts(body: str) -> tuple[AxisFacts, Value]:
    """The facts of a function, and the result of its last operation."""
    function = read(HEAD + body + "\nnv_tileaa.return }").regions[0].block.first
    assert function is not None
    last = function.regions[0].block.last
    assert last is not None
    assert last.prev is not None
    return AxisFacts(function), last.prev.results[0]


def last(body: str) -> tuple[Run, ...]:
    """The runs of the last result."""
    analysis, value = facts(body)
    return analysis.of(value).dims


SIGNED = "signed : tensor<64xi32> to tensor<64xi64>"
T = "tensor<64xi32>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"%r = nv_tileaa.addi %own, %s8 : {T}", Run(64, 8, 1)),
        (f"%r = nv_tileaa.subi %own, %s8 : {T}", Run(64, 8, 1)),
        (f"%r = nv_tileaa.exti %own {SIGNED}", Run(64, 64, 1)),
        (f"%r = nv_tileaa.divi %own, %s8 unsigned : {T}", Run(1, 1, 8)),
        (f"%r = nv_tileaa.remi %own, %s8 unsigned : {T}", Run(8, 8, 1)),
        (f"%r = nv_tileaa.divi %own, %s8 signed rounding<negative_inf> : {T}", Run(1, 1, 8)),
        (f"%r = nv_tileaa.divi %range, %s8 signed : {T}", Run(1, 1, 8)),
        (f"%r = nv_tileaa.muli %range, %s8 : {T}", Run(1, 8, 1)),
        (f"%r = nv_tileaa.subi %own, %range : {T}", Run(1, 1, 64)),
        (f"%r = nv_tileaa.ori %starts, %range : {T}", Run(64, 64, 1)),
        (f"%r = nv_tileaa.select %m, %own, %range : tensor<64xi1>, {T}", Run(1, 1, 1)),
    ],
)
def test_arithmetic(body: str, expected: Run) -> None:
    mask = f"%m = nv_tileaa.cmpi eq, %own, %t : {T}\n"
    assert last(mask + body) == (expected,)


@pytest.mark.parametrize(
    "body",
    [
        # The remainder of negative numbers runs from zero to -7, -6, ...
        f"%r = nv_tileaa.remi %own, %s8 signed : {T}",
        f"%r = nv_tileaa.divi %own, %s8 signed : {T}",
        f"%r = nv_tileaa.divi %own, %s8 unsigned rounding<positive_inf> : {T}",
        # Runs that go down.
        f"%r = nv_tileaa.subi %s8, %own : {T}",
        f"%r = nv_tileaa.negi %own : {T}",
        # Nothing is known of the other operand.
        f"%r = nv_tileaa.addi %own, %t : {T}",
        f"%r = nv_tileaa.divi %own, %t unsigned : {T}",
    ],
)
def test_no_runs(body: str) -> None:
    (run,) = last(body)
    assert (run.contiguity, run.constancy) == (1, 1)


def test_all_numbers_of_a_byte_are_no_run_of_signed_numbers() -> None:
    line = "%i = nv_tileaa.make_range : tensor<256xi8>\n"
    wide = "%r = nv_tileaa.exti %i {} : tensor<256xi8> to tensor<256xi32>"
    assert last(line + wide.format("signed")) == (Run(128, 128, 1),)
    assert last(line + wide.format("unsigned")) == (Run(256, MOST, 1),)


def test_a_sum_that_may_wrap_around_is_no_run_of_wider_numbers() -> None:
    offset = "%o = nv_tileaa.splat %n : i32 -> tensor<64xi32>\n"
    added = f"%u = nv_tileaa.addi %o, %range : {T}\n"
    assert last(offset + added) == (Run(64, 1, 1),)
    assert last(offset + added + f"%r = nv_tileaa.exti %u {SIGNED}") == (Run(1, 1, 1),)


def test_a_sum_that_is_known_not_to_wrap_around_is() -> None:
    bound = "%m = nv_tileaa.assume #nv_tileaa.bounded<0, 1000>, %n : i32\n"
    offset = "%o = nv_tileaa.splat %m : i32 -> tensor<64xi32>\n"
    added = f"%u = nv_tileaa.addi %o, %range : {T}\n"
    assert last(bound + offset + added + f"%r = nv_tileaa.exti %u {SIGNED}") == (Run(64, 1, 1),)


def test_pointers_count_bytes() -> None:
    many = "%q = nv_tileaa.splat %p16 : !nv_tileaa.ptr<f16> -> tensor<64x!nv_tileaa.ptr<f16>>\n"
    kinds = f"tensor<64x!nv_tileaa.ptr<f16>>, {T}"
    assert last(many + f"%r = nv_tileaa.addptr %q, %own : {kinds}") == (Run(64, 16, 1),)
    assert last(many + f"%r = nv_tileaa.addptr %q, %range bytes : {kinds}") == (Run(1, 1, 1),)


def test_rows_of_a_matrix() -> None:
    text = """
    %i = nv_tileaa.make_range : tensor<8xi32>
    %row = nv_tileaa.expand_dims %i {axis = 1 : i64} : tensor<8xi32> -> tensor<8x1xi32>
    %rows = nv_tileaa.broadcast %row : tensor<8x1xi32> -> tensor<8x8xi32>
    %col = nv_tileaa.expand_dims %i {axis = 0 : i64} : tensor<8xi32> -> tensor<1x8xi32>
    %cols = nv_tileaa.broadcast %col : tensor<1x8xi32> -> tensor<8x8xi32>
    %stride = nv_tileaa.splat %n16 : i32 -> tensor<8x8xi32>
    %far = nv_tileaa.muli %rows, %stride : tensor<8x8xi32>
    %r = nv_tileaa.addi %far, %cols : tensor<8x8xi32>
    """
    assert last(text) == (Run(1, 1, 1), Run(8, 16, 1))
    turned = "%q = nv_tileaa.permute %r [1, 0] : tensor<8x8xi32> -> tensor<8x8xi32>"
    assert last(text + turned) == (Run(8, 16, 1), Run(1, 1, 1))


@pytest.mark.parametrize(
    ("predicate", "bound", "constancy"),
    [("slt", "%n16", 16), ("ult", "%n16", 16), ("sge", "%n16", 16), ("sle", "%n16", 1),
     ("eq", "%n16", 1), ("slt", "%n", 1)],
)  # fmt: skip
def test_masks(predicate: str, bound: str, constancy: int) -> None:
    text = f"""
    %many = nv_tileaa.splat {bound} : i32 -> {T}
    %r = nv_tileaa.cmpi {predicate}, %own, %many : {T}
    """
    assert last(text) == (Run(1, 1, constancy),)


def test_assumptions() -> None:
    groups = f"%r = nv_tileaa.assume #nv_tileaa.div_by<32, every 4 along 0>, %t : {T}"
    assert last(groups) == (Run(4, 32, 1),)
    same = f"%r = nv_tileaa.assume #nv_tileaa.same_elements<[4]>, %t : {T}"
    assert last(same) == (Run(1, 1, 4),)


def test_a_loop_keeps_facts_that_every_iteration_keeps() -> None:
    text = f"""
    %r = scf.for %i = %c8 to %n step %c8 iter_args(%o = %own) -> ({T}) : i32 {{
      %k = nv_tileaa.splat %i : i32 -> {T}
      %next = nv_tileaa.addi %o, %k : {T}
      scf.yield %next : {T}
    }}
    """
    assert last(text) == (Run(64, 8, 1),)


def test_a_loop_drops_facts_that_one_iteration_breaks() -> None:
    text = f"""
    %r = scf.for %i = %c8 to %n step %c8 iter_args(%o = %own) -> ({T}) : i32 {{
      %next = nv_tileaa.addi %o, %o : {T}
      scf.yield %next : {T}
    }}
    """
    assert last(text) == (Run(1, 1, 1),)


def test_uniform_tiles() -> None:
    analysis, value = facts(f"%r = nv_tileaa.addi %starts, %s8 : {T}")
    assert analysis.is_uniform(value)
    analysis, value = facts(f"%r = nv_tileaa.addi %starts, %range : {T}")
    assert not analysis.is_uniform(value)


def test_equal_operands_make_equal_floats() -> None:
    text = f"""
    %f = arith.sitofp %starts : {T} to tensor<64xf32>
    %g = nv_tileaa.exp %f : tensor<64xf32>
    """
    analysis, value = facts(text)
    assert analysis.is_uniform(value)
