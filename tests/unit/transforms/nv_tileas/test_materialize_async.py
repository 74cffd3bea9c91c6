"""Tests of the mbarriers that tokens of asynchronous copies are lowered to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileas.types import ASYNC_TOKEN
from tilewright.driver.compile import compile
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text

BUFFER = "!nv_tileas.buffer<shared, 40, 64xf32>"
TOKEN = "!nv_tileaa.mem_token"
ROW = (
    "#nv_tileas.layout<[64], register = [[1]], "
    "lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]>"
)
TARGET = "nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = {}>"
HEAD = f"""gpu.module @kernels attributes {{{{{TARGET}}}}} {{{{
  nv_tileaa.func @f(%x: !nv_tileaa.ptr<f32>)
      attributes {{{{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}}}} {{{{
    %s = arith.constant 0 : i32
    %buffer = nv_tileas.alloc_tensor : {BUFFER}
"""
CREATE = f"%{{}} = nv_tileaa.create_mem_token {{{{producers = {{}} : i32}}}} : {TOKEN}\n"
COPY = (
    f"%{{}} = nv_tileas.async.copy %x, %buffer[%s] token = %{{}} "
    f": !nv_tileaa.ptr<f32>, {BUFFER}, {TOKEN}\n"
)
READ = (
    f"%v{{0}}, %{{0}} = nv_tileas.read_buffer %buffer[%s] token = %{{1}} : {TOKEN} "
    f": {BUFFER} -> tensor<64xf32, {ROW}>\n"
)
PASSES = "allocate", "synchronize", "materialize-async", "convert-tileas-to-nvgpu"


def program(body: str, gpu: int = 90) -> Operation:
    module = parse_text(f"{HEAD.format(gpu)}{body}    nv_tileaa.return\n  }}\n}}\n", context())
    verify(module)
    return module


def lowered(body: str, gpu: int = 90, passes: tuple[str, ...] = PASSES) -> Operation:
    module = program(body, gpu)
    parse_pipeline(",".join(passes)).run(module)
    verify(module)
    return module


def named(module: Operation, *names: str) -> list[Operation]:
    return [op for op in module.walk() if op.name in names]


def init_counts(module: Operation) -> list[int]:
    """Return the arrival count of each barrier."""
    counts = [op.operands[1].defining_op() for op in named(module, "nvgpu.mbarrier.init")]
    return [op.attributes["value"].value for op in counts]  # pyrefly: ignore[missing-attribute]


def last_number(ptx: str, line: str, index: int) -> int:
    """Return an operand of an instruction as a number, or the number moved to its register."""
    operand = line.rstrip(";").split(",")[index].strip()
    moved = re.search(rf"mov\.\w+ \t{re.escape(operand)}, (\d+);", ptx)
    return int(operand if moved is None else moved[1])


@pytest.mark.requirement("R2-046", "R2-053")
@pytest.mark.parametrize("producers", [1, 4])
def test_a_creation_is_a_barrier_for_its_producers(producers: int) -> None:
    body = CREATE.format("t", producers)
    body += "".join(COPY.format(f"c{n}", "t") for n in range(producers))
    module = lowered(body)
    assert init_counts(module) == [producers]
    # Before sm_90 all 128 threads of a copy arrive.
    assert init_counts(lowered(body, 80)) == [producers * 128]
    created = named(lowered(body, passes=PASSES[:-1]), "nv_tileas.async.create_token")
    assert [op.attributes["slot"].value for op in created] == [0]  # pyrefly: ignore[missing-attribute]


@pytest.mark.requirement("R2-046")
@pytest.mark.parametrize(("gpu", "arrivals"), [("sm_90", 1), ("sm_80", 128)])
def test_the_barrier_in_ptx(gpu: str, arrivals: int) -> None:
    """Initialized once, before a CTA barrier; waiting for phase 0 tests parity 0."""
    body = CREATE.format("t", 1) + COPY.format("c", "t")
    ptx = compile(program(body, int(gpu[3:])), gpu, emit="ptx").ptx
    lines = [line.strip() for line in ptx.splitlines()]
    (init,) = [n for n, line in enumerate(lines) if line.startswith("mbarrier.init")]
    assert last_number(ptx, lines[init], 1) == arrivals
    (start,) = [
        n for n, line in enumerate(lines) if line.startswith(("cp.async.bulk.", "cp.async.cg"))
    ]
    assert any(line.startswith("bar") for line in lines[init:start])
    (wait,) = [line for line in lines if "_wait.parity" in line]
    assert last_number(ptx, wait, 2) == 0


@pytest.mark.requirement("R2-047", "R2-054")
def test_a_join_waits_for_each_token() -> None:
    """Three copies, three barriers; no thread waits again after the join."""
    body = "".join(CREATE.format(f"t{n}", 1) + COPY.format(f"c{n}", f"t{n}") for n in range(3))
    body += f"%j = nv_tileaa.join_mem_token [%c0, %c1, %c2] : {TOKEN}\n"
    body += READ.format("r", "j") + READ.format("q", "j")
    module = lowered(body)
    waits = named(module, "nvgpu.mbarrier.try_wait.parity")
    # Without a result it spins until the phase is over.
    assert [len(op.results) for op in waits] == [0, 0, 0]
    # The read follows all of them.
    order = [op.name for op in module.walk()]
    last = max(n for n, name in enumerate(order) if name.endswith("try_wait.parity"))
    assert order.index("llvm.load") > last
    ptx = compile(program(body), "sm_90", emit="ptx").ptx
    assert ptx.count("mbarrier.try_wait.parity") == 3


@pytest.mark.requirement("R2-048")
def test_a_copy_waits_for_its_token_and_flips_the_phase() -> None:
    body = CREATE.format("t", 1) + COPY.format("a", "t") + COPY.format("b", "a")
    names = ("nvgpu.mbarrier.try_wait.parity", "cute_nvgpu.bulk.load", "arith.xori")
    module = lowered(body)
    # The first has nothing to wait for; the last wait is for a phase without readers.
    assert [op.name for op in named(module, *names)] == [
        "cute_nvgpu.bulk.load", "arith.xori",
        "nvgpu.mbarrier.try_wait.parity", "cute_nvgpu.bulk.load", "arith.xori",
        "nvgpu.mbarrier.try_wait.parity",
    ]  # fmt: skip
    first, second = named(module, "arith.xori")
    assert second.operands[0] is first.results[0]
    assert len(named(module, "nvgpu.mbarrier.init")) == 1


@pytest.mark.requirement("R0-035")
def test_tokens_are_integers_below_nv_tileas_only() -> None:
    body = CREATE.format("t", 1) + COPY.format("a", "t") + READ.format("r", "a")
    above = program(body)
    copied = named(above, "nv_tileas.async.copy")[0].results[0]
    assert copied.type is MEM_TOKEN
    parse_pipeline(",".join(PASSES[:-1])).run(above)
    assert named(above, "nv_tileas.async.copy")[0].results[0].type is ASYNC_TOKEN
    below = lowered(body)
    assert not any("token" in str(result.type) for op in below.walk() for result in op.results)
    (flipped,) = named(below, "arith.xori")
    assert str(flipped.results[0].type) == "i32"


@pytest.mark.requirement("R2-057")
def test_a_created_token_is_the_index_of_its_barrier() -> None:
    """Two tokens that live at once: the i32 that a copy's phase starts from is the slot."""
    body = "".join(CREATE.format(f"t{n}", 1) + COPY.format(f"c{n}", f"t{n}") for n in range(2))
    body += READ.format("r", "c0") + READ.format("q", "c1")
    below = lowered(body)
    assert not [op for op in below.walk() if any(r.type is MEM_TOKEN for r in op.results)]
    handles = [op.operands[0].defining_op() for op in named(below, "arith.xori")]
    slots = [op.attributes["value"].value for op in handles]  # pyrefly: ignore[missing-attribute]
    barriers = [op.operands[2].defining_op() for op in named(below, "nvgpu.mbarrier.init")]
    assert slots == [0, 1]
    assert [str(op.results[0].type) for op in handles if op is not None] == ["i32", "i32"]
    assert [op.attributes["value"].value for op in barriers] == slots  # pyrefly: ignore[missing-attribute]


@pytest.mark.requirement("R3-075")
def test_a_barrier_is_invalidated_before_its_slot_is_used_again() -> None:
    """By NVVM's operation: nvgpu has none."""
    body = "".join(
        CREATE.format(f"t{n}", 1) + COPY.format(f"c{n}", f"t{n}") + READ.format(f"r{n}", f"c{n}")
        for n in range(2)
    )
    assert "nvgpu.mbarrier.inval" not in context().dialect("nvgpu").ops  # pyrefly: ignore[missing-attribute]
    last = lowered(body, passes=(*PASSES, "convert-gpu-nvgpu-to-nvvm"))
    names = ("nvvm.mbarrier.init.shared", "nvvm.mbarrier.inval.shared")
    # The slot is initialized at the start, and again for each of the two.
    assert [op.name.split(".")[2] for op in named(last, *names)] == [
        "init", "inval", "init", "inval", "init", "inval",
    ]  # fmt: skip


@pytest.mark.requirement("R3-075")
def test_barriers_are_invalidated_at_the_exit_of_the_cta() -> None:
    """By one thread, after a barrier of the CTA that follows the last wait."""
    body = CREATE.format("t", 1) + CREATE.format("u", 1) + COPY.format("c", "t")
    body += COPY.format("d", "u") + READ.format("r", "c") + READ.format("q", "d")
    events = ("init.shared", "try_wait.parity.shared", "inval.shared")
    names = [f"nvvm.mbarrier.{event}" for event in events]
    last = lowered(body, passes=(*PASSES, "convert-gpu-nvgpu-to-nvvm"))
    order = [op.name for op in named(last, *names, "nvvm.bar.sync.aligned")]
    assert order[-3:] == ["nvvm.bar.sync.aligned", names[2], names[2]]
    assert order.count(names[0]) == order.count(names[2]) == 2
    assert names[1] in order[:-3]
    first, second = (op.operands[0] for op in named(last, names[2]))
    assert first is not second
    guards = {op.parent for op in named(last, names[2])}
    assert len(guards) == 1


@pytest.mark.requirement("R3-075")
def test_kernels_with_agents_invalidate_every_barrier_of_their_pipelines() -> None:
    gemm = Path(__file__).parents[4] / "examples" / "gemm.mlir"
    text = compile(gemm, emit="ptx", schedule="agents=1").ptx
    barriers = {
        event: sorted(re.findall(rf"mbarrier\.{event}\.shared\.b64 \t\[%?\w+\+?(\d*)\]", text))
        for event in ("init", "inval")
    }
    assert len(barriers["init"]) == 12
    assert barriers["init"] == barriers["inval"]
    # The producer has waited for each of the stages that it has filled.
    end = text[text.rindex("mbarrier.arrive.expect_tx") : text.index("mbarrier.inval")]
    assert end.count("mbarrier.try_wait") == 6
    assert "bar.sync" not in end


def test_tokens_of_threads_take_no_barrier() -> None:
    body = CREATE.format("t", 1) + READ.format("r", "t")
    assert not named(lowered(body), "nvgpu.mbarrier.create", "nvgpu.mbarrier.init")


def test_a_copy_after_a_reader_waits_for_all_threads() -> None:
    body = CREATE.format("t", 1) + COPY.format("a", "t") + READ.format("r", "a")
    body += COPY.format("b", "r")
    ordered = [
        op.name
        for op in lowered(body, passes=PASSES[:-1]).walk()
        if op.name.startswith("nv_tileas.") and op.name != "nv_tileas.alloc_tensor"
    ]
    assert ordered == [
        "nv_tileas.async.create_token", "nv_tileas.async.copy", "nv_tileas.async.wait",
        "nv_tileas.read_buffer", "nv_tileas.barrier", "nv_tileas.async.copy",
        "nv_tileas.async.wait",
    ]  # fmt: skip


def test_tokens_that_are_over_leave_their_slot_to_others() -> None:
    body = "".join(
        CREATE.format(f"t{n}", 1) + COPY.format(f"c{n}", f"t{n}") + READ.format(f"r{n}", f"c{n}")
        for n in range(40)
    )
    created = named(lowered(body, passes=PASSES[:-1]), "nv_tileas.async.create_token")
    assert {op.attributes["slot"].value for op in created} == {0}  # pyrefly: ignore[missing-attribute]
    assert all("again" in op.attributes for op in created)
    assert len(named(lowered(body), "cute_nvgpu.mbarrier.invalidate")) == 40 + 1


def problem(body: str) -> str:
    with pytest.raises(UserError) as caught:
        lowered(body)
    return caught.value.diagnostics[0].message


def live_copies(count: int) -> str:
    """Copies whose tokens are all live at their join."""
    body = "".join(CREATE.format(f"t{n}", 1) + COPY.format(f"c{n}", f"t{n}") for n in range(count))
    joined = ", ".join(f"%c{n}" for n in range(count))
    return f"{body}%j = nv_tileaa.join_mem_token [{joined}] : {TOKEN}\n" + READ.format("r", "j")


def test_tokens_have_32_barriers() -> None:
    assert len(named(lowered(live_copies(32)), "nvgpu.mbarrier.init")) == 32
    assert "at most 32 tokens at once" in problem(live_copies(33))


def ring(name: str, stages: int, element: str = "f32") -> str:
    type = f"!nv_tileas.pipeline<{stages}, [{element}]>"
    return f"%{name} = nv_tileas.async.pipeline.create_pipeline : {type}\n"


def test_pipelines_have_slots_beyond_those_of_tokens() -> None:
    """Two pipelines of 17 stages, and as many tokens as there can be."""
    body = ring("p", 17) + ring("q", 17) + live_copies(32)
    module = lowered(body, passes=PASSES[:-1])
    created = named(module, "nv_tileas.async.pipeline.create_pipeline")
    assert [op.attributes["slot"].value for op in created] == [32, 66]  # pyrefly: ignore[missing-attribute]
    (group,) = named(lowered(body), "nvgpu.mbarrier.create")
    assert "num_barriers = 100" in str(group.results[0].type)


def test_barriers_of_pipelines_fit_into_shared_memory() -> None:
    """Of 227 KiB, the buffer of 40 stages has 10 KiB; an mbarrier takes 8 bytes."""
    wanted = "expected at most 27776 mbarriers, two for each stage, which fit into shared memory"
    assert f"{wanted}, got 27778" in problem(ring("p", 13889, TOKEN))
    lowered(ring("p", 13888, TOKEN), passes=PASSES[:-1])


def test_every_producer_must_exist() -> None:
    assert "expected 2 copies that take the token" in problem(
        CREATE.format("t", 2) + COPY.format("a", "t")
    )


def test_buffers_fit_into_shared_memory() -> None:
    large = "%l = nv_tileas.alloc_tensor : !nv_tileas.buffer<shared, 64, 1024xf32>\n"
    assert "'@f' uses too much shared data (0x40000 bytes, 0x38c00 max)" in problem(large)
