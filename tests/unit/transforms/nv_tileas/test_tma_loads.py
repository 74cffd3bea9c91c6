"""Which loads TMA can copy, and the views that are created before all loops for it."""

from __future__ import annotations

import pytest
from integrity import check_integrity
from scheduled_loops import lowered_as_far_as, matmul
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.attributes import CacheModifier
from tilewright.dialects.nv_tileaa.integer import AddIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import BlockTileOp, MakeMemrefOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.transforms.nv_tileas.tma_loads import TmaLoads, hoist_view

GEMM = Gemm()
ALIGNMENT = "its address and strides are not known to be multiples of 16 bytes"
REACH = "its coordinates are not known to be below 2147483648"
STRIDES = "its strides are not known to be below 1099511627776 bytes"
COMPUTED = "its view is of memory that a loop or branch computes"


def loads_of(program: str) -> list[TiledLoadOp]:
    """The loads of views of a program."""
    module = lowered_as_far_as("move-conversions", program)
    return [op for op in module.walk() if isinstance(op, TiledLoadOp)]


def tma_problem(load: LoadOp | TiledLoadOp) -> str | None:
    function = next(op for op in load.ancestors() if isinstance(op, FuncOp))
    return TmaLoads(function).problem(load)


def problems(program: str) -> list[str | None]:
    return [tma_problem(load) for load in loads_of(program)]


def test_operands_of_dots() -> None:
    assert problems(GEMM.persistent()) == [None, None]


@pytest.mark.parametrize(("divisor", "problem"), [(16, None), (8, None), (4, ALIGNMENT)])
def test_rows_start_at_multiples_of_16_bytes(divisor: int, problem: str | None) -> None:
    """Elements of f16 have 2 bytes."""
    assert problems(matmul(64, 64, 32, divisor=divisor)) == [problem, problem]


BOUNDED = "bounded<0, ?>"


@pytest.mark.parametrize(("type", "bounds", "expected"), [
    ("i32", BOUNDED, None),
    ("i32", "div_by<1>", REACH),
    ("i64", BOUNDED, REACH),
    ("i64", "bounded<0, 2147483648>", None),
    ("i64", "bounded<0, 2147483649>", REACH),
])  # fmt: skip
def test_extents_that_coordinates_reach(type: str, bounds: str, expected: str | None) -> None:
    """Sizes are unsigned."""
    text = matmul(64, 64, 32).replace("i32", type).replace(BOUNDED, bounds)
    assert problems(text) == [expected, expected]


def test_indices_that_coordinates_reach() -> None:
    """Nothing bounds the extents, but the tiles end at 2**31."""
    text = matmul(64, 64, 32).replace(BOUNDED, "div_by<1>")
    last = text.replace("to %n, step", "to %last, step")
    for count, expected in ((1 << 26, None), ((1 << 26) + 1, REACH)):
        bound = f"%last = constant <i32: {count}> : tile<i32>"
        program = last.replace("%zero = constant", f"{bound}\n          %zero = constant", 1)
        assert problems(program) == [expected, expected]


def test_strides_below_the_limit() -> None:
    """Of f16: the strides are those extents."""
    text = matmul(64, 64, 32).replace("i32", "i64").replace(BOUNDED, "bounded<0, 2147483648>")
    wide = text.replace("strides = [%n16, 1]", "strides = [%far, 1]")
    far = "%far = assume div_by<16>, %n : tile<i64>\n          %pt ="
    assert problems(wide.replace("%pt =", far, 1)) == [STRIDES, STRIDES]


def test_padding_other_than_zero() -> None:
    program = matmul(64, 64, 32, paddings=("zero", "neg_inf"))
    assert problems(program) == [None, "expected zeros as padding, got 'neg_inf'"]


@pytest.mark.parametrize(("allow", "problem"), [
    ("false", "the program forbids it"),
    ("true", None),
])  # fmt: skip
def test_the_program_can_forbid_it(allow: str, problem: str | None) -> None:
    hint = f"optimization_hints = <sm_90 = {{allow_tma = {allow}}}>"
    text = GEMM.one_shot().replace("%av[%zero, %j]", f"%av[%zero, %j] {hint}")
    assert problems(text) == [problem, None]


def test_a_cache_hint() -> None:
    a, b = loads_of(GEMM.one_shot())
    b.cache = CacheModifier.CG
    assert [tma_problem(load) for load in (a, b)] == [None, "it has a cache hint"]


def test_pointers() -> None:
    text = GEMM.persistent(f"""
      {GEMM.k_loop()}
      {GEMM.store()}
      %offsets = iota : tile<64xi32>
      %p1 = reshape %p : tile<ptr<f16>> -> tile<1xptr<f16>>
      %ps = broadcast %p1 : tile<1xptr<f16>> -> tile<64xptr<f16>>
      %at1 = offset %ps, %offsets : tile<64xptr<f16>>, tile<64xi32> -> tile<64xptr<f16>>
      %v, %t1 = load_ptr_tko weak %at1 : tile<64xptr<f16>> -> tile<64xf16>, token
      %t2 = store_ptr_tko weak %at1, %v : tile<64xptr<f16>>, tile<64xf16> -> token""")
    module = lowered_as_far_as("move-conversions", text)
    (load,) = (op for op in module.walk() if isinstance(op, LoadOp))
    assert tma_problem(load) == "its rows have addresses of their own"


@pytest.mark.parametrize(("addition", "problem"), [
    ("addf %old, %sum", None),  # registers are read in the layout of the accumulator
    ("addf %old, %old", "nothing reads it as TMA would write it"),
])  # fmt: skip
def test_a_tile_that_no_dot_reads(addition: str, problem: str | None) -> None:
    text = GEMM.persistent(f"""
      {GEMM.k_loop()}
      %old, %t0 = load_view_tko weak %cv[%i, %zero] : {GEMM.view("c")}, tile<i32> -> {GEMM.c}, token
      %both = {addition} : {GEMM.c}
      {GEMM.store("%both")}""")
    load = loads_of(text)[-1]
    load.vector = 4
    assert tma_problem(load) == problem


def in_loop(shape: str, made: str = "%bt2") -> str:
    """A kernel that creates its view of B inside of the outer loop, of memory with some rows."""
    tensor = "tensor_view<?x?xf16, strides=[?,1]>"
    return GEMM.persistent(f"""
      %rows = addi %k, %i : tile<i32>
      %bt2 = make_tensor_view %q16, shape = [{shape}, %n], strides = [%n, 1] : tile<i32> -> {tensor}
      %bw = make_partition_view {made} : {GEMM.view("b")}
      {GEMM.k_loop().replace("%bv", "%bw")}
      {GEMM.store()}""")


def test_memory_that_a_loop_computes() -> None:
    assert problems(in_loop("%rows")) == [None, COMPUTED]


def test_memory_of_a_size_that_a_loop_has_computed() -> None:
    tensor = "tensor_view<?x?xf16, strides=[?,1]>"
    text = GEMM.program(f"""
    %rows = for %i in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%r0 = %k) -> (tile<i32>) {{
      %r1 = muli %r0, %i : tile<i32>
      continue %r1 : tile<i32>
    }}
    %bt2 = make_tensor_view %q16, shape = [%rows, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %bw = make_partition_view %bt2 : {GEMM.view("b")}
    {GEMM.k_loop(row="%zero").replace("%bv", "%bw")}
    {GEMM.store(row="%zero")}""")
    assert problems(text) == [None, COMPUTED]


def outermost(op: Operation) -> bool:
    return isinstance(op.parent_op, FuncOp)


def test_views_are_hoisted_out_of_all_loops() -> None:
    """The memory is that of the kernel's B, so only the view is inside of the loop."""
    (a, b) = loads_of(in_loop("%k", made="%bt"))
    view = b.view.defined_by(BlockTileOp)
    assert view is not None
    outer = next(op for op in b.ancestors() if isinstance(op, ForOp) and outermost(op))
    if outermost(view):  # it is hoisted before: put it back
        first = outer.body.block.first
        assert first is not None
        view.detach().insert_before(first)
    assert tma_problem(b) is None
    hoist_view(b)
    assert outermost(view)
    function = outer.parent_op
    assert isinstance(function, FuncOp)
    check_integrity(function)
    verify(function)
    before = view.prev
    hoist_view(b)
    assert view.prev is before
    hoist_view(a)


IN_BRANCH = GEMM.program(
    f"""
    %wanted = cmpi greater_than %k, %zero, signed : tile<i32> -> tile<i1>
    if %wanted {{
      %twice = addi %k, %k : tile<i32>
      %rows = assume bounded<64, ?>, %twice : tile<i32>
      %bt2 = make_tensor_view %q16, shape = [%rows, %n], strides = [%n, 1] :
          tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
      %bw = make_partition_view %bt2 : {GEMM.view("b")}
      {GEMM.k_loop(row="%zero").replace("%bv", "%bw")}
      {GEMM.store(row="%zero")}
    }}"""
)
"""A kernel that creates its view of B in a branch."""


def test_memory_that_a_branch_computes() -> None:
    """What the view is computed from is hoisted with it, but not the assumption of the branch."""
    a, b = loads_of(IN_BRANCH)
    assert [tma_problem(load) for load in (a, b)] == [None, None]
    for load in (a, b):
        hoist_view(load)
    view = b.view.defined_by(BlockTileOp)
    assert view is not None
    assert outermost(view)
    memory = view.source.defined_by(MakeMemrefOp)
    assert memory is not None
    assert outermost(memory)
    assert memory.sizes[0].defined_by(AddIOp) is not None
    function = view.parent_op
    assert isinstance(function, FuncOp)
    check_integrity(function)
    verify(function)


def test_memory_that_a_load_of_a_branch_computes() -> None:
    """It must not be loaded where the branch is not taken."""
    loaded = """%pk = ptr_to_ptr %q16 : tile<ptr<f16>> -> tile<ptr<i32>>
      %twice, %tk = load_ptr_tko weak %pk : tile<ptr<i32>> -> tile<i32>, token"""
    text = IN_BRANCH.replace("%twice = addi %k, %k : tile<i32>", loaded)
    assert problems(text) == [None, COMPUTED]
