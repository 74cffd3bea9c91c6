"""What the producer of a warp-specialized kernel computes, and why there may be none."""

from __future__ import annotations

import pytest
from scheduled_loops import lowered_as_far_as
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice

GEMM = Gemm()
CARRIED = f"""
    %end, %other = for %i in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%row = %m, %unused = %one) -> (tile<i32>, tile<i32>) {{
      {GEMM.k_loop(row="%row")}
      {GEMM.store()}
      %next = addi %row, %one : tile<i32>
      %double = addi %unused, %unused : tile<i32>
      continue %next, %double : tile<i32>, tile<i32>
    }}
    %stored2 = store_ptr_tko weak %r32, %other : tile<ptr<i32>>, tile<i32> -> token"""


def slice_of(body: str) -> tuple[FuncOp, ProducerSlice]:
    """The slice of a kernel for all loads of its loops with dots."""
    pointer = "%r32 = ptr_to_ptr %r : tile<ptr<f32>> -> tile<ptr<i32>>"
    module = lowered_as_far_as("move-conversions", GEMM.program(f"{pointer}\n{body}"))
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    loops = [op for op in function.walk() if isinstance(op, ForOp)]
    with_dots = [loop for loop in loops if any(isinstance(op, DotOp) for op in loop.body.block)]
    loads = [op for loop in with_dots for op in loop.body.block if isinstance(op, TiledLoadOp)]
    return function, ProducerSlice(function, with_dots, loads)


def persistent(inside: str) -> str:
    """A loop over tiles."""
    return f"for %i in (%zero to %tiles, step %one) : tile<i32> {{ {inside} continue }}"


def test_the_loops_around_a_pipelined_loop_are_repeated() -> None:
    function, slice = slice_of(persistent(GEMM.k_loop() + GEMM.store()))
    outer = next(op for op in function.walk() if isinstance(op, ForOp))
    assert slice.problem is None
    assert slice.enclosing == {outer}
    assert {outer.lower_bound, outer.upper_bound, outer.step} <= slice.values
    assert not any(slice.needs(op) for op in outer.body.walk())


def test_bounds_and_indices_are_computed_by_the_producer() -> None:
    body = persistent(f"""
      %row = muli %i, %tiles : tile<i32>
      %count = addi %i, %steps : tile<i32>
      %column = subi %tiles, %i : tile<i32>
      {GEMM.k_loop(row="%row", bounds="%zero to %count, step %one")}
      {GEMM.store(row="%column")}""")
    function, slice = slice_of(body)
    assert slice.problem is None
    arithmetic = {"nv_tileaa.muli", "nv_tileaa.addi", "nv_tileaa.subi"}
    assert arithmetic <= {op.name for op in function.walk()}
    needed = {op.name for op in function.walk() if slice.needs(op)}
    assert needed & arithmetic == {"nv_tileaa.muli", "nv_tileaa.addi"}


def test_of_carried_values_only_those_that_the_copies_need() -> None:
    """The row of tiles, but not the number that is stored after the loop."""
    function, slice = slice_of(CARRIED)
    outer = next(op for op in function.walk() if isinstance(op, ForOp))
    last = outer.body.block.last
    assert slice.problem is None
    assert last is not None
    assert [value in slice.values for value in outer.carried] == [True, False]
    assert [value in slice.values for value in outer.init_args[:1]] == [True]
    assert [value in slice.values for value in last.operands] == [True, False]


def test_results_of_branches_around_pipelined_loops() -> None:
    """Both branches yield the bound of the second loop; the tile is of no use to the producer."""
    body = persistent(f"""
      %some = cmpi less_than %i, %steps, signed : tile<i32> -> tile<i1>
      %chosen, %count = if %some -> ({GEMM.c}, tile<i32>) {{
        {GEMM.k_loop()}
        %more = addi %steps, %i : tile<i32>
        yield %sum, %more : {GEMM.c}, tile<i32>
      }} else {{
        yield %none, %m : {GEMM.c}, tile<i32>
      }}
      {GEMM.k_loop("last", bounds="%zero to %count, step %one", start="%chosen")}
      {GEMM.store("%last")}""")
    function, slice = slice_of(body)
    (branch,) = (op for op in function.walk() if isinstance(op, IfOp))
    assert slice.problem is None
    assert branch in slice.enclosing
    assert branch.condition in slice.values
    assert [result in slice.values for result in branch.results] == [False, True]
    yields = [region.block.last for region in branch.regions]
    assert all(last is not None and last.operands[1] in slice.values for last in yields)


def test_scalars_that_no_token_orders_are_loaded_by_the_producer() -> None:
    function, slice = slice_of(
        persistent(f"""
      %row, %t0 = load_ptr_tko weak %r32 : tile<ptr<i32>> -> tile<i32>, token
      {GEMM.k_loop(row="%row")} {GEMM.store()}""")
    )
    (load,) = (op for op in function.walk() if isinstance(op, LoadOp))
    assert slice.problem is None
    assert slice.needs(load)


@pytest.mark.parametrize(("problem", "body"), [
    (
        "a pipelined loop inside of 'scf.while'",
        f"""loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {{
          {GEMM.k_loop()}
          {GEMM.store()}
          %next = addi %i, %one : tile<i32>
          %done = cmpi greater_than_or_equal %next, %tiles, signed : tile<i32> -> tile<i1>
          if %done {{ break %next : tile<i32> }}
          continue %next : tile<i32>
        }}""",
    ),
    (
        "the copies depend on 'nv_tileas.load'",
        persistent(f"""
          %row, %t0 = load_ptr_tko weak %r32 : tile<ptr<i32>> -> tile<i32>, token
          %t1 = store_ptr_tko weak %r32, %i token=%t0 : tile<ptr<i32>>, tile<i32> -> token
          {GEMM.k_loop(row="%row")} {GEMM.store()}"""),
    ),
    (
        "the copies depend on a value that their loop carries",
        f"""%row, %sum = for %j in (%zero to %steps, step %one) : tile<i32>
            iter_values(%here = %m, %acc = %none) -> (tile<i32>, {GEMM.c}) {{
          %x, %tx = load_view_tko weak %av[%here, %j]
              : {GEMM.view("a")}, tile<i32> -> tile<64x32xf16>, token
          %y, %ty = load_view_tko weak %bv[%j, %zero]
              : {GEMM.view("b")}, tile<i32> -> tile<32x64xf16>, token
          %d = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x64xf16>, {GEMM.c}
          %next = muli %here, %j : tile<i32>
          continue %next, %d : tile<i32>, {GEMM.c}
        }}
        {GEMM.store(row="%zero")}""",
    ),
    (
        "the copies depend on 'scf.for'",
        f"""{GEMM.k_loop("first", row="%zero")}
        %row = for %i in (%zero to %tiles, step %one) : tile<i32>
            iter_values(%here = %m) -> (tile<i32>) {{
          %next = muli %here, %i : tile<i32>
          continue %next : tile<i32>
        }}
        {GEMM.k_loop("second", row="%row", start="%first")}
        {GEMM.store("%second", row="%zero")}""",
    ),
    (
        "a pipelined loop inside of another",
        f"""%whole = for %i in (%zero to %tiles, step %one) : tile<i32>
            iter_values(%acc0 = %none) -> ({GEMM.c}) {{
          %x0, %tx0 = load_view_tko weak %av[%zero, %i]
              : {GEMM.view("a")}, tile<i32> -> tile<64x32xf16>, token
          %y0, %ty0 = load_view_tko weak %bv[%i, %zero]
              : {GEMM.view("b")}, tile<i32> -> tile<32x64xf16>, token
          {GEMM.k_loop(start="%acc0")}
          %d0 = mmaf %x0, %y0, %sum : tile<64x32xf16>, tile<32x64xf16>, {GEMM.c}
          continue %d0 : {GEMM.c}
        }}
        {GEMM.store("%whole", row="%zero")}""",
    ),
    (
        "the copies depend on a tile, of 'nv_tileas.extract_slice'",
        persistent(f"""
          %range = iota : tile<64xi32>
          %here = extract %range[%i] : tile<64xi32> -> tile<1xi32>
          %row = reshape %here : tile<1xi32> -> tile<i32>
          {GEMM.k_loop(row="%row")} {GEMM.store()}"""),
    ),
])  # fmt: skip
def test_problems(problem: str, body: str) -> None:
    assert slice_of(body)[1].problem == problem
