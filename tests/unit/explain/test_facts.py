"""Facts of reports on a GEMM, an attention and a layer norm, against values computed by hand."""

from __future__ import annotations

import pytest
from explained import (
    ADD,
    ATTENTION,
    GEMM,
    LAYER_NORM,
    SOFTMAX,
    explained,
    kernel_of,
    level_of,
    source_lines,
)

import tilewright
from tilewright.explain.report import Allocation, Bound, Layout, Timeline
from tilewright.explain.shared_map import completed_map


def at(layout: Layout, **indices: int) -> tuple[int, ...]:
    """The coordinates of an element, from the numbers that each bit contributes."""
    number = 0
    for name, vectors in layout.inputs:
        for bit, vector in enumerate(vectors):
            number ^= vector if indices.get(name, 0) >> bit & 1 else 0
    coordinates: list[int] = []
    for extent in reversed(layout.shape):
        coordinates.append(number % extent)
        number //= extent
    return tuple(reversed(coordinates))


def test_resources_are_those_of_a_compilation() -> None:
    kernel = kernel_of(explained(GEMM), "gemm")
    entry = tilewright.compile(GEMM, "sm_90").entries["gemm"].resources
    assert kernel.resources is not None
    assert kernel.occupancy is not None
    used = kernel.resources
    assert (used.registers, used.shared, tuple(used.threads)) == (
        entry.registers, entry.shared, entry.threads,
    )  # fmt: skip
    assert kernel.occupancy.ctas == entry.occupancy


def test_pipeline_of_a_gemm() -> None:
    """Three stages, each of a 128x64 and a 64x128 tile of f16."""
    kernel = kernel_of(explained(GEMM), "gemm")
    [pipeline] = kernel.pipelines
    assert (pipeline.stages, pipeline.stage_bytes) == (3, (128 * 64 + 64 * 128) * 2)
    assert (pipeline.producer, pipeline.consumer) == ("all warps", "all warps")
    assert pipeline.engines == ["cp.async"]
    [allocation] = kernel.shared_map
    assert (allocation.offset, allocation.bytes) == (0, 3 * 32768)
    assert kernel.agents == []


def test_work_and_roofline_of_a_gemm() -> None:
    kernel = kernel_of(explained(GEMM), "gemm")
    block, iteration = kernel.work
    assert (block.loads, block.stores, block.dot_operations) == (0, 128 * 128 * 4, 0)
    assert (iteration.loads, iteration.stores) == (2 * 128 * 64 * 2, 0)
    assert iteration.dot_operations == 2 * 128 * 128 * 64
    assert iteration.trips == 0  # K is an argument
    roofline = kernel.roofline
    assert roofline is not None
    assert roofline.intensity == 2 * 128 * 128 * 64 / 32768
    # 989 * 10^12 operations and 3.35 * 10^12 bytes a second.
    assert roofline.ridge == pytest.approx(989 / 3.35, abs=0.1)
    assert roofline.limit == "memory"


def test_predicted_clocks_of_a_gemm() -> None:
    """4,096 operations, 64 bytes from L2 and 128 of shared memory a clock.

    Of A each 64 rows read a part, of B all; both are written once.
    """
    block, iteration = kernel_of(explained(GEMM), "gemm").cost
    assert (block.what, iteration.what, iteration.nesting) == ("block", "iteration", 1)
    clocks = dict(iteration.resources)
    assert clocks["tensor cores"] == 2 * 128 * 128 * 64 / 4096
    assert clocks["L2"] == 2 * 128 * 64 * 2 / 64
    assert clocks["shared memory"] == (2 * 64 * 2 * (64 + 128) + 2 * 128 * 64 * 2) / 128


def test_no_clocks_without_rates() -> None:
    kernel = kernel_of(explained(GEMM, "sm_80"), "gemm")
    assert kernel.cost == []


def test_instructions_of_a_gemm() -> None:
    kernel = kernel_of(explained(GEMM), "gemm")
    [dot] = kernel.dots
    assert (dot.instruction, tuple(dot.shape)) == ("wgmma m64n128k16", (128, 128, 64))
    loads = [
        (each.what, each.tile, each.instruction, each.vector_bytes) for each in kernel.accesses
    ]
    assert loads == [
        ("load", "128x64xf16", "cp.async", 16),
        ("load", "64x128xf16", "cp.async", 16),
        ("store", "128x128xf32", "st.global", 8),
    ]


def test_layouts_of_a_gemm() -> None:
    """The accumulator as the PTX ISA has it for wgmma, and a tile with 128-byte swizzle."""
    layouts = kernel_of(explained(GEMM), "gemm").layouts
    accumulator = next(each for each in layouts if tuple(each.shape) == (128, 128))
    for warp, lane in ((0, 0), (3, 17), (7, 31)):
        row, column = 16 * warp + lane // 4, 2 * (lane % 4)
        assert at(accumulator, warp=warp, lane=lane) == (row, column)
        assert at(accumulator, warp=warp, lane=lane, register=1) == (row, column + 1)
        assert at(accumulator, warp=warp, lane=lane, register=2) == (row + 8, column)
        assert at(accumulator, warp=warp, lane=lane, register=4) == (row, column + 8)
    shared = next(each for each in layouts if each.memory == "shared")
    assert shared.summary == "swizzled by 128 bytes, rows contiguous"
    for row in range(8):
        for chunk in range(8):
            # A row of 64 f16 is 128 bytes; 16-byte chunk c of row r lies at chunk c ^ r.
            assert at(shared, offset=64 * row + 8 * chunk) == (row, 8 * (chunk ^ row))


def test_occupancy_and_its_limit() -> None:
    kernel = kernel_of(explained(LAYER_NORM), "layer_norm")
    assert kernel.occupancy is not None
    # One warp a block: an SM of sm_90 has 32 blocks at most, and 64 warps.
    assert (kernel.occupancy.ctas, kernel.occupancy.limit) == (32, "CTAs")
    assert Bound("warps", 64) in kernel.occupancy.bounds
    gemm = kernel_of(explained(GEMM), "gemm")
    assert gemm.occupancy is not None
    # Two blocks of 96 KiB, and 1 KiB that the system reserves for each, fit into 228 KiB.
    assert Bound("shared memory", 228 // 97) in gemm.occupancy.bounds


def test_layer_norm_has_no_pipeline() -> None:
    kernel = kernel_of(explained(LAYER_NORM), "layer_norm")
    assert (kernel.pipelines, kernel.dots, kernel.timeline) == ([], [], None)
    [work] = kernel.work
    assert (work.loads, work.stores) == (3 * 64 * 4, 64 * 4)
    # Two reductions of 64, four operations on one element; sub, square, scale, weight and bias.
    assert work.operations == 2 * 64 + 4 + 5 * 64


def test_missed_vectorization_has_a_remedy() -> None:
    report = explained(LAYER_NORM)
    loads = [each for each in report.remarks if each.text.startswith("Load of 4 bytes")]
    assert [each.id for each in loads] == ["vector-alignment"] * 3
    assert all("assume" in each.remedy for each in loads)
    assert not any(each.remedy for each in report.remarks if each.kind == "passed")


def test_narrow_accesses_of_small_tiles_have_a_reason() -> None:
    """Tiles of 16 elements, a block of 128 threads; those of the GEMM are large."""
    remarks = explained(ADD).remarks
    selected = [each for each in remarks if each.id in ("load-selected", "store-selected")]
    assert [each.text for each in selected] == [
        f"{verb} of one element at a time: the tile has 16 elements for 128 threads"
        for verb in ("Load", "Load", "Store")
    ]
    assert not any("the tile has" in each.text for each in explained(GEMM).remarks)


def test_agents_of_attention() -> None:
    kernel = kernel_of(explained(ATTENTION), "full")
    agents = [(each.first, each.warps, each.role) for each in kernel.agents]
    assert agents == [(0, 8, "computes"), (8, 1, "copies")]
    [pipeline] = kernel.pipelines
    assert (pipeline.stage_bytes, pipeline.engines) == (128 * 64 * 2, ["cp.async.bulk.tensor"])
    assert (pipeline.producer, pipeline.consumer) == ("warp 8", "warps 0-7")
    assert pipeline.synchronization == "mbarriers"
    assert {tuple(each.shape) for each in kernel.dots} == {(128, 128, 64), (128, 64, 128)}


def test_shared_memory_map_has_no_overlap_of_what_is_live() -> None:
    for name in ("full", "causal"):
        kernel = kernel_of(explained(ATTENTION), name)
        assert kernel.resources is not None
        ranges = kernel.shared_map
        assert max(each.offset + each.bytes for each in ranges) == kernel.resources.shared
        for one in ranges:
            for other in ranges:
                together = one.start <= other.end and other.start <= one.end
                overlap = (one.offset < other.offset + other.bytes
                           and other.offset < one.offset + one.bytes)  # fmt: skip
                assert one is other or not (together and overlap), (one, other)


def test_shared_memory_map_has_mbarriers_only_where_the_kernel_has_some() -> None:
    reduced = explained(SOFTMAX, schedule="warps=2")
    assert any(each.kind == "unused" for each in reduced.kernels[0].shared_map)
    cases = ((explained(ATTENTION), True), (explained(GEMM), False), (reduced, False))
    for report, has_mbarriers in cases:
        assert has_mbarriers == any("mbarrier" in line for line in level_of(report, "ptx").lines)
        for kernel in report.kernels:
            kinds = {each.kind for each in kernel.shared_map}
            assert ("mbarriers" in kinds) == has_mbarriers
            assert kernel.resources is not None
            covered = {
                byte
                for each in kernel.shared_map
                for byte in range(each.offset, each.offset + each.bytes)
            }
            assert covered == set(range(kernel.resources.shared))


def test_padding_of_shared_memory_is_unused() -> None:
    """Two ranges of 16 bytes, each aligned to 128."""
    scratch = [Allocation(start, 16, "reduce 1xf32", "scratch", 1, 1, 0) for start in (0, 128)]
    completed = completed_map(scratch, 0, 256)
    assert [(each.offset, each.bytes, each.kind) for each in completed] == [
        (0, 16, "scratch"), (16, 112, "unused"), (128, 16, "scratch"), (144, 112, "unused"),
    ]  # fmt: skip


def timelines() -> list[Timeline]:
    reports = (explained(GEMM), explained(GEMM, schedule="agents=1"), explained(ATTENTION))
    every = [kernel.timeline for report in reports for kernel in report.kernels]
    return [each for each in every if each is not None]


def test_timelines_follow_the_rules_of_pipelines() -> None:
    assert len(timelines()) == 4
    for timeline in timelines():
        for row in timeline.rows:
            # An agent, the tensor cores and a stage do one thing at a time.
            for one, other in zip(row.segments, row.segments[1:], strict=False):
                assert one.end <= other.start, (row.label, one, other)
            if row.kind == "stage":
                # A stage is read after it was filled, and filled again after it was read.
                kinds = [each.kind for each in row.segments if each.kind != "full"]
                assert kinds[::2] == ["filling"] * len(kinds[::2]), row.label
                assert kinds[1::2] == ["reading"] * len(kinds[1::2]), row.label


def test_timeline_of_specialized_warps() -> None:
    timeline = kernel_of(explained(GEMM, schedule="agents=1"), "gemm").timeline
    assert timeline is not None
    labels = [row.label for row in timeline.rows]
    assert labels == ["warp 8", "warps 0-7", "tensor cores", *(f"stage {n}" for n in range(6))]
    producer, consumer = timeline.rows[:2]
    # The producer fills all six stages before it waits; each has two tiles.
    kinds = [each.kind for each in producer.segments]
    assert kinds[:12] == ["copy"] * 12
    assert kinds[12] == "wait"
    assert "dot" not in kinds
    assert "copy" not in [each.kind for each in consumer.segments]


@pytest.mark.parametrize(
    ("level", "text", "source"),
    [
        ("cuda_tile", "mmaf", "mmaf"),
        ("nv_tileaa", "nv_tileaa.dot ", "mmaf"),
        ("nv_tileas", "nv_tileas.dot ", "mmaf"),
        ("nv_tileas", "number = 1 : i32, tile", "load_view_tko weak %b_tiles"),
        ("nvgpu", "cute_nvgpu.wgmma.issue", "mmaf"),
        ("nvvm", "nvvm.wgmma.steps", "mmaf"),
        ("llvm", "wgmma.mma_async", "mmaf"),
        ("ptx", "wgmma.mma_async", "mmaf"),
        ("ptx", "st.global", "store_view_tko"),
    ],
)
def test_lines_of_levels_lead_to_the_source(level: str, text: str, source: str) -> None:
    lines = source_lines(explained(GEMM), level, text)
    assert len(lines) == 1
    assert source in next(iter(lines))


def test_links_are_positions_of_the_report() -> None:
    report = explained(ATTENTION)
    for level in report.levels:
        assert len(level.lines) == len(level.links)
        assert all(0 <= each < len(report.positions) for links in level.links for each in links)
        if level.name != "sass":
            # Almost every line of a level is an operation, and has a source line.
            assert sum(map(bool, level.links)) > 0.75 * len(level.lines), level.name
    for position in report.positions:
        assert position.source == 0
        assert 1 <= position.line <= len(report.sources[0].lines)
