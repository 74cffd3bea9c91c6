"""Splits of K: which loops over K get shorter tiles, and which bounds they have."""

from __future__ import annotations

from typing import Any, Final

import pytest
from refined_loops import operands
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.integer import MulIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp, tiled_view
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32, I64
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

SQUARE: Final = "tensor_view<256x256xf16, strides=[256,1]>"
DYNAMIC: Final = "tensor_view<256x256xf16, strides=[?,1]>"
A_VIEW: Final = f"partition_view<tile=(64x64), padding_value = zero, {SQUARE}>"
B_VIEW: Final = f"partition_view<tile=(64x32), padding_value = zero, {SQUARE}>"
OVERLAPPING: Final = (
    f"strided_view<tile=(64x64), traversal_strides=[64,32], padding_value = zero, {SQUARE}>"
)
CUBES: Final = "partition_view<tile=(64x64x4), tensor_view<64x256x4xf16, strides=[1024,4,1]>>"
A: Final = "tile<64x64xf16>"
B: Final = "tile<64x32xf16>"
C: Final = "tile<64x32xf32>"
LOAD_A: Final = f"%a, %ta = load_view_tko weak %av[%zero, %i] : {A_VIEW}, tile<i32> -> {A}, token"
LOAD_B: Final = f"%b, %tb = load_view_tko weak %bv[%i, %zero] : {B_VIEW}, tile<i32> -> {B}, token"
DOT: Final = f"%d = mmaf %a, %b, %acc : {A}, {B}, {C}"


def gemm(
    *,
    load_a: str = LOAD_A,
    load_b: str = LOAD_B,
    dot: str = DOT,
    before: str = "",
    bounds: str = "%zero to %trips, step %one",
    counter: str = "i32",
    carried: str = "",
    columns: int = 32,
) -> str:
    """A kernel with a loop over K, of tiles of 64 along it; `carried` is one more tile."""
    result = C.replace("32x", f"{columns}x", 1)
    header, results, types = "%acc = %none", "%sum", result
    if carried:
        header, results, types = f"{header}, %w = %none", "%sum, %others", f"{result}, {result}"
    tensor = f"tensor_view<64x{columns}xf32, strides=[{columns},1]>"
    view = f"partition_view<tile=(64x{columns}), {tensor}>"
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %n: tile<i32>, %n64: tile<i64>, %x: tile<f32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %two = constant <i32: 2> : tile<i32>
          %k = constant <i32: 64> : tile<i32>
          %trips = divi %n, %k signed rounding<positive_inf> : tile<i32>
          %none = constant <f32: 0.0> : {result}
          %at = make_tensor_view %p, shape = [256, 256], strides = [256, 1] : {SQUARE}
          %av = make_partition_view %at : {A_VIEW}
          %bt = make_tensor_view %q, shape = [256, 256], strides = [256, 1] : {SQUARE}
          %bv = make_partition_view %bt : {B_VIEW}
          %ct = make_tensor_view %r, shape = [64, {columns}], strides = [{columns}, 1] : {tensor}
          %cv = make_partition_view %ct : {view}
          {before}
          {results} = for %i in ({bounds}) : tile<{counter}> iter_values({header}) -> ({types}) {{
            {load_a}
            {load_b}
            {dot}
            continue %d{carried and ", " + carried} : {types}
          }}
          %t = store_view_tko weak %sum, %cv[%zero, %zero] : {result}, {view}, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501


def refined(text: str, parts: int = 2, arch: str = "sm_90") -> Operation:
    """The program after the pass, which is to split each iteration into some parts."""
    module = lowered_as_far_as("tile", text, arch, schedule=f"k-parts={parts}")
    verify(module)
    return module


def is_unchanged(text: str, arch: str = "sm_90") -> bool:
    """Whether the pass leaves a program exactly as it was."""
    module = lowered_as_far_as("expand-dots", text, arch, schedule="k-parts=2")
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    before = print_op(kernel)
    parse_pipeline("plan-splits{forms=k_loop},tile").run(module)
    assert kernel.has_refused("k_parts")
    kernel.refused = None
    return print_op(kernel) == before


def the_loop(module: Operation) -> ForOp:
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return loop


def tiles(module: Operation) -> list[tuple[int, ...]]:
    """The shape of the tile of each load in the loop; tiles of a view are next to each other."""
    loads = [op for op in the_loop(module).walk() if isinstance(op, TiledLoadOp)]
    views = [tiled_view(load.view) for load in loads]
    assert all(view.steps == view.tile for view in views)
    assert [tuple(view.tile) for view in views] == [tuple(shape(op.tile.type)) for op in loads]
    return [tuple(view.tile) for view in views]


def number(value: Value) -> int | None:
    known = constant_of(value)
    return known.value if isinstance(known, IntegerAttr) else None


def scaled(bound: Value) -> tuple[Value, int | None]:
    """The number of iterations that a bound was before, and how often it was multiplied."""
    op = bound.defining_op()
    assert isinstance(op, MulIOp)
    return op.lhs, number(op.rhs)


@pytest.mark.parametrize("parts", [2, 4])
def test_tiles_are_shorter_along_k_and_iterations_more(parts: int) -> None:
    module = refined(gemm(), parts)
    k = 64 // parts
    assert tiles(module) == [(64, k), (k, 32)]
    assert operands(module) == [((64, k), (k, 32))]
    loop = the_loop(module)
    assert scaled(loop.upper_bound)[1] == parts
    first, times = scaled(loop.lower_bound)
    assert (number(first), times, number(loop.step)) == (0, parts, 1)


def test_loads_may_have_nothing_in_bounds() -> None:
    """A part of the last tile may lie past the end of the tensor: layouts must not assume less."""
    loads = [op for op in refined(gemm()).walk() if isinstance(op, TiledLoadOp)]
    assert [load.sliced for load in loads] == [True, True]


@pytest.mark.parametrize(("divisor", "parts", "type"), [
    (64, 2, I32),
    (4, 2, I32),  # 2^31 / 4 * 2 fits
    (2, 2, I64),  # 2^31 / 2 * 2 does not
    (8, 4, I32),
    (4, 4, I64),
])  # fmt: skip
def test_a_bound_that_was_divided_stays_small(divisor: int, parts: int, type: object) -> None:
    before = f"""%by = constant <i32: {divisor}> : tile<i32>
      %end = divi %n, %by signed rounding<positive_inf> : tile<i32>"""
    module = refined(gemm(before=before, bounds="%zero to %end, step %one"), parts)
    assert {value.type for value in the_loop(module).operands[:3]} == {type}


@pytest.mark.parametrize(("end", "type"), [(3, I32), (2**30 - 1, I32), (2**30, I64)])
def test_a_constant_bound_is_as_wide_as_it_must_be(end: int, type: object) -> None:
    """Twice 2^30 is more than an i32 holds."""
    before = f"%end = constant <i32: {end}> : tile<i32>"
    module = refined(gemm(before=before, bounds="%zero to %end, step %one"))
    assert the_loop(module).upper_bound.type is type


@pytest.mark.parametrize("first", [2**30, 2**31 - 1])
def test_a_first_iteration_that_does_not_fit_makes_the_counter_wide(first: int) -> None:
    """In 32 bits twice 2^30 is negative: a loop without iterations would have some."""
    before = f"%first = constant <i32: {first}> : tile<i32>"
    module = refined(gemm(before=before, bounds="%first to %trips, step %one"))
    assert the_loop(module).lower_bound.type is I64


@pytest.mark.parametrize("order", ["", "unsigned "])
def test_an_argument_may_be_any_number(order: str) -> None:
    """It is extended as the loop compares it."""
    text = gemm(bounds="%zero to %n, step %one").replace("= for %i", f"= for {order}%i")
    loop = the_loop(refined(text))
    assert {value.type for value in loop.operands[:3]} == {I64}
    wide, _ = scaled(loop.upper_bound)
    extension = wide.defining_op()
    assert extension is not None
    assert str(extension.attributes["signedness"]).endswith(
        order.strip() + ">" if order else "signed>"
    )
    assert loop.unsigned_cmp == bool(order)


def test_counters_of_64_bits_stay() -> None:
    constants = "%z = constant <i64: 0> : tile<i64> %o = constant <i64: 1> : tile<i64>"
    module = refined(gemm(
        before=constants,
        bounds="%z to %n64, step %o",
        counter="i64",
        load_a=f"%a, %ta = load_view_tko weak %av[%z, %i] : {A_VIEW}, tile<i64> -> {A}, token",
        load_b=f"%b, %tb = load_view_tko weak %bv[%i, %z] : {B_VIEW}, tile<i64> -> {B}, token",
    ))  # fmt: skip
    assert tiles(module) == [(64, 32), (32, 32)]
    assert the_loop(module).upper_bound.type is I64


MAPPED: Final = f"partition_view<tile=(64x64), padding_value = zero, {SQUARE}, dim_map=[1, 0]>"
ROWS: Final = f"partition_view<tile=(32x64), padding_value = zero, {SQUARE}>"
ROW: Final = "partition_view<tile=(64), padding_value = zero, tensor_view<256xf16, strides=[1]>>"
CHAINS: Final[dict[str, tuple[dict[str, Any], list[tuple[int, ...]]]]] = {
    "element-wise": (
        {"load_a": f"{LOAD_A.replace('%a,', '%a0,')} %a = addf %a0, %a0 : {A}"},
        [(64, 32), (32, 32)],
    ),
    "splat of a scalar": (
        {"before": f"""%h = ftof %x : tile<f32> -> tile<f16>
           %h1 = reshape %h : tile<f16> -> tile<1x1xf16>
           %hs = broadcast %h1 : tile<1x1xf16> -> {A}""",
         "load_a": f"{LOAD_A.replace('%a,', '%a0,')} %a = mulf %a0, %hs : {A}"},
        [(64, 32), (32, 32)],
    ),
    "constant": (
        {"load_a": f"""{LOAD_A.replace("%a,", "%a0,")} %c3 = constant <f16: 3.0> : {A}
           %a = mulf %a0, %c3 : {A}"""},
        [(64, 32), (32, 32)],
    ),
    "dimensions of the view": (
        {"before": f"%mv = make_partition_view %at : {MAPPED}",
         "load_a": LOAD_A.replace("%av", "%mv").replace(A_VIEW, MAPPED)},
        [(64, 32), (32, 32)],
    ),
    "permute": (
        {"before": f"%rv = make_partition_view %bt : {ROWS}",
         "load_b": f"""%b0, %tb = load_view_tko weak %rv[%zero, %i]
             : {ROWS}, tile<i32> -> tile<32x64xf16>, token
           %b = permute %b0 [1, 0] : tile<32x64xf16> -> {B}"""},
        [(64, 32), (32, 32)],
    ),
    "broadcast of what is loaded along K": (
        {"before": f"""%st = make_tensor_view %q, shape = [256], strides = [1]
             : tensor_view<256xf16, strides=[1]>
           %sv = make_partition_view %st : {ROW}""",
         "load_a": f"""{LOAD_A.replace("%a,", "%a0,")}
           %s, %ts = load_view_tko weak %sv[%i] : {ROW}, tile<i32> -> tile<64xf16>, token
           %s1 = reshape %s : tile<64xf16> -> tile<1x64xf16>
           %ss = broadcast %s1 : tile<1x64xf16> -> {A} %a = mulf %a0, %ss : {A}"""},
        [(64, 32), (32,), (32, 32)],
    ),
}  # fmt: skip
"""Operations between loads and the dot, and the tiles that are loaded then."""


@pytest.mark.parametrize("name", CHAINS)
def test_operations_between_loads_and_dots_get_shorter_too(name: str) -> None:
    arguments, expected = CHAINS[name]
    module = refined(gemm(**arguments))
    assert tiles(module) == expected
    assert operands(module) == [((64, 32), (32, 32))]


def test_the_dimensions_of_a_view_stay() -> None:
    """Of a view whose tiles are transposed, the second dimension of the tile is rows."""
    module = refined(gemm(**CHAINS["dimensions of the view"][0]))
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    assert [tuple(tiled_view(load.view).dims) for load in loads] == [(1, 0), (0, 1)]


SQUARE_C: Final = "tile<64x64xf32>"


def test_a_and_b_may_be_tiles_of_one_view() -> None:
    """Each has a view of its own then, since K is another dimension of it."""
    module = refined(gemm(
        load_b=f"%b, %tb = load_view_tko weak %av[%i, %zero] : {A_VIEW}, tile<i32> -> {A}, token",
        dot=f"%d = mmaf %a, %b, %acc : {A}, {A}, {SQUARE_C}",
        columns=64,
    ))  # fmt: skip
    assert tiles(module) == [(64, 32), (32, 64)]


def test_one_load_may_be_both_operands() -> None:
    """A times its transpose."""
    module = refined(gemm(
        load_b=f"%b = permute %a [1, 0] : {A} -> {A}",
        dot=f"%d = mmaf %a, %b, %acc : {A}, {A}, {SQUARE_C}",
        columns=64,
    ))  # fmt: skip
    assert tiles(module) == [(64, 32)]
    assert operands(module) == [((64, 32), (32, 64))]


def test_one_tile_cannot_have_k_in_both_dimensions() -> None:
    dot = f"%d = mmaf %a, %a, %acc : {A}, {A}, {SQUARE_C}"
    assert is_unchanged(gemm(load_b="", dot=dot, columns=64))


def test_dots_of_one_loop_are_refined_together() -> None:
    dots = f"{DOT} %e = mmaf %a, %b, %w : {A}, {B}, {C}"
    module = refined(gemm(dot=dots, carried="%e"))
    assert operands(module) == [((64, 32), (32, 32))] * 2


def test_the_dot_with_the_smallest_k_limits_the_parts() -> None:
    """Beside a dot with K = 64 there is one with K = 16, that of one instruction."""
    short_a = f"partition_view<tile=(64x16), padding_value = zero, {SQUARE}>"
    short_b = f"partition_view<tile=(16x32), padding_value = zero, {SQUARE}>"
    assert is_unchanged(gemm(
        before=f"""%sv = make_partition_view %at : {short_a}
          %uv = make_partition_view %bt : {short_b}""",
        dot=f"""{DOT}
          %s, %ts = load_view_tko weak %sv[%zero, %i]
              : {short_a}, tile<i32> -> tile<64x16xf16>, token
          %u, %tu = load_view_tko weak %uv[%i, %zero]
              : {short_b}, tile<i32> -> tile<16x32xf16>, token
          %e = mmaf %s, %u, %w : tile<64x16xf16>, tile<16x32xf16>, {C}""",
        carried="%e",
    ))  # fmt: skip


COUNTERS: Final = """%i1 = reshape %i : tile<i32> -> tile<1x1xi32>
  %is = broadcast %i1 : tile<1x1xi32> -> tile<64x64xi32>"""
UNREFINABLE: Final[dict[str, dict[str, Any]]] = {
    "step of two": {"bounds": "%zero to %trips, step %two"},
    "step that is an argument": {"bounds": "%zero to %trips, step %n"},
    "first iteration that is an argument": {"bounds": "%n to %trips, step %one"},
    "first iteration that is negative": {
        "before": "%low = constant <i32: -1> : tile<i32>",
        "bounds": "%low to %trips, step %one",
    },
    "counter as a number": {
        "load_a": f"""{LOAD_A.replace("%a,", "%a0,")} {COUNTERS}
          %f = itof %is signed : tile<64x64xi32> -> {A} %a = addf %a0, %f : {A}"""
    },
    "counter in the index of another dimension": {
        "load_a": LOAD_A.replace("[%zero, %i]", "[%i, %i]")
    },
    "another index along K": {
        "load_a": f"%j = addi %i, %one : tile<i32> {LOAD_A.replace(', %i]', ', %j]')}"
    },
    "K that stays": {"load_a": LOAD_A.replace(", %i]", ", %zero]")},
    "counter that is printed": {"dot": f'{DOT} %tp = print_tko "%d", %i : tile<i32> -> token'},
    "numbers along K": {
        "load_a": f"""{LOAD_A.replace("%a,", "%a0,")} %y = iota : tile<64xi32>
          %xf = itof %y signed : tile<64xi32> -> tile<64xf16>
          %x1 = reshape %xf : tile<64xf16> -> tile<1x64xf16>
          %xs = broadcast %x1 : tile<1x64xf16> -> {A} %a = mulf %a0, %xs : {A}"""
    },
    "tile from before the loop": {
        "before": LOAD_A.replace("%i]", "%zero]"),
        "load_a": "",
    },
    "accumulator that the loop reads": {
        "dot": f"{DOT} %s = addf %w, %d : {C}",
        "carried": "%s",
    },
    "accumulator before the dot": {
        "dot": f"%s = addf %w, %acc : {C} {DOT}",
        "carried": "%s",
    },
    "dots that follow each other": {
        "dot": f"%e = mmaf %a, %b, %acc : {A}, {B}, {C} %d = mmaf %a, %b, %e : {A}, {B}, {C}"
    },
    "accumulators that are swapped": {
        "dot": f"{DOT} %e = mmaf %a, %b, %w : {A}, {B}, {C}".replace("%d =", "%g =").replace(
            "%e =", "%d ="
        ),
        "carried": "%g",
    },
    "other tile that is carried": {"dot": f"{DOT} %s = addf %w, %w : {C}", "carried": "%s"},
    "token before a load": {
        "before": "%h = constant <f16: 1.0> : tile<f16> "
        "%ts = store_ptr_tko weak %p, %h : tile<ptr<f16>>, tile<f16> -> token",
        "load_a": LOAD_A.replace("%i] :", "%i] token = %ts :"),
    },
    "token after a load": {
        "dot": f"""{DOT} %h = constant <f16: 1.0> : tile<f16>
          %ts = store_ptr_tko weak %p, %h token = %ta : tile<ptr<f16>>, tile<f16> -> token"""
    },
    "load with an order": {"load_a": LOAD_A.replace("weak", "relaxed device")},
    "tiles that overlap": {
        "before": f"%ov = make_strided_view %at : {OVERLAPPING}",
        "load_a": LOAD_A.replace("%av", "%ov").replace(A_VIEW, OVERLAPPING),
    },
    "view in the loop": {
        "load_a": f"""%it = make_tensor_view %p, shape = [256, 256], strides = [%i, 1]
            : tile<i32> -> {DYNAMIC}
          %iv = make_partition_view %it : {A_VIEW.replace(SQUARE, DYNAMIC)}
          {LOAD_A.replace("%av", "%iv").replace(SQUARE, DYNAMIC)}""",
    },
    "reduction": {
        "before": f"""%gt = make_tensor_view %p, shape = [64, 256, 4], strides = [1024, 4, 1]
            : tensor_view<64x256x4xf16, strides=[1024,4,1]>
          %gv = make_partition_view %gt : {CUBES}""",
        "load_a": f"""%g, %tg = load_view_tko weak %gv[%zero, %i, %zero]
            : {CUBES}, tile<i32> -> tile<64x64x4xf16>, token
          %a = reduce %g dim=2 identities=[0.0 : f16] : tile<64x64x4xf16> -> {A}
          (%u: tile<f16>, %v: tile<f16>) {{
            %m = addf %u, %v : tile<f16>
            yield %m : tile<f16>
          }}""",
    },
    "branch": {
        "dot": f"""%even = cmpi less_than %n, %two, signed : tile<i32> -> tile<i1>
          %e = if %even -> ({C}) {{ yield %acc : {C} }} else {{ yield %w : {C} }}
          {DOT}""",
        "carried": "%e",
    },
}
"""Loops that must stay as they are."""


@pytest.mark.parametrize("name", UNREFINABLE)
def test_a_loop_that_cannot_be_refined_stays_as_it_is(name: str) -> None:
    assert is_unchanged(gemm(**UNREFINABLE[name]))


@pytest.mark.parametrize(("opt_level", "expected"), [(1, 64), (2, 32)])
def test_loops_are_refined_from_o2_on(opt_level: int, expected: int) -> None:
    module = lowered_as_far_as("tile", gemm(), "sm_90", opt_level, "k-parts=2")
    assert operands(module) == [((64, expected), (expected, 32))]
