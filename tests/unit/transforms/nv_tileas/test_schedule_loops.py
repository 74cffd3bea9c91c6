"""The choice of software pipelines: which loads, how many stages, and which dots overlap."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from scheduled_loops import (
    PADDING,
    copied_loads,
    copy_loop,
    dots_in_flight,
    engines,
    lowered_as_far_as,
    materialized,
    matmul,
    schedule_of,
    scheduled,
)

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import CacheModifier
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.types import I8
from tilewright.transforms.nv_tileas.pipelined_loads import engine_of


@pytest.mark.parametrize(("rows", "stages"), [(16, 4), (32, 2), (64, 1)])
def test_as_many_private_stages_as_fit(rows: int, stages: int) -> None:
    """At most 48 KiB of shared memory, a KiB less for mbarriers, in stages of 8, 16 or 32 KiB."""
    module = scheduled(copy_loop(rows))
    # Without a barrier, a stage is copied to as soon as it is read.
    assert schedule_of(module) == ScheduleAttr(stages, distance=stages)
    assert copied_loads(module) == 1


@pytest.mark.parametrize("rows", [8, 128])
def test_small_tiles_and_very_large_ones_are_loaded_directly(rows: int) -> None:
    """8 rows are 8 registers per thread, fewer than 16; 128 rows are 64 KiB, more than 32 KiB."""
    module = scheduled(copy_loop(rows))
    assert schedule_of(module) is None
    assert copied_loads(module) == 0


@pytest.mark.parametrize(("padding", "is_scheduled"), [
    ("", True),  # elements out of bounds are undefined
    (PADDING, True),
    ("padding_value = nan, ", False),
    ("padding_value = neg_zero, ", False),
])  # fmt: skip
def test_cp_async_can_only_pad_with_zeros(padding: str, is_scheduled: bool) -> None:
    assert (schedule_of(scheduled(copy_loop(padding=padding))) is not None) == is_scheduled


def test_a_load_that_a_later_access_waits_for_stays() -> None:
    assert schedule_of(scheduled(copy_loop(after="%t1"))) is None


def test_a_load_that_waits_for_an_access_stays() -> None:
    before = (
        "%one = constant <f32: 1.0> : tile<f32> "
        "%t0 = store_ptr_tko weak %p, %one : tile<ptr<f32>>, tile<f32> -> token"
    )
    assert schedule_of(scheduled(copy_loop(token=before))) is None


def test_an_assertion_may_guard_the_load() -> None:
    check = (
        '%low = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1> assert %low, "low" : tile<i1>'
    )
    assert schedule_of(scheduled(copy_loop(inside=check))) is None


def test_a_print_guards_nothing() -> None:
    assert schedule_of(scheduled(copy_loop(inside='print_tko "%d", %i : tile<i32> -> token')))


@pytest.mark.parametrize(("opt_level", "is_scheduled"), [(0, False), (1, False), (2, True)])
def test_loops_are_scheduled_from_o2_on(opt_level: int, is_scheduled: bool) -> None:
    module = scheduled(copy_loop(), opt_level=opt_level)
    assert (schedule_of(module) is not None) == is_scheduled


def test_an_accumulator_that_is_only_carried_stays_in_flight() -> None:
    """Of six stages one is read, one is still read by the dot before, and four are copied to."""
    module = scheduled(matmul(128, 128, 64, occupancy=1))
    assert schedule_of(module) == ScheduleAttr(6, distance=4, lag=1)
    assert copied_loads(module) == 2
    assert dots_in_flight(module) == 1


def two_dots(program: str, between: str = "") -> str:
    """A program whose dot is repeated, in the accumulator of the first."""
    (dot,) = (line for line in program.splitlines() if "mmaf" in line)
    first, second = dot.replace("%d =", "%d0 ="), dot.replace("%c :", "%d0 :")
    return program.replace(dot, f"{first}\n{between}\n{second}")


def test_dots_that_accumulate_one_after_the_other_stay_in_flight() -> None:
    program = two_dots(matmul(128, 128, 64))
    module = scheduled(program)
    assert schedule_of(module) == ScheduleAttr(6, distance=4, lag=1)
    assert dots_in_flight(module) == 2
    waits = [op for op in materialized(program).walk() if isinstance(op, DotWaitOp)]
    assert [wait.pending for wait in waits] == [2, 0]


@pytest.mark.parametrize(("stages", "distance", "lag"), [(3, 2, 0), (4, 2, 1)])
def test_two_iterations_of_several_dots_are_copied_early(
    stages: int, distance: int, lag: int
) -> None:
    module = scheduled(two_dots(matmul(128, 128, 64)), schedule=f"stages={stages},agents=0")
    assert schedule_of(module) == ScheduleAttr(stages, distance, lag)


def test_dots_are_awaited_if_the_accumulator_is_read_between_them() -> None:
    program = two_dots(
        matmul(128, 128, 64, is_read=True), "%w = addf %d0, %d0 : tile<128x128xf32>"
    ).replace("addf %u, %d ", "addf %u, %w ")
    assert dots_in_flight(scheduled(program)) == 0


def test_an_accumulator_that_the_loop_reads_is_awaited() -> None:
    module = scheduled(matmul(128, 128, 64, is_read=True), schedule="agents=0")
    schedule = schedule_of(module)
    assert schedule is not None
    assert (schedule.lag, schedule.distance) == (0, schedule.stages - 1)
    assert dots_in_flight(module) == 0


def test_promoted_fp8_accumulators_are_awaited() -> None:
    """They are added to others in f32 within the loop, every 128 elements of K."""
    module = scheduled(matmul(128, 128, 64, element="f8E4M3FN"))
    schedule = schedule_of(module)
    assert schedule is not None
    assert schedule.lag == 0
    assert dots_in_flight(module) == 0


@pytest.mark.parametrize("k", [16, 32, 64, 128])
def test_forced_stages_do_not_depend_on_k(k: int) -> None:
    """With K = 128 a stage of A and B has 32 KiB, and 3 stages fit into 227 KiB."""
    module = scheduled(matmul(64, 64, k), schedule="stages=3")
    assert schedule_of(module) == ScheduleAttr(3, distance=2)


@pytest.mark.parametrize(("k", "occupancy", "stages"), [
    (16, 1, 6),
    (128, 1, 6),
    (256, 1, 3),  # 227 KiB of a block hold 3 stages of 64 KiB
    (64, 2, 6),
    (128, 2, 3),  # two blocks have 113 KiB each: 3 stages of 32 KiB
    (256, 2, None),
])  # fmt: skip
def test_there_are_six_stages_while_they_fit(k: int, occupancy: int, stages: int | None) -> None:
    """A stage of A and B, 64 x K and K x 64 elements of 2 bytes, has 256 K bytes."""
    schedule = schedule_of(scheduled(matmul(64, 64, k, occupancy=occupancy)))
    assert (None if schedule is None else schedule.stages) == stages


def test_one_stage_is_no_pipeline_for_operands_of_dots() -> None:
    """Other threads read a stage, so the next one cannot be copied into it without a barrier."""
    assert schedule_of(scheduled(matmul(128, 128, 64), schedule="stages=1")) is None


def test_with_two_stages_a_dot_ends_with_its_iteration() -> None:
    module = scheduled(matmul(128, 128, 64), schedule="stages=2,agents=0")
    assert schedule_of(module) == ScheduleAttr(2, distance=1)
    assert dots_in_flight(module) == 1


@pytest.mark.parametrize(("options", "distance", "lag"), [
    ("stages=4", 2, 1),
    ("stages=4,in-flight=1", 2, 1),
    ("stages=4,in-flight=0", 3, 0),
    ("stages=3,in-flight=0", 2, 0),
])  # fmt: skip
def test_a_schedule_can_be_forced(options: str, distance: int, lag: int) -> None:
    module = scheduled(matmul(128, 128, 64), schedule=options)
    assert schedule_of(module) == ScheduleAttr(distance + lag + 1, distance, lag)


@pytest.mark.parametrize(("rows", "occupancy", "options", "distance", "lag"), [
    (128, 1, "stages=3", 1, 1),
    (128, 2, "stages=3", 2, 0),
    (128, 2, "stages=3,in-flight=1", 1, 1),
    (64, 1, "stages=3", 2, 0),
    (64, 1, "stages=3,in-flight=1", 1, 1),
    (64, 1, "stages=4", 3, 0),
])  # fmt: skip
def test_stages_are_for_copies_where_blocks_share_an_sm(
    rows: int, occupancy: int, options: str, distance: int, lag: int
) -> None:
    """A block of 64 rows leaves registers and memory to others, one of 128 if that is asked for.

    Three stages of 128 rows and columns take 96 KiB, and accumulators 64 registers of a thread.
    """
    program = matmul(rows, rows, 64, occupancy=occupancy)
    module = scheduled(program, schedule=f"{options},agents=0")
    assert schedule_of(module) == ScheduleAttr(distance + lag + 1, distance, lag)


def test_dots_cannot_be_forced_to_overlap() -> None:
    module = scheduled(matmul(128, 128, 64, is_read=True), schedule="in-flight=1")
    assert dots_in_flight(module) == 0


@pytest.mark.parametrize(("k", "schedule"), [(16, ScheduleAttr(6, distance=5)), (128, None)])
def test_capacity_of_gpus_with_48_kib(k: int, schedule: ScheduleAttr | None) -> None:
    """Six stages of 4 KiB fit, two of 32 KiB do not.

    Without wgmma the tiles are read as fragments, and no dot is in flight.
    """
    assert schedule_of(scheduled(matmul(64, 64, k), "sm_80")) == schedule


NESTED = """
  cuda_tile.module @m {
    entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f16>>, %n: tile<i32>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %none = constant <f32: 0.0> : tile<128x256xf32>
      %p16 = assume div_by<16>, %p : tile<ptr<f16>>
      %pt = make_tensor_view %p16, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
      %q16 = assume div_by<16>, %q : tile<ptr<f16>>
      %qt = make_tensor_view %q16, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
      %r16 = assume div_by<16>, %r : tile<ptr<f16>>
      %rt = make_tensor_view %r16, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
      %pv = make_partition_view %pt : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
      %qv = make_partition_view %qt : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
      %rv = make_partition_view %rt : partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
      for %j in (%zero to %n, step %one) : tile<i32> {
        %x, %t0 = load_view_tko weak %rv[%zero, %j] : partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x256xf16>, token
        %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %none) -> (tile<128x256xf32>) {
          %a, %t1 = load_view_tko weak %pv[%zero, %i] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
          %b, %t2 = load_view_tko weak %qv[%i, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
          %d = mmaf %a, %b, %c : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
          continue %d : tile<128x256xf32>
        }
        %y = ftof %sum : tile<128x256xf32> -> tile<128x256xf16>
        %z = addf %x, %y : tile<128x256xf16>
        %t3 = store_view_tko weak %z, %rv[%one, %j] : tile<128x256xf16>, partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
        continue
      }
      return
    }
  }"""  # noqa: E501
"""A GEMM loop inside of a loop that loads a tile of 64 KiB."""


def test_pipelines_of_nested_loops_fit_together() -> None:
    """The inner one has 192 KiB, so that the outer one has none: 227 KiB are all there is."""
    module = scheduled(NESTED, schedule="agents=0")
    schedules = [op.attributes.get(SCHEDULE) for op in module.walk() if isinstance(op, ForOp)]
    assert schedules == [None, ScheduleAttr(4, distance=2, lag=1)]


@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 128), (128, 256, 128), (64, 256, 256)])
def test_tiles_that_the_loop_stores_to_shared_memory_count(m: int, n: int, k: int) -> None:
    """N-major B of fp8 is transposed by threads: B is in memory once more, beside the stages."""
    schedule = schedule_of(scheduled(matmul(m, n, k, element="f8E4M3FN")))
    assert schedule is not None
    assert 1024 + n * k + schedule.stages * (m * k + n * k) <= 227 * 1024


ASYNC: Final = CopyEngine.CP_ASYNC
HELD: Final = CopyEngine.REGISTERS


@pytest.mark.parametrize(("divisor", "engine"), [(16, ASYNC), (8, ASYNC), (2, ASYNC), (1, HELD)])
def test_cp_async_copies_four_bytes_at_least(divisor: int, engine: CopyEngine) -> None:
    """Rows that begin at multiples of an element, 2 bytes, are loaded one element at a time."""
    assert engines(scheduled(matmul(64, 64, 32, divisor=divisor))) == [engine, engine]


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("padding", ["nan", "neg_zero", "pos_inf", "neg_inf"])
def test_other_padding_passes_through_registers(padding: str, arch: str) -> None:
    left = scheduled(matmul(64, 64, 32, paddings=(padding, "zero")), arch)
    right = scheduled(matmul(64, 64, 32, paddings=("zero", padding)), arch)
    assert (engines(left), engines(right)) == ([HELD, ASYNC], [ASYNC, HELD])


def test_tiles_that_pass_through_registers_have_three_stages() -> None:
    """An iteration hides the latency of the loads. With a dot in flight there are three, too."""
    module = scheduled(matmul(64, 64, 32, divisor=1), schedule="in-flight=1")
    assert schedule_of(module) == ScheduleAttr(3, distance=1, lag=1)
    assert schedule_of(scheduled(matmul(64, 64, 32, divisor=1), "sm_80")) == ScheduleAttr(3, 2)
    assert dots_in_flight(module) == 1


def test_stages_can_be_forced_for_them() -> None:
    module = scheduled(matmul(64, 64, 32, divisor=1), schedule="stages=5")
    assert schedule_of(module) == ScheduleAttr(5, distance=4)


def test_with_a_tile_that_is_copied_there_are_six_stages() -> None:
    module = scheduled(matmul(64, 64, 32, paddings=("nan", "zero")))
    assert schedule_of(module) == ScheduleAttr(6, distance=5)


@pytest.mark.parametrize(("m", "n", "k", "expected"), [
    (64, 64, 64, [HELD, HELD]),  # 16 registers each
    (64, 128, 64, [HELD, None]),  # 16 and 32
    (128, 64, 64, [HELD, None]),  # 32 and 16
    (128, 64, 128, [None, HELD]),  # 64 and 32
    (128, 128, 64, [HELD, HELD]),  # 16 each, of 256 threads
])  # fmt: skip
def test_a_thread_holds_32_registers(
    m: int, n: int, k: int, expected: list[CopyEngine | None]
) -> None:
    """Of 128 threads each holds M K / 256 registers of A, and N K / 256 of B."""
    module = scheduled(matmul(m, n, k, divisor=1))
    assert engines(module) == expected
    # A dot that reads a tile of its own iteration is complete at its end.
    assert dots_in_flight(module) == int(None not in expected)


def test_copied_tiles_do_not_count() -> None:
    """A has 32 registers; B, with as many, is copied."""
    assert engines(scheduled(matmul(128, 128, 64, paddings=("nan", "zero")))) == [HELD, ASYNC]


def test_tiles_that_no_dot_reads_are_loaded_directly() -> None:
    """Copies to shared memory and back through registers would gain nothing.

    `prefetch-loads` loads one before the loop, and one of the next iteration in it.
    """
    module = scheduled(copy_loop(padding="padding_value = nan, "))
    assert (schedule_of(module), engines(module)) == (None, [None, None])


def test_one_of_the_threads_with_the_same_elements_copies_them() -> None:
    """B has 64 elements, and each is one of two of 128 threads."""
    loads = [op for op in scheduled(matmul(64, 8, 8, element="f32")).walk()
             if isinstance(op, TiledLoadOp)]  # fmt: skip
    assert [engine_of(load) for load in loads[:2]] == [ASYNC, ASYNC]


def test_registers_can_be_stored_to_any_placement() -> None:
    """Threads have pairs of B: cp.async could not copy these to where wgmma reads B."""
    padded = scheduled(matmul(64, 8, 32, paddings=("zero", "nan")))
    assert (engines(padded), dots_in_flight(padded)) == ([ASYNC, HELD], 1)


def test_a_cache_hint_passes_through_registers() -> None:
    """cp.async has hints of its own."""
    module = lowered_as_far_as("move-conversions", matmul(64, 64, 32), "sm_90")
    load = next(op for op in module.walk() if isinstance(op, TiledLoadOp))
    load.cache = CacheModifier.CG
    parse_pipeline("schedule-loops").run(module)
    assert engines(module) == [HELD, ASYNC]


def packed_matmul(columns: int) -> str:
    """A dot with two tiles of B from one: the low and the high 4 bits of 32 rows."""
    a = "partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>"
    b = (
        f"partition_view<tile=(32x{columns}), padding_value = zero, "
        "tensor_view<?x?xi8, strides=[?,1]>>"
    )
    packed, wide, c = (
        f"tile<32x{columns}xi8>",
        f"tile<32x{columns}xf16>",
        f"tile<128x{columns}xf32>",
    )
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<i8>>, %r: tile<ptr<f32>>, %n0: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %two = constant <i32: 2> : tile<i32>
          %none = constant <f32: 0.0> : {c}
          %low = constant <i8: 15> : {packed}
          %p16 = assume div_by<16>, %p : tile<ptr<f16>>
          %q16 = assume div_by<16>, %q : tile<ptr<i8>>
          %n = assume div_by<16>, %n0 : tile<i32>
          %pt = make_tensor_view %p16, shape = [%n, %n], strides = [%n, 1]
              : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
          %qt = make_tensor_view %q16, shape = [%n, %n], strides = [%n, 1]
              : tile<i32> -> tensor_view<?x?xi8, strides=[?,1]>
          %pv = make_partition_view %pt : {a}
          %qv = make_partition_view %qt : {b}
          %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %none) -> ({c}) {{
            %j = muli %i, %two : tile<i32>
            %j1 = addi %j, %one : tile<i32>
            %a, %t1 = load_view_tko weak %pv[%zero, %j] : {a}, tile<i32> -> tile<128x32xf16>, token
            %a1, %t2 = load_view_tko weak %pv[%zero, %j1] : {a}, tile<i32> -> tile<128x32xf16>, token
            %b, %t3 = load_view_tko weak %qv[%i, %zero] : {b}, tile<i32> -> {packed}, token
            %b0 = andi %b, %low : {packed}
            %b1 = shri %b, %low unsigned : {packed}
            %x = itof %b0 signed : {packed} -> {wide}
            %y = itof %b1 signed : {packed} -> {wide}
            %d = mmaf %a, %x, %c : tile<128x32xf16>, {wide}, {c}
            %e = mmaf %a1, %y, %d : tile<128x32xf16>, {wide}, {c}
            continue %e : {c}
          }}
          %rt = make_tensor_view %r, shape = [128, {columns}], strides = [{columns}, 1]
              : tensor_view<128x{columns}xf32, strides=[{columns},1]>
          %rv = make_partition_view %rt
              : partition_view<tile=(128x{columns}), tensor_view<128x{columns}xf32, strides=[{columns},1]>>
          %t = store_view_tko weak %sum, %rv[%zero, %zero] : {c},
              partition_view<tile=(128x{columns}), tensor_view<128x{columns}xf32, strides=[{columns},1]>>, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501


def test_a_packed_tile_of_four_registers_is_copied() -> None:
    """32 x 128 bytes are 4 registers of each of 256 threads."""
    module = scheduled(packed_matmul(128), schedule="agents=0")
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    (packed,) = (load for load in loads if element_of(load.tile.type) is I8)
    assert packed.attributes.get(ENGINE) is CopyEngine.CP_ASYNC


def computed(program: str) -> str:
    """A program whose dot reads squares of B, which threads store to shared memory."""
    (dot,) = (line for line in program.splitlines() if "mmaf" in line)
    name = re.search(r"mmaf %\w+, (%\w+)", dot)
    type = re.search(r", (tile<\w+xf16>)", dot)
    assert name is not None
    assert type is not None
    square = f"%square = mulf {name[1]}, {name[1]} : {type[1]}"
    return program.replace(dot, f"{square}\n{dot.replace(f', {name[1]}', ', %square')}")


def test_two_blocks_share_an_sm_where_threads_compute_operands() -> None:
    """Three stages of 32 KiB; one for six would multiply only while no operand is computed."""
    gemm = (Path(__file__).parents[4] / "examples" / "gemm.mlir").read_text()
    module = scheduled(computed(gemm), schedule="agents=0")
    assert schedule_of(module) == ScheduleAttr(3, distance=2)
    assert blocks_of(module) == 2


@pytest.mark.parametrize("program", [
    computed(matmul(128, 128, 64, is_read=True)),  # two accumulators
    computed(matmul(128, 256, 64)),  # 128 registers of a thread for one
], ids=["two", "wide"])  # fmt: skip
def test_one_block_has_an_sm_whose_registers_two_would_exceed(program: str) -> None:
    assert blocks_of(scheduled(program, schedule="agents=0")) is None


def blocks_of(module: Operation) -> int | None:
    """How many blocks are to share an SM."""
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert function.kernel_spec is not None
    return function.kernel_spec.occupancy
