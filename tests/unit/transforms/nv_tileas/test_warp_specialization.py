"""Whether a kernel can be warp-specialized, with how many stages, and whether it pays."""

from __future__ import annotations

import pytest
from attention_programs import Attention
from scheduled_loops import dots_in_flight, engines, lowered_as_far_as, matmul, scheduled
from specialized_programs import Gemm
from tma_store_programs import StoredGemm

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import Atom, CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Operation
from tilewright.schedule import shared_memory
from tilewright.transforms.nv_tileas import warp_specialization
from tilewright.transforms.nv_tileas.warp_specialization import Specialization


def function_of(module: Operation) -> FuncOp:
    """The only kernel of a module."""
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function


def specialization(
    program: str, stages: int = 0, *, arch: str = "sm_90", options: str = "agents=0"
) -> Specialization:
    """That of a kernel whose loops are scheduled without it."""
    return specialized(function_of(scheduled(program, arch, schedule=options)), stages)


def specialized(
    function: FuncOp, stages: int = 0, *, tma_stores: bool | None = False
) -> Specialization:
    """That of a function as it is now."""
    memory = shared_memory.SharedMemory(function)
    return Specialization(function, memory, stages, tma_stores=tma_stores)


def hinted(occupancy: int) -> str:
    """Hints that ask for some blocks on an SM."""
    return f"optimization_hints=<sm_90 = {{occupancy = {occupancy}}}>"


@pytest.mark.parametrize(("tile", "occupancy", "stages"), [
    ((64, 64, 64), 1, 6),  # 16 KiB in a stage
    ((128, 256, 64), 1, 4),  # 48 KiB, of 227
    ((64, 64, 64), 2, 6),  # a block has 113 KiB, of which the epilogue takes 8
    ((128, 64, 64), 2, 4),  # 24 KiB, and 16 for the epilogue
])  # fmt: skip
def test_stages_fit_beside_other_memory(
    tile: tuple[int, int, int], occupancy: int, stages: int
) -> None:
    chosen = specialization(Gemm(tile=tile, hints=hinted(occupancy)).persistent())
    assert (chosen.problem, chosen.stages) == (None, stages)


def test_at_least_three_stages_fit() -> None:
    """A stage of 96 KiB has A of 256x128 and B of 128x128."""
    text = Gemm(tile=(256, 128, 128)).persistent()
    options = "agents=0,k-parts=1"
    chosen = specialization(text, options=options)
    assert chosen.problem == "only 2 stages fit into shared memory"
    forced = specialization(text, stages=2, options=options)
    assert (forced.problem, forced.stages) == (None, 2)


@pytest.mark.parametrize(("wanted", "stages"), [(2, 2), (4, 4), (8, 8)])
def test_stages_can_be_forced(wanted: int, stages: int) -> None:
    assert specialization(Gemm().persistent(), wanted).stages == stages


def test_accumulators_fit_into_registers() -> None:
    """128 x 128 of 256 threads take 64, with 40 for anything else; consumers have 96 of 80 * 3."""
    chosen = specialization(Gemm(tile=(128, 128, 64), hints=hinted(2)).persistent())
    assert chosen.problem == "its accumulators take 64 of 96 registers"


def test_two_accumulators_of_16_bits_take_a_register() -> None:
    """128 x 128 of 256 threads take 32, also of one instruction: of 96, and of 80 at the launch."""
    gemm = Gemm(tile=(128, 128, 64), half=True, hints=hinted(2))
    assert specialization(gemm.persistent()).problem is None


def test_promoted_accumulators_take_temporary_ones() -> None:
    """128 x 64 of 128 threads take 64, and those of one instruction (64 x 64) take 32."""
    gemm = Gemm("f8E4M3FN", (128, 64, 64), k_major=True, hints=hinted(3))
    function = function_of(scheduled(gemm.persistent(), schedule="agents=0"))
    assert specialized(function).problem == "its accumulators take 96 of 120 registers"
    (dot,) = (op for op in function.walk() if isinstance(op, DotOp))
    dot.fast_acc = True
    assert specialized(function).problem is None


def two_loops(second: str) -> str:
    """A kernel with two loops over K."""
    gemm = Gemm()
    return gemm.program(f"""
    {gemm.k_loop("first", row="%zero")}
    {second}
    {gemm.store("%second", row="%zero")}""")


def test_loops_that_copy_the_same_tiles_share_a_pipeline() -> None:
    """Else each has its own, of as many stages: 8 KiB in one, 16 KiB in the other."""
    gemm, other = Gemm(), Gemm(tile=(64, 64, 64))
    same = gemm.k_loop("second", row="%one", start="%first")
    views = f"""%wide = make_partition_view %at : {other.view("a")}
    %high = make_partition_view %bt : {other.view("b")}"""
    loop = other.k_loop("second", row="%one", start="%first")
    different = loop.replace("%av", "%wide").replace("%bv", "%high")
    shared, own = (
        specialization(two_loops(same)),
        specialization(two_loops(f"{views}\n{different}")),
    )
    assert (shared.problem, len(shared.pipelines)) == (None, 1)
    assert (own.problem, len(own.pipelines), own.stages) == (None, 2, 6)


OTHER_DOTS = "a pipelined loop has no asynchronous dots, or others"


@pytest.mark.parametrize(("program", "arch", "problem"), [
    (Gemm(tile=(32, 32, 32)).persistent(), "sm_90", OTHER_DOTS),
    (Gemm().persistent(), "sm_80", OTHER_DOTS),
    (Gemm().program(""), "sm_90", "no loop is pipelined"),
    (
        matmul(64, 64, 32, paddings=("nan", "zero")), "sm_90",
        "TMA cannot copy a tile: expected zeros as padding, got 'nan'",
    ),
])  # fmt: skip
def test_problems(program: str, arch: str, problem: str) -> None:
    assert specialization(program, arch=arch).problem == problem


PERSISTENT = "blocks compute several tiles"
PROMOTED = "accumulators are promoted"
REGISTERS = "A passes through registers"


@pytest.mark.parametrize(("gemm", "persistent", "reason"), [
    (Gemm(tile=(128, 128, 64)), True, PERSISTENT),
    (Gemm(tile=(128, 128, 64)), False, None),
    (Gemm(tile=(64, 64, 64)), True, None),  # one warpgroup: nothing else would multiply meanwhile
    (Gemm("f8E4M3FN", (128, 128, 64), k_major=True), False, PROMOTED),
    (Gemm("f32", (128, 128, 32), precision="tf32"), False, REGISTERS),
    (Gemm("i8", (128, 128, 64), k_major=True), False, None),
])  # fmt: skip
def test_where_it_pays(gemm: Gemm, persistent: bool, reason: str | None) -> None:
    text = gemm.persistent() if persistent else gemm.one_shot()
    chosen = specialization(text, options="agents=0,stages=4")
    assert chosen.problem is None
    assert chosen.is_preferred == (reason is not None)
    tma = [CopyEngine.TMA] * 2
    assert (engines(scheduled(text))[:2] == tma) == (reason is not None)


def test_the_decision_replaces_that_of_single_loops() -> None:
    module = scheduled(Gemm(tile=(128, 128, 64)).persistent())
    schedules = [op.attributes.get(SCHEDULE) for op in module.walk() if isinstance(op, ForOp)]
    assert schedules == [None, ScheduleAttr(6, distance=6)]
    assert dots_in_flight(module) == 0


@pytest.mark.parametrize(("schedule", "agents"), [("", 0), ("agents=0", 0), ("agents=1", 2)])
def test_it_can_be_forced(schedule: str, agents: int) -> None:
    module = lowered_as_far_as("specialize-warps", Gemm().one_shot(), schedule=schedule)
    assert sum(isinstance(op, AgentSwitchOp) for op in module.walk()) == agents


@pytest.mark.parametrize(("tile", "warps"), [((64, 64, 32), 4), ((128, 128, 32), 8)])
def test_the_block_has_a_warpgroup_more(tile: tuple[int, int, int], warps: int) -> None:
    text = Gemm(tile=tile).persistent()
    module = lowered_as_far_as("specialize-warps", text, schedule="agents=1")
    spec = function_of(module).kernel_spec
    assert spec is not None
    assert spec.num_warps == warps + 4
    producer, consumer = (op for op in module.walk() if isinstance(op, AgentSwitchOp))
    assert (producer.first, producer.warps) == (warps, 1)
    assert (consumer.first, consumer.warps) == (0, warps)


def storing(tile: tuple[int, int, int], epilogue: str = "", output: str = "f16") -> Specialization:
    """That of a kernel that stores by TMA where it can."""
    stored = StoredGemm(Gemm(tile=tile), output)
    text = stored.persistent(f"{epilogue}{stored.converted()}\n{stored.store()}")
    module = scheduled(text, schedule="agents=0,k-parts=1")
    return specialized(function_of(module), tma_stores=True)


def summed(columns: int, rows: int) -> str:
    """A sum over rows, which warps exchange through shared memory."""
    c, row = f"tile<{rows}x{columns}xf32>", f"tile<{columns}xf32>"
    return f"""
      %row_sum = reduce %sum dim=0 identities=[0.0 : f32] : {c} -> {row}
      (%e: tile<f32>, %f: tile<f32>) {{
        %g = addf %e, %f : tile<f32>
        yield %g : tile<f32>
      }}
      %kept = store_view_tko weak %row_sum, %ev[%zero] : {row},
          partition_view<tile=({columns}), tensor_view<{columns}xf32, strides=[1]>>,
          tile<i32> -> token
      """


@pytest.mark.parametrize(("tile", "epilogue", "stages", "store_stages"), [
    ((128, 256, 64), "", 4, 2),  # 48 KiB in a stage, 16 KiB for a box of each warp
    # A second box of each warp would take a stage of the pipeline.
    ((128, 256, 64), summed(256, 128), 4, 1),
])  # fmt: skip
def test_stages_of_stores_take_what_is_left(
    tile: tuple[int, int, int], epilogue: str, stages: int, store_stages: int
) -> None:
    chosen = storing(tile, epilogue)
    assert chosen.problem is None
    assert chosen.stores is not None
    assert (chosen.stages, chosen.stores.stages) == (stages, store_stages)


def test_stores_are_left_to_threads_if_boxes_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside three stages of 64 KiB, 10 KiB are left; the boxes take 16."""
    monkeypatch.setattr(shared_memory, "BARRIER_RESERVE", 25 * 1024)
    chosen = storing((128, 128, 128), output="f32")
    assert (chosen.problem, chosen.stages) == (None, 3)
    assert chosen.stores is not None
    assert not chosen.stores.boxes
    assert list(chosen.stores.problems.values()) == ["its boxes do not fit into shared memory"]


@pytest.mark.parametrize(("attention", "stages", "pays"), [
    (Attention(rows=128, keys=128), 6, True),  # 16 KiB each in a stage of K and of V
    (Attention(rows=128, rotated=True), 6, True),  # 8 KiB each; dots in flight
    (Attention(keys=128, dim=128), 3, True),  # 32 KiB each; one warpgroup
    (Attention(dim=256), 2, True),  # 32 KiB each, 32 for Q; P passes through shared memory
])  # fmt: skip
def test_attention_has_a_pipeline_for_k_and_one_for_v(
    attention: Attention, stages: int, pays: bool
) -> None:
    chosen = specialization(attention.program, options="agents=0,rotate=0")
    assert (chosen.problem, len(chosen.pipelines), chosen.stages) == (None, 2, stages)
    assert chosen.is_preferred == pays


def test_each_of_several_pipelines_has_two_stages() -> None:
    """A stage of K and one of V take 64 KiB, of the 113 that a block has."""
    program = Attention(keys=128, dim=128, hints=hinted(2)).program
    chosen = specialization(program, options="agents=0,rotate=0")
    assert chosen.problem == "only 1 stages fit into shared memory"


def test_chained_dots_fit_into_registers() -> None:
    """A thread has 64 scores, half as many registers for P, and 64 of the output."""
    chosen = specialization(Attention(rows=128, hints=hinted(3)).program)
    assert chosen.problem == "its chained dots take 160 of 120 registers"


def copied(module: Operation) -> list[bool]:
    """Whether each load of a kernel is copied by TMA."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    return [load.attributes.get(ENGINE) is CopyEngine.TMA for load in loads]


@pytest.mark.parametrize(
    ("persistent", "hints"), [(False, hinted(2)), (True, hinted(2)), (True, "")]
)
def test_k_and_v_share_a_pipeline_where_two_do_not_fit(persistent: bool, hints: str) -> None:
    """Beside Q, three tiles of 32 KiB; what is stored after the loops has the memory of Q."""
    attention = Attention(keys=128, dim=128, persistent=persistent, hints=hints)
    module = scheduled(attention.program, schedule="")
    assert copied(module) == [False] + [True] * 8
    loops = [op for op in module.walk() if isinstance(op, ForOp)]
    schedules = [op.attributes[SCHEDULE] for op in loops if SCHEDULE in op.attributes]
    assert schedules == [ScheduleAttr(3, 3)] * 2
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    assert {dot.atom for dot in dots} == {Atom.WGMMA}


def test_a_bias_has_a_pipeline_of_its_own() -> None:
    """Threads read it from there in the layout of the scores, also before the loops."""
    program = Attention(rows=128, dim=128, biased=True).program
    assert copied(scheduled(program)) == [False] + [True] * 12
    chosen = specialization(program)
    # Of K and V 16 KiB, and 32 of the bias, beside 32 of Q.
    assert (chosen.problem, len(chosen.pipelines), chosen.stages) == (None, 3, 3)


def test_tiles_that_share_a_pipeline_have_a_stage_more_than_are_in_use() -> None:
    """Two stages fit, of 32 KiB for K or V, and 64 for a bias; consumers use K and V at once."""
    attention = Attention(rows=128, keys=128, dim=128, biased=True, k_major=False, length=512)
    module = scheduled(attention.program, schedule="rotate=1")
    assert not any(copied(module))


def test_a_loop_without_memory_for_a_pipeline_stays_without_a_schedule() -> None:
    """By `cp.async`, K would be copied over a tile that a dot in flight reads."""
    program = Attention(keys=128, dim=128, hints=hinted(2)).program
    module = scheduled(program, schedule="agents=0,rotate=1")
    assert not any(SCHEDULE in op.attributes for op in module.walk())


def test_tiles_beside_a_loop_are_copied_if_they_fit_its_stages() -> None:
    """Not Q, which the loops use; then K before a loop, K and V in it, and V after it, twice."""
    module = scheduled(Attention(rotated=True).program, schedule="agents=1")
    assert copied(module) == [False] + [True] * 8


A, B = "tile<64x32xf16>", "tile<32x64xf16>"


@pytest.mark.parametrize(("operands", "is_copied"), [
    ("%x, %y", True),
    ("%x, %x2", False),  # a stage would have A alone
    ("%z, %y", False),  # threads read A
])  # fmt: skip
def test_tiles_after_a_loop(operands: str, is_copied: bool) -> None:
    """A dot after the loop over K, of which A and B have stages as those of the loop."""
    gemm = Gemm()
    module = scheduled(gemm.program(f"""
    {gemm.k_loop(row="%zero")}
    %x, %tx = load_view_tko weak %av[%zero, %m] : {gemm.view("a")}, tile<i32> -> {A}, token
    %y, %ty = load_view_tko weak %bv[%m, %zero] : {gemm.view("b")}, tile<i32> -> {B}, token
    %x2 = reshape %x : {A} -> {B}
    %z = addf %x, %x : {A}
    %d = mmaf {operands}, %sum : {A}, {B}, {gemm.c}
    {gemm.store("%d", row="%zero")}"""), schedule="agents=1")  # fmt: skip
    assert copied(module)[:2] == [True, True]
    assert set(copied(module)[2:]) == {is_copied}


def test_there_are_not_too_many_tensor_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warp_specialization, "MAX_MAPS", 1)
    chosen = specialization(Gemm().persistent())
    assert chosen.problem == "there are more than 1 tensor maps"


def test_stages_are_beside_barriers_and_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two maps and the barriers of a pipeline take less than is kept free anyway: 384 bytes."""
    wide = Gemm(tile=(128, 256, 64)).persistent()
    assert specialization(wide).stages == 4
    monkeypatch.setattr(shared_memory, "MAP_BYTES", 20 * 1024)
    assert specialization(wide).stages == 3


def test_forced_stages_that_are_in_use_at_once() -> None:
    """K and V have one type, and a dot that reads K is in flight while V is waited for."""
    module = scheduled(Attention(k_major=False, rotated=True).program, schedule="agents=0")
    for loop in [op for op in module.walk() if isinstance(op, ForOp)]:
        scores, output = [op for op in loop.body.block if isinstance(op, DotOp)]
        scores.asynchronous = True
        build = Builder(InsertPoint.after(output), output.location)
        build.create(DotWaitOp, accumulator=scores.result, pending=0)
    chosen = [specialized(function_of(module), stages) for stages in (1, 2)]
    assert [each.problem for each in chosen] == ["2 stages are in use at once", None]
