"""Consecutive loops that share a software pipeline: which ones do, and how it is passed on."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import pytest
from consecutive_programs import (
    B_VIEW,
    BOUNDS,
    C_VIEW,
    DOT,
    FIRST,
    LOADS,
    READ,
    SECOND,
    TENSOR_B,
    A,
    B,
    C,
    Part,
    program,
)
from repeats import keep_first
from scheduled_loops import materialized, optimized, scheduled

import tilewright
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.integer import AddIOp
from tilewright.dialects.nv_tileas.attribute_names import CONTINUES, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.pipeline import (
    CreateIteratorOp,
    CreatePipelineOp,
    ProducerCopyOp,
)
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import IntegerAttr, UnitAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads


def loops_of(module: Operation) -> list[ForOp]:
    return [op for op in module.walk() if isinstance(op, ForOp)]


def shared(text: str, arch: str = "sm_90", schedule: str = "") -> list[bool]:
    """Which loops take over the pipeline of the loop before; all of them are scheduled."""
    loops = loops_of(scheduled(text, arch, schedule=schedule))
    assert all(SCHEDULE in loop.attributes for loop in loops)
    return [CONTINUES in loop.attributes for loop in loops]


MIN: Final = ("%m, %n", "%n, %m")
MAX: Final = ("%m, %zero", "%zero, %m")


@pytest.mark.parametrize("larger", MAX)
@pytest.mark.parametrize("smaller", MIN)
def test_bounds_of_a_split_in_any_order(smaller: str, larger: str) -> None:
    bounds = f"%up = mini {smaller} signed : tile<i32> %low = maxi {larger} signed : tile<i32>"
    assert shared(program(before=bounds)) == [False, True]


def test_the_first_loop_may_begin_anywhere() -> None:
    bounds = "%up = mini %m, %n signed : tile<i32> %low = maxi %m, %two signed : tile<i32>"
    loops = [Part("%two to %up, step %one"), SECOND]
    assert shared(program(loops, bounds)) == [False, True]


def test_unsigned_loops() -> None:
    bounds = BOUNDS.replace(" signed", " unsigned").replace("%zero", "%two")
    loops = [
        Part("%two to %up, step %one", kind="unsigned "),
        Part("%low to %n, step %one", kind="unsigned "),
    ]
    assert shared(program(loops, bounds)) == [False, True]


@pytest.mark.parametrize("kind", ["", "unsigned "])
def test_constants(kind: str) -> None:
    """They must be in order: the first loop must not end before it begins, or after the second."""
    loops = [
        Part("%zero to %four, step %one", kind=kind),
        Part("%four to %twelve, step %one", kind=kind),
    ]
    assert shared(program(loops)) == [False, True]


def test_three_loops_share_one_pipeline() -> None:
    bounds = ("%zero to %four", "%four to %eight", "%eight to %twelve")
    loops = [Part(f"{each}, step %one") for each in bounds]
    assert shared(program(loops)) == [False, True, True]
    module = materialized(program(loops))
    assert sum(isinstance(op, CreatePipelineOp) for op in module.walk()) == 1


COPY: Final = f"%bv2 = make_partition_view %bt : {B_VIEW}"
OTHER_B: Final = LOADS.replace("%bv[%i", "%bv[%j")
INDEXED: Final = f"%j = addi %i, %one : tile<i32> {OTHER_B}"
ALONE: Final = {
    "signed bounds of unsigned loops": (
        [
            Part("%zero to %up, step %one", kind="unsigned "),
            Part("%low to %n, step %one", kind="unsigned "),
        ],
        BOUNDS,
    ),
    "one loop is unsigned": ([FIRST, Part("%low to %n, step %one", kind="unsigned ")], BOUNDS),
    "steps of two": (
        [Part("%zero to %up, step %two"), Part("%low to %n, step %two")],
        BOUNDS,
    ),
    "another step": ([FIRST, Part("%low to %n, step %two")], BOUNDS),
    "another step before": ([Part("%zero to %up, step %two"), SECOND], BOUNDS),
    "bounds that swap min and max": (
        [FIRST, SECOND],
        BOUNDS.replace("mini", "x").replace("maxi", "mini").replace("x %m", "maxi %m"),
    ),
    "the second loop begins elsewhere": (
        [FIRST, SECOND],
        BOUNDS.replace("maxi %m, %zero", "maxi %m, %one"),
    ),
    "the split points differ": (
        [FIRST, SECOND],
        f"%m1 = addi %m, %one : tile<i32> {BOUNDS.replace('maxi %m', 'maxi %m1')}",
    ),
    "the first loop may end after the second": (
        [FIRST, SECOND],
        BOUNDS.replace("mini %m, %n", "mini %m, %twelve"),
    ),
    "any two bounds that are the same": (
        [Part("%zero to %m, step %one"), Part("%m to %n, step %one")],
        "",
    ),
    "constants with a gap": (
        [Part("%zero to %four, step %one"), Part("%five to %twelve, step %one")],
        "",
    ),
    "constants that overlap": (
        [Part("%zero to %five, step %one"), Part("%four to %twelve, step %one")],
        "",
    ),
    "constants and an argument": (
        [Part("%zero to %four, step %one"), Part("%four to %n, step %one")],
        "",
    ),
    "another index": ([FIRST, Part(SECOND.bounds, loads=INDEXED)], BOUNDS),
    "an index by another operation": (
        [
            Part(each.bounds, loads=f"%j = {name} %i, %two : tile<i32> {OTHER_B}")
            for each, name in ((FIRST, "addi"), (SECOND, "muli"))
        ],
        BOUNDS,
    ),
    "an index that stays": (
        [FIRST, Part(SECOND.bounds, loads=LOADS.replace("%av[%zero", "%av[%one"))],
        BOUNDS,
    ),
    "another view": (
        [FIRST, Part(SECOND.bounds, loads=LOADS.replace("%bv[", "%ev["))],
        f"""{BOUNDS} %et = make_tensor_view %p16, shape = [384, 16], strides = [16, 1] : {TENSOR_B}
          %ev = make_partition_view %et : {B_VIEW}""",
    ),
    "an index computed in another width": (
        [
            Part(FIRST.bounds, loads=f"""%c = trunci %i : tile<i32> -> tile<i8>
              %j = exti %c signed : tile<i8> -> tile<i32> {OTHER_B}"""),
            Part(SECOND.bounds, loads=f"""%c = trunci %i : tile<i32> -> tile<i16>
              %j = exti %c signed : tile<i16> -> tile<i32> {OTHER_B}"""),
        ],
        BOUNDS,
    ),
    "a store between the loops": (
        [
            Part(
                FIRST.bounds,
                after=f"%t5 = store_view_tko weak %s1, %cv[%one, %zero] : {C}, {C_VIEW}, tile<i32> -> token",  # noqa: E501
            ),
            SECOND,
        ],
        BOUNDS,
    ),
    "a branch between the loops": (
        [
            Part(
                FIRST.bounds,
                after=f"""%less = cmpi less_than %m, %n, signed : tile<i32> -> tile<i1>
                  %x1 = if %less -> ({C}) {{ yield %s1 : {C} }} else {{ yield %ones : {C} }}""",
            ),
            SECOND,
        ],
        BOUNDS,
    ),
}  # fmt: skip
"""Loops of which each has a pipeline of its own."""


@pytest.mark.parametrize("name", ALONE)
def test_each_loop_has_its_own_pipeline(name: str) -> None:
    loops, before = ALONE[name]
    text = program(loops, before)
    if "%x1" in text:
        text = text.replace("iter_values(%acc = %s1)", "iter_values(%acc = %x1)")
    assert shared(text) == [False, False]


def test_pure_operations_may_lie_between() -> None:
    sum_ = Part(FIRST.bounds, after=f"%twice = addf %s1, %s1 : {C}")
    text = program([sum_, SECOND]).replace("iter_values(%acc = %s1)", "iter_values(%acc = %twice)")
    assert shared(text) == [False, True]


def test_operations_that_compute_the_same_index() -> None:
    loops = [Part(each.bounds, loads=INDEXED) for each in (FIRST, SECOND)]
    assert shared(program(loops)) == [False, True]


DOUBLED: Final = f"%b2 = addf %b, %b : {B} {DOT.replace('%b,', '%b2,')}"
SIZES: Final = {
    "tile=(64x32)": "tile=(64x64)",
    "tile<64x32x": "tile<64x64x",
    "tile=(32x16)": "tile=(64x64)",
    "tile<32x16x": "tile<64x64x",
    "384x16x": "384x64x",
    "tile=(64x16)": "tile=(64x64)",
    "64x16x": "64x64x",
    "strides=[16,1]": "strides=[64,1]",
    "[384, 16]": "[384, 64]",
    "[64, 16]": "[64, 64]",
    "strides = [16, 1]": "strides = [64, 1]",
}


def with_large_tiles(dot: str) -> Operation:
    """Two loops, the second with another dot, of tiles that are copied whatever reads them."""
    text = program([FIRST, Part(SECOND.bounds, dot=dot)])
    for old, new in SIZES.items():
        text = text.replace(old, new)
    module = scheduled(text)
    assert [len(scheduled_loads(loop)) for loop in loops_of(module)] == [2, 2]
    return module


@pytest.mark.parametrize(("dot", "is_shared"), [(DOT, True), (DOUBLED, False)])
def test_another_placement_of_the_same_tile(dot: str, is_shared: bool) -> None:
    """wgmma takes B from the stage; what is doubled first is read as each thread copied it."""
    loops = loops_of(with_large_tiles(dot))
    assert [CONTINUES in loop.attributes for loop in loops] == [False, is_shared]


def test_other_stages_cannot_be_taken_over() -> None:
    """Where the text says so, it is an error."""
    module = with_large_tiles(DOUBLED)
    first, second = loops_of(module)
    second.attributes[SCHEDULE] = first.attributes[SCHEDULE]
    second.attributes[CONTINUES] = UnitAttr()
    with pytest.raises(UserError, match="expected the stages of the loop before"):
        parse_pipeline("materialize-schedule").run(module)


IN_FLIGHT: Final = "in-flight=1"
"""Asked for, since several blocks share an SM."""


def schedules(text: str, schedule: str = "") -> list[ScheduleAttr]:
    loops = loops_of(scheduled(text, schedule=schedule))
    attributes = [loop.attributes[SCHEDULE] for loop in loops]
    return [each for each in attributes if isinstance(each, ScheduleAttr)]


@pytest.mark.parametrize("dots", [(DOT, READ), (READ, DOT)], ids=["first", "second"])
def test_a_dot_in_flight_in_one_of_the_loops(dots: tuple[str, str]) -> None:
    """Both copy the same number of iterations early; of four stages one may be read too long."""
    loops = [Part(each.bounds, dot=dot) for each, dot in zip((FIRST, SECOND), dots, strict=True)]
    lags = [int(dot is DOT) for dot in dots]
    schedule = "stages=4,in-flight=1"
    assert schedules(program(loops), schedule) == [ScheduleAttr(4, 2, lag) for lag in lags]
    assert shared(program(loops), schedule=schedule) == [False, True]


SCRATCH: Final = f"""%e = mmaf %a, %b, %acc : {A}, {B}, {C}
  %p1 = permute %e [1, 0] : {C} -> tile<16x64xf32>
  %p2 = reshape %p1 : tile<16x64xf32> -> {C}
  %d = addf %e, %p2 : {C}"""
"""A layout conversion by way of shared memory, 4 KiB, beside the stages."""


def occupied(blocks: int, *loops: Part) -> str:
    """A program that asks for several blocks on an SM, which limits the stages."""
    hints = f"%m: tile<i32>) optimization_hints=<sm_90 = {{occupancy = {blocks}}}> {{"
    return program(loops).replace("%m: tile<i32>) {", hints)


@pytest.mark.parametrize("dots", [(SCRATCH, DOT), (DOT, SCRATCH)], ids=["first", "second"])
@pytest.mark.parametrize("blocks", [6, 7])
def test_the_loop_with_the_fewest_stages_decides(dots: tuple[str, str], blocks: int) -> None:
    """Of its stages one is read, and with a dot in flight in the other loop one more."""
    loops = [Part(each.bounds, dot=dot) for each, dot in zip((FIRST, SECOND), dots, strict=True)]
    text = occupied(blocks, *loops)
    (alone,) = schedules(occupied(blocks, Part("%zero to %n, step %one")), IN_FLIGHT)
    one, other = schedules(text, IN_FLIGHT)
    assert one.stages == other.stages < alone.stages
    assert one.distance == other.distance == one.stages - 2
    assert [one.lag, other.lag] == [int(dot is DOT) for dot in dots]
    module = materialized(text, schedule=IN_FLIGHT)
    assert sum(isinstance(op, CreatePipelineOp) for op in module.walk()) == 1


@pytest.mark.parametrize("dots", [(SCRATCH, DOT), (DOT, SCRATCH)], ids=["first", "second"])
def test_two_stages_are_too_few_for_a_dot_in_flight(dots: tuple[str, str]) -> None:
    """The loop with two stages keeps them, and the other one its own."""
    loops = [Part(each.bounds, dot=dot) for each, dot in zip((FIRST, SECOND), dots, strict=True)]
    text = occupied(10, *loops)
    stages = [each.stages for each in schedules(text, IN_FLIGHT)]
    assert sorted(stages) == [2, 4]
    assert shared(text, schedule=IN_FLIGHT) == [False, False]


@pytest.mark.parametrize("dots", [(READ, READ, DOT), (DOT, READ, READ), (READ, DOT, READ)],
                         ids=["last", "first", "middle"])  # fmt: skip
def test_loops_of_one_pipeline_have_one_distance(dots: tuple[str, str, str]) -> None:
    bounds = ("%zero to %four", "%four to %eight", "%eight to %twelve")
    loops = [Part(f"{each}, step %one", dot=dot) for each, dot in zip(bounds, dots, strict=True)]
    text = program(loops)
    schedule = "stages=4,in-flight=1"
    assert shared(text, schedule=schedule) == [False, True, True]
    assert {(each.stages, each.distance) for each in schedules(text, schedule)} == {(4, 2)}


@pytest.mark.parametrize("schedule", ["stages=4,in-flight=0", "stages=4,in-flight=1"])
def test_there_is_one_pipeline_and_one_prologue(schedule: str) -> None:
    module = materialized(program(), schedule=schedule)
    loops = loops_of(module)
    (create,) = (op for op in module.walk() if isinstance(op, CreatePipelineOp))
    assert pipeline(create.result).stages == 4
    assert sum(isinstance(op, CreateIteratorOp) for op in module.walk()) == 1
    copies = [op for op in module.walk() if isinstance(op, ProducerCopyOp)]
    early = [op for op in copies if not any(loop.is_ancestor_of(op) for loop in loops)]
    distance = 2 if schedule.endswith("1") else 3
    assert [op.number for op in early] == [0, 1] * distance
    # No copy lies between the loops: those of the prologue precede the first one.
    order = [op for op in module.walk() if op in early or op in loops]
    assert order[-2:] == loops
    inside = [[op.number for op in copies if loop.is_ancestor_of(op)] for loop in loops]
    assert inside == [[0, 1], [0, 1]]


def test_iterators_are_passed_on() -> None:
    module = materialized(program(), schedule="stages=4,in-flight=0")
    first, second = loops_of(module)
    assert list(second.init_args)[-2:] == list(first.results)[-2:]


def test_guards_pass_iterators_on() -> None:
    """Without iterations, a loop whose dots stay in flight is skipped; iterators are as before."""
    module = materialized(program(), schedule="stages=4,in-flight=1")
    first, second = loops_of(module)
    guards = [loop.parent_op for loop in (first, second)]
    assert all(isinstance(guard, IfOp) for guard in guards)
    for guard, loop in zip(guards, (first, second), strict=True):
        assert isinstance(guard, IfOp)
        then, other = (region.block.last for region in guard.regions)
        assert isinstance(then, YieldOp)
        assert isinstance(other, YieldOp)
        assert list(then.operands)[-2:] == list(loop.results)[-2:]
        assert list(other.operands) == list(loop.init_args)
    before = guards[0]
    assert before is not None
    assert list(second.init_args)[-2:] == list(before.results)[-2:]


def test_the_first_loop_copies_for_the_second() -> None:
    """Whether there is an iteration to copy is decided by the end of the second loop."""
    module = materialized(program(), schedule="stages=4,in-flight=0")
    first, second = loops_of(module)
    ends = []
    for loop in (first, second):
        (guard,) = (op for op in loop.body.block if isinstance(op, IfOp))
        comparison = guard.condition.defining_op()
        assert comparison is not None
        ends.append(comparison.operands[1])
    assert ends[0] is ends[1]
    assert first.upper_bound is not second.upper_bound


CASES: Final = [(5, 3), (5, 0), (5, 7), (5, 5), (1, 1), (0, 3), (7, 1), (7, 6), (3, -2)]
"""How many iterations there are, and after how many the second loop takes over."""
PIPELINES: Final = keep_first([
    (arch, f"stages={stages},in-flight={in_flight}")
    for in_flight in (1, 0) for stages in (4, 2, 3) for arch in ("sm_90", "sm_80")
], 2)  # fmt: skip


@cache
def compiled(text: str, arch: str, schedule: str) -> str:
    return tilewright.compile(text, arch, emit="ptx", schedule=schedule).ptx


def run(text: str, arch: str, schedule: str, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """What a program computes on the emulator, and the matmul of its operands up to tile `n`."""
    numbers = np.random.default_rng(n + 100 * m + 10_000)
    a = numbers.integers(-2, 3, (64, 384)).astype(np.float16)
    b = numbers.integers(-2, 3, (384, 16)).astype(np.float16)
    c = np.full((64, 16), 9, np.float32)
    module = read_runnable(text, "kernel.mlir")
    arguments = [a, b, c, n, m]
    run_ptx(compiled(text, arch, schedule), module, "k", (1, 1, 1), arguments, check=True, seed=m)
    k = 32 * n
    return c, a[:, :k].astype(np.float64) @ b[:k].astype(np.float64)


@pytest.mark.parametrize(("arch", "schedule"), PIPELINES)
def test_all_tiles_are_multiplied_once(arch: str, schedule: str) -> None:
    text = program()
    assert shared(text, arch, schedule) == [False, True]
    for n, m in CASES:
        made, expected = run(text, arch, schedule, n, m)
        assert (made == expected).all(), (n, m)


@pytest.mark.parametrize("dots", [(READ, READ, DOT), (DOT, READ, READ)], ids=["last", "first"])
def test_three_loops_with_dots_in_flight_in_one(dots: tuple[str, str, str]) -> None:
    bounds = ("%zero to %four", "%four to %eight", "%eight to %twelve")
    loops = [Part(f"{each}, step %one", dot=dot) for each, dot in zip(bounds, dots, strict=True)]
    made, expected = run(program(loops), "sm_90", "stages=4,in-flight=1", 12, 0)
    assert (made == expected + 4 * dots.count(READ)).all()


SPLIT: Final = f"""
  %early = cmpi less_than %i, %m, signed : tile<i32> -> tile<i1>
  %d = if %early -> ({C}) {{
    %e = mmaf %a, %b, %acc : {A}, {B}, {C} yield %e : {C}
  }} else {{
    %f = mmaf %a, %b, %acc : {A}, {B}, {C} %g = addf %f, %ones : {C} yield %g : {C}
  }}"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
def test_loop_split_makes_such_loops(arch: str) -> None:
    text = program([Part("%zero to %n, step %one", dot=SPLIT)], "")
    loops = loops_of(scheduled(optimized(text), arch))
    assert [CONTINUES in loop.attributes for loop in loops] == [False, True]


@pytest.mark.parametrize("is_between", [True, False])
def test_constant_bounds_are_defined_before_the_loops(*, is_between: bool) -> None:
    """Wherever they were: those before the loops may have users there."""
    bounds = ("%zero to %four", "%four to %twelve")
    module = scheduled(program([Part(f"{each}, step %one") for each in bounds]))
    first, second = loops_of(module)
    for number, value in ((1, 12), (2, 1)):
        own = create_op(ConstantOp, value=IntegerAttr(value, I32), types=[I32])
        own.insert_before(second if is_between else first)
        if not is_between:
            create_op(AddIOp, lhs=own.result, rhs=own.result).insert_before(first)
        second.set_operand(number, own.result)
    parse_pipeline("materialize-schedule").run(module)
    verify(module)
    order = list(module.walk())
    first, second = loops_of(module)
    for bound in second.operands[:3]:
        op = bound.defining_op()
        assert op is not None
        assert order.index(op) < order.index(first)
