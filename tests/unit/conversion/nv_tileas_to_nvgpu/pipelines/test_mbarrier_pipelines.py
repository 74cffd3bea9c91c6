"""Tests of pipelines with mbarriers: arrivals, proxy fences, releases that lag."""

from __future__ import annotations

import pytest
from dialect_text import read
from each_case import each_case

from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify

ROW = (
    "#nv_tileas.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>"
)
PIPE = "nv_tileas.async.pipeline"
WRITE = f"{PIPE}.producer_write %p, %s, %row : !ring, tensor<128xf32, {ROW}>"
COPY = f"{PIPE}.producer_copy %p, %s, %x : !ring, !nv_tileaa.ptr<f32>"
TILE = (
    f"{PIPE}.producer_copy %p, %s, %v[%c0] {{tile = tensor<128xf32, {ROW}>, vector = 2 : i32}}"
    " : !ring, !tiles, i32"
)


def lowered(produce: str, gpu: int, release: str = "") -> Operation:
    """Lower a kernel in which two warps produce and four consume, in three stages."""
    target = f"#nv_tileaa.target_spec<compute_capability = {gpu}>"
    module = read(f"""
    !memory = !nv_tileaa.memref<1024xf32, strides = [1]>
    !tiles = !nv_tileaa.tiled_view<tile = [128], source = !memory>
    !ring = !nv_tileas.pipeline<3, [tensor<128xf32>]>
    !iterator = !nv_tileas.pipeline_iterator<3>
    gpu.module @kernels attributes {{nv_tileaa.target_spec = {target}}} {{
      nv_tileaa.func @f(%x: !nv_tileaa.ptr<f32>, %y: f32)
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 6>}} {{
        %c0 = arith.constant 0 : i32
        %m = nv_tileaa.make_memref %x : !nv_tileaa.ptr<f32> -> !memory
        %v = nv_tileaa.block_tile %m : !tiles
        %p = {PIPE}.create_pipeline : !ring
        {PIPE}.agent_switch attributes {{first = 0 : i32, warps = 2 : i32}} {{
          %row = nv_tileas.splat %y : f32 -> tensor<128xf32, {ROW}>
          %i = {PIPE}.create_iterator %p : !ring -> !iterator
          %s = {PIPE}.producer_acquire %p[%i] : !ring, !iterator
          {produce}
          {PIPE}.producer_commit %p, %s : !ring
          {PIPE}.yield
        }}
        {PIPE}.agent_switch attributes {{first = 2 : i32, warps = 4 : i32}} {{
          %i = {PIPE}.create_iterator %p : !ring -> !iterator
          %s = {PIPE}.consumer_wait %p[%i] : !ring, !iterator
          {PIPE}.consumer_release %p, %s {release} : !ring
          {PIPE}.yield
        }}
        nv_tileaa.return
      }}
    }}""")
    verify(module)
    parse_pipeline("allocate,synchronize,materialize-async,convert-tileas-to-nvgpu").run(module)
    verify(module)
    return module


def named(module: Operation, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == name]


def arrival_counts(module: Operation) -> list[int]:
    """Return the arrival count of each mbarrier."""
    counts = [op.operands[1].defining_op() for op in named(module, "nvgpu.mbarrier.init")]
    return [op.attributes["value"].value for op in counts]  # pyrefly: ignore[missing-attribute]


@each_case(
    ("produce", "gpu", "full"),
    [
        (WRITE, 90, 2),
        (WRITE, 80, 2),
        # One thread copies in bulk.
        (COPY, 90, 2),
        # Each of the 64 threads arrives when its copies are complete, and each warp.
        (COPY, 80, 66),
        (TILE, 90, 66),
        (TILE, 80, 66),
    ],
)
def test_warps_arrive_and_copies_of_threads(produce: str, gpu: int, full: int) -> None:
    module = lowered(produce, gpu)
    assert arrival_counts(module) == [full] * 3 + [4] * 3
    on_copies = named(module, "cute_nvgpu.mbarrier.arrive_on_copies")
    assert len(on_copies) == (full == 66)


@pytest.mark.parametrize(("gpu", "elected"), [(90, "cute_nvgpu.elect_one"), (80, "arith.cmpi")])
def test_one_lane_of_a_warp_arrives_after_all_lanes(gpu: int, elected: str) -> None:
    """By `elect.sync`, before sm_90 lane 0; in both agents."""
    module = lowered(WRITE, gpu)
    names = ("llvm.store", "cute_nvgpu.warp_sync", "nvgpu.mbarrier.arrive")
    assert [op.name for op in module.walk() if op.name in names] == [*names, *names[1:]]
    for arrival in named(module, names[2]):
        branch = arrival.parent_op
        assert branch is not None
        assert branch.name == "scf.if"
        condition = branch.operands[0].defining_op()
        assert condition is not None
        assert condition.name == elected


@each_case(
    ("produce", "gpu", "fences"),
    [(COPY, 90, 0), (f"{WRITE}\n{COPY}", 90, 1), (WRITE, 90, 0), (f"{WRITE}\n{COPY}", 80, 0)],
)
def test_a_fence_precedes_bulk_copies_over_stores_only(produce: str, gpu: int, fences: int) -> None:
    module = lowered(produce, gpu)
    assert len(named(module, "cute_nvgpu.fence.proxy_async")) == fences


def test_a_release_that_lags_arrives_only_if_there_is_an_earlier_stage() -> None:
    module = lowered(WRITE, 90, "{lag = 2 : i32}")
    branch = named(module, "nvgpu.mbarrier.arrive")[-1].parent_op
    assert branch is not None
    condition = branch.operands[0].defining_op()
    assert condition is not None
    parts = [value.defining_op() for value in condition.operands]
    # The stage is 2 or later, or the iterator has wrapped around.
    names = [op.name for op in parts if op is not None]
    assert names == ["cute_nvgpu.elect_one", "arith.ori"]
