"""prefetch-loads, unroll-loops and merge-loads: what each changes, and what it must keep."""

from __future__ import annotations

import pytest
from run_random import CANONICAL

from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import OPT_LEVELS, PLAN, parse_pipeline, passes_to
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

TENSOR = "tensor_view<64x128xf32, strides=[128,1]>"
VIEW = f"partition_view<tile=(1x128), {TENSOR}>"
TILE = "tile<1x128xf32>"
ADDED = f"%c = addf %a, %b : {TILE} "
HALVES = "tensor_view<64x128xf16, strides=[128,1]>"
HALF_VIEW = f"partition_view<tile=(1x128), {HALVES}>"

INDEX = (
    "%list = ptr_to_ptr %q : tile<ptr<f32>> -> tile<ptr<i32>> "
    "%at = offset %list, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>> "
    "%j, %t_j = load_ptr_tko weak %at token=%t0 : tile<ptr<i32>> -> tile<i32>, token "
)
"""Load the index `%j` of an iteration."""


CONVERTED = (
    f"%half, %t1 = load_view_tko weak %hv[%i, %c0] token = %t0 "
    f": {HALF_VIEW}, tile<i32> -> tile<1x128xf16>, token "
    f"%a = ftof %half : tile<1x128xf16> -> {TILE} "
)
"""Load the tile `%half` and convert it to f32."""
SUMMED = (
    f"%row = reduce %a dim=1 identities=[0.0 : f32] : {TILE} -> tile<1xf32> "
    "(%x: tile<f32>, %y: tile<f32>) { %both = addf %x, %y : tile<f32> yield %both : tile<f32> } "
    'print_tko "%f", %row : tile<1xf32> -> token '
)
"""Reduce the tile `%a`."""


def made(body: str, passes: str) -> Operation:
    """Run passes of nv_tileaa on a kernel with views of two tensors of 64 by 128."""
    text = f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %h: tile<ptr<f16>>, %n: tile<i32>) {{
          %c0 = constant <i32: 0> : tile<i32>
          %c1 = constant <i32: 1> : tile<i32>
          %c4 = constant <i32: 4> : tile<i32>
          %c5 = constant <i32: 5> : tile<i32>
          %none = constant <f32: 0.0> : {TILE}
          %t0 = make_token : token
          %pt = make_tensor_view %p, shape = [64, 128], strides = [128, 1] : {TENSOR}
          %qt = make_tensor_view %q, shape = [64, 128], strides = [128, 1] : {TENSOR}
          %ht = make_tensor_view %h, shape = [64, 128], strides = [128, 1] : {HALVES}
          %pv = make_partition_view %pt : {VIEW}
          %qv = make_partition_view %qt : {VIEW}
          %hv = make_partition_view %ht : {HALF_VIEW}
          {body}
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    parse_pipeline(f"{CANONICAL},{passes}").run(root)
    verify(root)
    return root


def load(name: str, index: str = "%i", token: str = "%t0", order: str = "weak") -> str:
    return (
        f"%{name}, %t_{name} = load_view_tko {order} %pv[{index}, %c0] token = {token} "
        f": {VIEW}, tile<i32> -> {TILE}, token "
    )


def store(value: str, index: str = "%i", token: str = "%t0", name: str = "stored") -> str:
    return (
        f"%{name} = store_view_tko weak {value}, %qv[{index}, %c0] token = {token} "
        f": {TILE}, {VIEW}, tile<i32> -> token "
    )


def loop(inside: str, upper: str = "%n") -> str:
    return f"for %i in (%c0 to {upper}, step %c1) : tile<i32> {{ {inside} continue }}"


def dot_of(tile: str, element: str) -> str:
    """A dot of a tile of 128 elements with itself."""
    return (
        f"%l = reshape {tile} : tile<1x128x{element}> -> tile<8x16x{element}> "
        f"%r = reshape {tile} : tile<1x128x{element}> -> tile<16x8x{element}> "
        "%z = constant <f32: 0.0> : tile<8x8xf32> "
        f"%m = mmaf %l, %r, %z : tile<8x16x{element}>, tile<16x8x{element}>, tile<8x8xf32> "
        'print_tko "%f", %m : tile<8x8xf32> -> token '
    )


def count(root: Operation, *kinds: type[Operation]) -> int:
    return sum(isinstance(op, kinds) for op in root.walk())


def loads_outside_loops(root: Operation) -> int:
    loads = [op for op in root.walk() if isinstance(op, LoadOp | TiledLoadOp)]
    return sum(not any(isinstance(up, ForOp) for up in op.ancestors()) for op in loads)


class TestMergeLoads:
    def test_the_same_tile_is_loaded_once(self) -> None:
        root = made(load("a", "%n") + load("b", "%n") + ADDED
                    + store("%c", "%n"), "merge-loads")  # fmt: skip
        assert count(root, TiledLoadOp) == 1

    def test_a_load_after_a_store_is_another(self) -> None:
        body = load("a", "%n") + store("%a", "%n", "%t_a") + load("b", "%n", "%stored")
        body += store("%b", "%c0", "%t_b", "again")
        assert count(made(body, "merge-loads"), TiledLoadOp) == 2

    def test_other_tiles_and_ordered_loads_stay(self) -> None:
        body = load("a", "%n") + load("b", "%c1") + ADDED + store("%c", "%n")
        assert count(made(body, "merge-loads"), TiledLoadOp) == 2
        relaxed = "relaxed device"
        body = load("a", "%n", order=relaxed) + load("b", "%n", order=relaxed)
        body += ADDED + store("%c", "%n")
        assert count(made(body, "merge-loads"), TiledLoadOp) == 2

    def test_a_load_in_a_loop_is_that_before_it(self) -> None:
        body = load("a", "%n") + store("%a", "%n") + loop(load("b", "%n") + store("%b", name="s"))
        assert count(made(body, "merge-loads"), TiledLoadOp) == 1

    def test_loads_of_a_branch_are_not_available_after_it(self) -> None:
        body = f"""%less = cmpi less_than %n, %c4, signed : tile<i32> -> tile<i1>
          if %less {{ {load("a", "%n")} {store("%a", "%c1")} yield }}
          {load("b", "%n")} {store("%b", "%n", name="s")}"""
        assert count(made(body, "merge-loads"), TiledLoadOp) == 2


class TestUnrollLoops:
    def test_few_iterations_are_unrolled(self) -> None:
        root = made(loop(load("a") + store("%a"), "%c4"), "unroll-loops")
        assert count(root, ForOp) == 0
        assert count(root, TiledLoadOp) == 4

    @pytest.mark.parametrize("upper", ["%c5", "%n"])
    def test_more_or_unknown_iterations_stay(self, upper: str) -> None:
        assert count(made(loop(load("a") + store("%a"), upper), "unroll-loops"), ForOp) == 1

    def test_loops_that_load_nothing_stay(self) -> None:
        assert count(made(loop(store("%none"), "%c4"), "unroll-loops"), ForOp) == 1


class TestPrefetchLoads:
    def rotated(self, inside: str, options: str = "") -> bool:
        """Return whether a loop loads its first tile before it begins."""
        passes = f"record-requests{options},prefetch-loads,pipeline-loops"
        return loads_outside_loops(made(loop(inside), passes)) > 0

    def test_the_first_tile_is_loaded_before_the_loop(self) -> None:
        root = made(loop(load("a") + store("%a")), "prefetch-loads,pipeline-loops")
        assert count(root, TiledLoadOp) == 2
        assert loads_outside_loops(root) == 1
        text = print_op(root)
        # In bounds only if their iteration exists.
        assert text.count("nv_tileaa.select") == 2
        assert text.count("sliced") == 2

    def test_pointers_get_a_mask(self) -> None:
        root = made(loop(
            "%from = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>> "
            "%a, %t1 = load_ptr_tko weak %from : tile<ptr<f32>> -> tile<f32>, token "
            "%to = offset %q, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>> "
            "%t2 = store_ptr_tko weak %to, %a : tile<ptr<f32>>, tile<f32> -> token "
        ), "prefetch-loads,pipeline-loops")  # fmt: skip
        loads = [op for op in root.walk() if isinstance(op, LoadOp)]
        assert len(loads) == 2
        assert all(op.mask is not None for op in loads)

    def test_loads_that_wait_for_the_previous_iteration_stay(self) -> None:
        body = f"""%last = for %i in (%c0 to %n, step %c1) : tile<i32>
          iter_values(%t = %t0) -> (token) {{
            {load("a", token="%t")} {store("%a", token="%t_a")} continue %stored : token }}"""
        assert loads_outside_loops(made(body, "prefetch-loads,pipeline-loops")) == 0

    @pytest.mark.parametrize("order", ["relaxed device", "acquire device"])
    def test_ordered_loads_stay(self, order: str) -> None:
        assert not self.rotated(load("a", order=order) + store("%a"))

    def test_the_same_tile_in_every_iteration_stays(self) -> None:
        assert not self.rotated(load("a", "%c4") + store("%a"))

    def test_loads_are_not_prefetched_past_assertions(self) -> None:
        guard = '%ok = cmpi less_than %i, %c4, signed : tile<i32> -> tile<i1> assert %ok, "no" '
        assert not self.rotated(f"{guard}: tile<i1> " + load("a") + store("%a"))

    def test_only_speculatable_divisions_are_prefetched(self) -> None:
        by = "%j = divi %i, {} signed : tile<i32> "
        assert self.rotated(by.format("%c4") + load("a", "%j") + store("%a"))
        assert not self.rotated(by.format("%n") + load("a", "%j") + store("%a"))

    def test_assumptions_are_not_speculated(self) -> None:
        assume = "%j = assume bounded<0, 63>, %i : tile<i32> "
        assert not self.rotated(assume + load("a", "%j") + store("%a"))

    def test_an_element_is_loaded_early_without_what_is_assumed_of_its_address(self) -> None:
        root = made(loop(
            "%at = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>> "
            "%from = assume div_by<4>, %at : tile<ptr<f32>> "
            "%a, %t1 = load_ptr_tko weak %from token=%t0 : tile<ptr<f32>> -> tile<f32>, token "
            'print_tko "%f", %a : tile<f32> -> token '
        ), "prefetch-loads,pipeline-loops")  # fmt: skip
        assert loads_outside_loops(root) == 1
        assert count(root, LoadOp) == 2
        assert count(root, AssumeOp) == 0

    def test_the_index_of_a_small_tile_is_prefetched_alone(self) -> None:
        root = made(loop(INDEX + load("a", "%j") + store("%a")), "prefetch-loads,pipeline-loops")
        assert count(root, LoadOp) == 2
        assert count(root, TiledLoadOp) == 1

    def test_indices_are_left_to_the_pipeline_of_their_tiles(self) -> None:
        tile = (
            f"%h1, %t1 = load_view_tko weak %hv[%j, %c0] token = %t0 "
            f": {HALF_VIEW}, tile<i32> -> tile<1x128xf16>, token "
        )
        assert not self.rotated(INDEX + tile + dot_of("%h1", "f16"))
        # There is no instruction for a dot of f32.
        assert self.rotated(INDEX + load("a", "%j") + dot_of("%a", "f32"))

    def test_small_tiles_that_are_converted_stay(self) -> None:
        assert not self.rotated(CONVERTED + store("%a"))

    def test_converted_tiles_of_loops_in_which_threads_wait_for_each_other(self) -> None:
        assert self.rotated(CONVERTED + SUMMED + store("%a"))
        assert not self.rotated(CONVERTED + SUMMED + store("%a"), "{prefetch=0}")

    def test_converted_tiles_of_loops_with_dots_stay(self) -> None:
        assert not self.rotated(CONVERTED + SUMMED + dot_of("%a", "f32"))

    def test_prefetching_is_forced_or_forbidden(self) -> None:
        assert self.rotated(CONVERTED + store("%a"), "{prefetch=1}")
        assert not self.rotated(load("a") + store("%a"), "{prefetch=0}")

    @pytest.mark.parametrize(("padding", "is_prefetched"), [("zero", False), ("neg_inf", True)])
    def test_large_tiles_that_no_pipeline_copies(self, padding: str, is_prefetched: bool) -> None:
        """A tile of 16 rows takes 16 registers of each of 128 threads."""
        view = f"partition_view<tile=(16x128), padding_value = {padding}, {TENSOR}>"
        inside = (
            f"%v = make_partition_view %pt : {view} "
            f"%a, %t1 = load_view_tko weak %v[%i, %c0] token = %t0 "
            f": {view}, tile<i32> -> tile<16x128xf32>, token "
            'print_tko "%f", %a : tile<16x128xf32> -> token '
        )
        assert self.rotated(inside) is is_prefetched

    def test_dot_operands_are_prefetched_too(self) -> None:
        assert self.rotated(load("a") + dot_of("%a", "f32"))


@pytest.mark.parametrize("opt_level", OPT_LEVELS)
@pytest.mark.parametrize("checked", [False, True])
def test_accesses_stay_where_they_are_at_lower_levels_and_beside_checks(
    opt_level: int, checked: bool
) -> None:
    """Two loads of one tile in a loop of four iterations, which is unrolled."""
    steps = passes_to(PLAN, "sm_90", opt_level, checked=checked).split(",")
    (recorded,) = (each for each in steps if each.startswith("record-requests"))
    body = loop(load("a") + load("b") + ADDED + store("%c"), "%c4")
    root = made(body, f"{recorded},unroll-loops,merge-loads")
    assert count(root, TiledLoadOp) == (4 if opt_level >= 2 and not checked else 2)
    root = made(loop(load("a") + store("%a")), f"{recorded},prefetch-loads,pipeline-loops")
    assert loads_outside_loops(root) == (opt_level >= 2 and not checked)
