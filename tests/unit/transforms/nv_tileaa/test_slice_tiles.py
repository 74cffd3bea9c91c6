"""slice-tiles: the loops that it creates, the tiles that stay, and results against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from repeats import keep_first
from run_random import CANONICAL, problems

import tilewright
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.testing.generate.kernel import Options

Arrays = Any


def sliced(body: str, words: int = 16) -> Operation:
    """Slice a kernel `k` on views of two tensors of 16 by 8 into slices of `words` registers."""
    text = f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {{
          %zero = constant <i32: 0> : tile<i32>
          %t0 = make_token : token
          %pt = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : {TENSOR}
          %qt = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : {TENSOR}
          %pv = make_partition_view %pt : {VIEW}
          %qv = make_partition_view %qt : {VIEW}
          {body}
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    parse_pipeline(f"{CANONICAL},slice-tiles{{words={words}}}").run(root)
    verify(root)
    return root


TENSOR = "tensor_view<16x8xf32, strides=[8,1]>"
VIEW = f"partition_view<tile=(16x8), {TENSOR}>"
LOAD = (
    f"%x, %t1 = load_view_tko weak %pv[%zero, %zero] token = %t0 "
    f": {VIEW}, tile<i32> -> tile<16x8xf32>, token"
)


def store(value: str, view: str = "%qv", token: str = "%t0") -> str:
    return (
        f"%t9 = store_view_tko weak {value}, {view}[%zero, %zero] token = {token} "
        f": tile<16x8xf32>, {VIEW}, tile<i32> -> token"
    )


def loops(root: Operation) -> list[int]:
    """Return the number of slices of each loop."""
    bounds = [op.upper_bound for op in root.walk() if isinstance(op, ForOp)]
    return [value.defining_op().attributes["value"].value for value in bounds]  # pyrefly: ignore[missing-attribute]


def run(root: Operation) -> tuple[Arrays, Arrays]:
    """Run the kernel; return the tensors before and after."""
    before = np.random.default_rng(5).integers(-9, 9, (16, 8)).astype(np.float32)
    p, q = before.copy(), np.zeros((16, 8), np.float32)
    tilewright.execute(root, "k", 1, [p, q], check=True)
    return before, q


def test_element_by_element() -> None:
    root = sliced(f"{LOAD}\n%y = addf %x, %x : tile<16x8xf32>\n{store('%y')}")
    assert loops(root) == [8]
    before, after = run(root)
    assert np.array_equal(after, before + before)


REDUCE = """
  (%a: tile<f32>, %b: tile<f32>) {
    %s = addf %a, %b : tile<f32>
    yield %s : tile<f32>
  }"""


def test_each_row_by_itself() -> None:
    root = sliced(f"""{LOAD}
      %sum = reduce %x dim=1 identities=[0.0 : f32] : tile<16x8xf32> -> tile<16xf32> {REDUCE}
      %column = reshape %sum : tile<16xf32> -> tile<16x1xf32>
      %wide = broadcast %column : tile<16x1xf32> -> tile<16x8xf32>
      %y = subf %x, %wide : tile<16x8xf32>
      {store("%y")}""")
    assert loops(root) == [8]
    before, after = run(root)
    assert np.array_equal(after, before - before.sum(1, keepdims=True))


def test_reductions_over_slices() -> None:
    root = sliced(f"""{LOAD}
      %sum = reduce %x dim=0 identities=[0.0 : f32] : tile<16x8xf32> -> tile<8xf32> {REDUCE}
      %row = reshape %sum : tile<8xf32> -> tile<1x8xf32>
      %wide = broadcast %row : tile<1x8xf32> -> tile<16x8xf32>
      {store("%wide")}""")
    before, after = run(root)
    # The reduction needs all rows before the first of the result: two loops, one after the other.
    assert len(loops(root)) == 2
    assert np.array_equal(after, np.broadcast_to(before.sum(0), (16, 8)))


def test_identities_need_not_be_neutral() -> None:
    """In a tile of identities only, the index is that of an element."""
    root = sliced(f"""{LOAD}
      %inf = constant <f32: 0x7F800000> : tile<16x8xf32>
      %y = addf %x, %inf : tile<16x8xf32>
      %flat = reshape %y : tile<16x8xf32> -> tile<128xf32>
      %ones = constant <i32: 1> : tile<128xi32>
      %indices = iota : tile<128xi32>
      %later = addi %indices, %ones : tile<128xi32>
      %least:2 = reduce %flat, %later dim=0 identities=[0x7F800000 : f32, 0 : i32]
        : tile<128xf32>, tile<128xi32> -> tile<f32>, tile<i32>
        (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {{
          %less = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
          %same = cmpf equal ordered %a, %b : tile<f32> -> tile<i1>
          %first = cmpi less_than %i, %j, signed : tile<i32> -> tile<i1>
          %tie = andi %same, %first : tile<i1>
          %pick = ori %less, %tie : tile<i1>
          %v = select %pick, %a, %b : tile<i1>, tile<f32>
          %w = select %pick, %i, %j : tile<i1>, tile<i32>
          yield %v, %w : tile<f32>, tile<i32>
        }}
      %n = itof %least#1 signed : tile<i32> -> tile<f32>
      %one = reshape %n : tile<f32> -> tile<1x1xf32>
      %wide = broadcast %one : tile<1x1xf32> -> tile<16x8xf32>
      {store("%wide")}""")
    assert loops(root)
    assert (run(root)[1] == 1).all()


def test_tiles_that_use_their_reduction_are_loaded_again() -> None:
    """Each element is divided by the sum of the tile: two loops with a load each."""
    root = sliced(f"""{LOAD}
      %flat = reshape %x : tile<16x8xf32> -> tile<128xf32>
      %sum = reduce %flat dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32> {REDUCE}
      %one = reshape %sum : tile<f32> -> tile<1x1xf32>
      %wide = broadcast %one : tile<1x1xf32> -> tile<16x8xf32>
      %y = subf %x, %wide : tile<16x8xf32>
      {store("%y")}""")
    assert len(loops(root)) == 2
    assert sum(isinstance(op, TiledLoadOp) for op in root.walk()) == 2
    before, after = run(root)
    assert np.array_equal(after, before - before.sum())


def test_tiles_are_loaded_again_before_they_are_overwritten() -> None:
    root = sliced(f"""{LOAD}
      %flat = reshape %x : tile<16x8xf32> -> tile<128xf32>
      %sum = reduce %flat dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32> {REDUCE}
      %one = reshape %sum : tile<f32> -> tile<1x1xf32>
      %wide = broadcast %one : tile<1x1xf32> -> tile<16x8xf32>
      %y = subf %x, %wide : tile<16x8xf32>
      {store("%y", "%pv", "%t1")}""")
    assert len(loops(root)) == 2
    array = np.random.default_rng(5).integers(-9, 9, (16, 8)).astype(np.float32)
    expected = array - array.sum()
    tilewright.execute(root, "k", 1, [array, np.zeros_like(array)], check=True)
    assert np.array_equal(array, expected)


def test_in_place_on_the_same_elements() -> None:
    root = sliced(f"{LOAD}\n%y = addf %x, %x : tile<16x8xf32>\n{store('%y', '%pv', '%t1')}")
    assert loops(root) == [8]


def test_in_place_on_other_elements_stays_whole() -> None:
    """The second half is stored where the first is loaded from: all loads come first."""
    turned = "partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[1,16]>>"
    root = sliced(f"""{LOAD}
      %rt = make_tensor_view %p, shape = [16, 8], strides = [1, 16]
        : tensor_view<16x8xf32, strides=[1,16]>
      %rv = make_partition_view %rt : {turned}
      %t9 = store_view_tko weak %x, %rv[%zero, %zero] token = %t1
        : tile<16x8xf32>, {turned}, tile<i32> -> token""")
    assert loops(root) == []


def test_operations_in_between_follow_the_loop() -> None:
    root = sliced(f"""{LOAD}
      print_tko "loaded\\n" token = %t1 -> token
      {store("%x")}""")
    assert loops(root) in ([], [8])
    before, after = run(root)
    assert np.array_equal(before, after)


WHOLE = "tile<16x8xf32>"


def carrying(inside: str, after: str, types: str = f"{WHOLE}, {WHOLE}", extra: str = "") -> str:
    """Return a loop of three iterations that carries `%v` and `%w`, and what follows it."""
    return f"""
      %one = constant <i32: 1> : tile<i32>
      %three = constant <i32: 3> : tile<i32>
      %none = constant <f32: 0.0> : {WHOLE}
      %r:{types.count(",") + 1} = for %i in (%zero to %three, step %one) : tile<i32>
          iter_values(%v = %none, %w = %none{extra}) -> ({types}) {{
        {LOAD}
        {inside}
      }}
      {after}"""


ADDED = f"""
  %c = addf %v, %x : {WHOLE}
  %n = itof %i signed : tile<i32> -> tile<f32>
  %n1 = reshape %n : tile<f32> -> tile<1x1xf32>
  %n2 = broadcast %n1 : tile<1x1xf32> -> {WHOLE}
  %d = fma %x, %n2, %w : {WHOLE}"""
BOTH = f"%y = subf %r#0, %r#1 : {WHOLE}\n{store('%y')}"


def test_loops_that_carry_tiles_run_for_each_slice() -> None:
    root = sliced(carrying(f"{ADDED}\ncontinue %c, %d : {WHOLE}, {WHOLE}", BOTH))
    assert loops(root) == [16, 3]
    before, after = run(root)
    assert np.array_equal(after, 3 * before - before * (0 + 1 + 2))


def ordered(after: str) -> str:
    """Return a loop that also carries the tokens of its loads."""
    return carrying(
        f"{ADDED}\n%u = join_tokens %t, %t1 : token\ncontinue %c, %d, %u : {WHOLE}, {WHOLE}, token",
        f"%y = subf %r#0, %r#1 : {WHOLE}\n{after}",
        f"{WHOLE}, {WHOLE}, token",
        ", %t = %t0",
    )


def test_loops_that_carry_tokens() -> None:
    again = LOAD.replace("%x, %t1", "%x2, %t3").replace("%t0", "%r#2")
    after = f"{again}\n%z = addf %x2, %y : {WHOLE}\n{store('%z')}"
    root = sliced(ordered(after))
    assert loops(root) == [16, 3]
    before, after = run(root)
    assert np.array_equal(after, before)


def test_tiles_that_a_loop_carries_apart_from_each_other() -> None:
    """Each has a reduction of its own, along rows, that is stored."""
    ends = "\n".join(
        f"""%s{n} = reduce %r#{n} dim=1 identities=[0.0 : f32]
              : {WHOLE} -> tile<16xf32> {REDUCE}
            %s{n}1 = reshape %s{n} : tile<16xf32> -> tile<16x1xf32>
            %s{n}2 = broadcast %s{n}1 : tile<16x1xf32> -> {WHOLE}"""
        for n in (0, 1)
    )
    stores = store("%s02", "%qv") + "\n" + store("%s12", "%pv", "%t0").replace("%t9", "%t8")
    root = sliced(carrying(f"{ADDED}\ncontinue %c, %d : {WHOLE}, {WHOLE}", f"{ends}\n{stores}"))
    assert loops(root) == [16, 3]
    p = np.random.default_rng(5).integers(-9, 9, (16, 8)).astype(np.float32)
    rows, q = p.sum(1, keepdims=True), np.zeros_like(p)
    tilewright.execute(root, "k", 1, [p, q])
    assert np.array_equal(q, np.broadcast_to(3 * rows, q.shape))
    assert np.array_equal(p, np.broadcast_to(3 * rows, p.shape))


@pytest.mark.parametrize(
    "body",
    [
        carrying(f"{ADDED}\n{store('%c')}\ncontinue %c, %d : {WHOLE}, {WHOLE}", BOTH),
        ordered(store("%y", "%pv", "%r#2")),
        carrying(
            f"{ADDED}\n%j = addi %k, %i : tile<i32>\n"
            f"continue %c, %d, %j : {WHOLE}, {WHOLE}, tile<i32>",
            BOTH,
            f"{WHOLE}, {WHOLE}, tile<i32>",
            ", %k = %zero",
        ),
        carrying(
            f"""{ADDED}
            %flat = reshape %x : {WHOLE} -> tile<128xf32>
            %sum = reduce %flat dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32> {REDUCE}
            %s1 = reshape %sum : tile<f32> -> tile<1x1xf32>
            %s2 = broadcast %s1 : tile<1x1xf32> -> {WHOLE}
            %e = addf %d, %s2 : {WHOLE}
            continue %c, %e : {WHOLE}, {WHOLE}""",
            BOTH,
        ),
        carrying(
            f"{ADDED}\ncontinue %c, %d : {WHOLE}, {WHOLE}",
            f"""%flat = reshape %r#0 : {WHOLE} -> tile<128xf32>
            %sum = reduce %flat dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32> {REDUCE}
            %s1 = reshape %sum : tile<f32> -> tile<1x1xf32>
            %s2 = broadcast %s1 : tile<1x1xf32> -> {WHOLE}
            {store("%s2")}""",
        ),
    ],
    ids=[
        "a store",
        "a store after its loads",
        "a scalar",
        "a reduction of slices",
        "a reduction after it",
    ],
)
def test_loops_that_stay_whole(body: str) -> None:
    root = sliced(body)
    whole = [op for op in root.walk() if isinstance(op, ForOp) and op.carried]
    assert [str(op.carried[0].type) for op in whole] == ["tensor<16x8xf32>"]


@pytest.mark.parametrize("words", [2, 16])
@pytest.mark.parametrize("first", keep_first(range(200, 230, 5)))
def test_random_programs_do_the_same_in_slices(first: int, words: int) -> None:
    passes = [f"{CANONICAL},slice-tiles{{words={words}}}"]
    wrong = [problem for seed in range(first, first + 5)
             for problem in problems(seed, Options(profile="all"), passes)]  # fmt: skip
    assert wrong == []
