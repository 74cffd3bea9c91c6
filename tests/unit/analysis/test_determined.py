"""Which block ids coordinates determine: computations that can be inverted, and others."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.analysis.determined import Determined
from tilewright.dialects.nv_tileaa.misc import OptimizationBarrierOp
from tilewright.dialects.nv_tileaa.program import GetProgramIdOp

HEAD = """
nv_tileaa.func @f(%n: i32, %p: !nv_tileaa.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c4_again = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %x, %y, %z = nv_tileaa.get_program_id : i32, i32, i32
"""
DIVIDED = """
  %q = nv_tileaa.divi %x, %c4 signed rounding<negative_inf> : i32
  %r = nv_tileaa.remi %x, %c4_again signed : i32
"""
FLOOR = f"""{DIVIDED}
  %is = nv_tileaa.cmpi slt, %r, %c0 : i32
  %up = nv_tileaa.addi %r, %c4 : i32
  %m = nv_tileaa.select %is, %up, %r : i1, i32
"""
CHOICE = "%is = nv_tileaa.cmpi slt, %n, %c0 : i32"
PART = """
  %next = nv_tileaa.addi %x, %c1 : i32
  %first = nv_tileaa.muli %x, %n : i32
  %last = nv_tileaa.muli %next, %n : i32
  %lower = arith.minsi %first, %c8 : i32
  %upper = arith.minsi %last, %c8 : i32
"""


def determined(body: str, coordinates: str, end: str = "") -> str:
    """The names of the block ids that coordinates, with their types, determine."""
    text = f"%o:{coordinates.count('%')} = nv_tileaa.optimization_barrier {coordinates}"
    module = read(f"{HEAD}{body}\n{text}\n{end} nv_tileaa.return }}")
    (barrier,) = (op for op in module.walk() if isinstance(op, OptimizationBarrierOp))
    (ids,) = (op for op in module.walk() if isinstance(op, GetProgramIdOp))
    known = Determined(barrier.operands)
    return "".join(name for name, id in zip("xyz", ids.results, strict=True) if id in known)


@pytest.mark.parametrize(("body", "coordinates", "expected"), [
    ("", "%x, %z : i32, i32", "xz"),
    ("", "%n, %c0 : i32, i32", ""),
    ("%a = nv_tileaa.addi %x, %c1 : i32", "%a : i32", "x"),
    ("%a = nv_tileaa.subi %n, %x : i32", "%a : i32", "x"),
    ("%a = nv_tileaa.muli %x, %n : i32", "%a : i32", "x"),
    ("%a = nv_tileaa.exti %x signed : i32 to i64", "%a : i64", "x"),
    # Two unknowns in one sum; with one of them, the other is known.
    ("%a = nv_tileaa.addi %x, %y : i32", "%a : i32", ""),
    ("%a = nv_tileaa.addi %x, %y : i32", "%a, %y : i32, i32", "xy"),
    # A quotient belongs to four blocks, a remainder to every fourth: together they are one.
    (DIVIDED, "%q : i32", ""),
    (DIVIDED, "%r : i32", ""),
    (DIVIDED, "%q, %r : i32, i32", "x"),
    (FLOOR, "%m : i32", ""),
    (FLOOR, "%q, %m : i32, i32", "x"),
    # The remainder by another number leaves several blocks.
    (f"{DIVIDED} %s = nv_tileaa.remi %x, %c8 signed : i32", "%q, %s : i32, i32", ""),
    (f"{DIVIDED} %s = nv_tileaa.remi %y, %c4 signed : i32", "%q, %s : i32, i32", ""),
    # x - x // 4 * 4 is the remainder, too.
    (
        f"{DIVIDED} %t = nv_tileaa.muli %q, %c4 : i32 %s = nv_tileaa.subi %x, %t : i32",
        "%q, %s : i32, i32", "x",
    ),
    # Heads of a group share a coordinate.
    (f"{FLOOR} %g = nv_tileaa.divi %m, %c8 signed : i32", "%q, %g : i32, i32", ""),
    # Other functions are not inverted, and loaded indices determine nothing.
    ("%a = nv_tileaa.andi %x, %c8 : i32", "%a : i32", ""),
    (f"{CHOICE} %a = nv_tileaa.select %is, %x, %y : i1, i32", "%a : i32", ""),
    ("%a = nv_tileaa.addptr %p, %x : !nv_tileaa.ptr<i32>, i32", "%a : !nv_tileaa.ptr<i32>", "x"),
    (
        "%a = nv_tileaa.addptr %p, %x : !nv_tileaa.ptr<i32>, i32 "
        "%t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token "
        "%l, %u = nv_tileaa.load weak %a token = %t : !nv_tileaa.ptr<i32> -> i32",
        "%l : i32", "",
    ),
])  # fmt: skip
def test_block_ids_by_coordinates(body: str, coordinates: str, expected: str) -> None:
    assert determined(body, coordinates) == expected


@pytest.mark.parametrize(("lower", "upper", "expected"), [
    ("%lower", "%upper", "x"),
    ("%first", "%last", "x"),
    ("%first", "%c8", ""),
    ("%c0", "%last", ""),
    ("%lower", "%first", ""),
    ("%x", "%n", ""),
])  # fmt: skip
def test_iterations_that_blocks_divide_among_them(lower: str, upper: str, expected: str) -> None:
    loop = f"{PART} scf.for %i = {lower} to {upper} step %c1 : i32 {{"
    assert determined(loop, "%i : i32", "}") == expected
