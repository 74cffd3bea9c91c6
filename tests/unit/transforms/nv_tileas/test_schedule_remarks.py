"""Remarks on schedules: warp specialization, and a hint that is not met."""

from __future__ import annotations

from typing import Final

import pytest
from attention_programs import Attention
from scheduled_loops import lowered_as_far_as, matmul
from specialized_programs import Gemm
from tma_store_programs import StoredGemm

from tilewright.driver.pipelines import parse_pipeline
from tilewright.support.diagnostics import Sink
from tilewright.support.remarks import Remark

BEFORE: Final = "move-conversions"
"""The pass before `schedule-loops`."""
UNALIGNED: Final = "its address and strides are not known to be multiples of 16 bytes"


def remarks(program: str, name: str, options: str = "") -> list[Remark]:
    """The remarks of `schedule-loops` on a program that have a name."""
    module = lowered_as_far_as(BEFORE, program)
    sink = Sink(remarks=True)
    parse_pipeline(f"record-requests{options},schedule-loops").run(module, sink)
    return [each for each in sink.remarks if each.name == name]


def test_specialized_warps_are_reported() -> None:
    (remark,) = remarks(matmul(128, 128, 64), "RemarkWarpSpecialization", "{agents=1}")
    assert remark.kind == "passed"
    assert remark.message == "Warps specialized: one copies by TMA to 6 stages"
    assert remark.function == "k"


@pytest.mark.parametrize(("divisor", "reason"), [
    (16, "encoding tensor maps would not pay"),
    (1, f"TMA cannot copy a tile: {UNALIGNED}"),
])  # fmt: skip
def test_a_reason_is_given_if_warps_are_not_specialized(divisor: int, reason: str) -> None:
    program = matmul(128, 128, 64, divisor=divisor)
    (remark,) = remarks(program, "RemarkWarpSpecialization")
    assert (remark.kind, remark.message) == ("missed", f"Warps not specialized: {reason}")


def test_several_pipelines_are_reported() -> None:
    program = Attention().program
    (remark,) = remarks(program, "RemarkWarpSpecialization", "{agents=1 stages=3}")
    assert remark.message == (
        "Warps specialized: one copies by TMA to 3 stages of each of 2 pipelines"
    )


def test_a_pipeline_that_would_be_lost_is_a_reason() -> None:
    """The loop around that over K multiplies other tiles, which it copies early."""
    (remark,) = remarks(Gemm().after_another_dot(), "RemarkWarpSpecialization")
    reason = "a loop around a pipelined one would no longer copy its tiles early"
    assert (remark.kind, remark.message) == ("missed", f"Warps not specialized: {reason}")


def test_kernels_without_wgmma_have_no_remark() -> None:
    assert not remarks(matmul(16, 16, 16), "RemarkWarpSpecialization")


def test_allow_tma_is_explained_where_it_is_not_used() -> None:
    hint = " optimization_hints = <sm_90 = {allow_tma = true}>"
    hinted = matmul(128, 128, 64).replace("%pv[%zero, %i] :", f"%pv[%zero, %i]{hint} :")
    (remark,) = remarks(hinted, "RemarkMemoryTmaLoadUnused")
    assert remark.kind == "missed"
    assert remark.message == "allow_tma is not used: encoding its tensor map would not pay"
    assert not remarks(hinted, "RemarkMemoryTmaLoadUnused", "{agents=1}")


def store_remarks(stored: StoredGemm, options: str, epilogue: str = "") -> list[tuple[str, str]]:
    """The remarks on the stores of a persistent GEMM."""
    program = stored.persistent(epilogue or f"{stored.converted()}\n{stored.store()}")
    names = ("RemarkMemoryStoreInstructionSelected", "RemarkMemoryTmaStoreFailed")
    return [(each.kind, each.message) for name in names for each in remarks(program, name, options)]


FORCED: Final = "{agents=1 tma-stores=1}"


def test_stores_by_tma_are_reported() -> None:
    stored = StoredGemm(Gemm(tile=(64, 128, 32)))
    text = "Store by TMA: each warp stores boxes of [16, 64], 2 of a tile"
    assert store_remarks(stored, FORCED) == [("passed", text)]
    assert not store_remarks(stored, "{agents=1}")
    assert not store_remarks(stored, "{agents=1 tma-stores=0}")


FORBIDDEN: Final = "optimization_hints = <sm_90 = {allow_tma = false}> "


@pytest.mark.parametrize(("stored", "hints", "reason"), [
    (StoredGemm(Gemm()), FORBIDDEN, "the program forbids it"),
    (
        StoredGemm(Gemm(tile=(64, 32, 32)), "f8E4M3FN"), "",
        "expected 64 consecutive bytes in a warp, got 32",
    ),
    (
        StoredGemm(Gemm(), column_divisor=4), "",
        "its rows are not known to be multiples of 16 bytes",
    ),
    (
        StoredGemm(Gemm(), padding="nan"), "",
        "expected zeros as padding, got 'nan'",
    ),
])  # fmt: skip
def test_a_reason_is_given_if_a_store_is_not_by_tma(
    stored: StoredGemm, hints: str, reason: str
) -> None:
    epilogue = f"{stored.converted()}\n{stored.store(hints=hints)}"
    text = f"Store not by TMA: {reason}"
    assert store_remarks(stored, FORCED, epilogue) == [("failed", text)]


@pytest.mark.parametrize(("program", "options", "message"), [
    # A stage of 64 x 64 and 64 x 64 elements of f16 has 16 KiB: six of them fit into 113.
    (matmul(64, 64, 64), "", "Pipeline of 6 stages: more would hide no more latency"),
    (matmul(64, 64, 64), "{stages=3}", "Pipeline of 3 stages: the schedule is forced"),
    (
        # A stage has 48 KiB.
        matmul(128, 256, 64), "",
        "Pipeline of 4 stages: a stage takes 49152 bytes, and shared memory leaves 232448",
    ),
    (
        # 227 KiB and one of the hardware, shared by two blocks, less that one.
        matmul(128, 128, 64, occupancy=2), "",
        "Pipeline of 3 stages: a stage takes 32768 bytes, and the hint occupancy leaves 115712",
    ),
])  # fmt: skip
def test_the_bound_of_stages_is_reported(program: str, options: str, message: str) -> None:
    (remark,) = remarks(program, "RemarkPipeline", options)
    assert (remark.id, remark.message) == ("pipeline", message)


def test_the_bound_of_specialized_pipelines_is_reported() -> None:
    (remark,) = remarks(matmul(128, 256, 64), "RemarkPipeline", "{agents=1}")
    # 227 KiB without one for mbarriers, and 16 by which threads exchange pieces of C.
    bound = "a stage takes 49152 bytes, and shared memory leaves 215040"
    assert remark.message == f"Pipeline of 4 stages: {bound}"


def test_loads_that_a_token_orders_are_not_pipelined() -> None:
    program = matmul(128, 128, 64).replace("%qv[%i, %zero] :", "%qv[%i, %zero] token = %t1 :")
    (remark,) = [each for each in remarks(program, "RemarkPipeline") if each.kind == "missed"]
    reason = "a token orders it after another access of the loop"
    assert (remark.id, remark.message) == ("pipeline-refused", f"Load not pipelined: {reason}")


def test_unaligned_tiles_of_pipelines_are_refused_by_tma() -> None:
    refused = remarks(matmul(128, 128, 64, divisor=1), "RemarkMemoryTmaLoadFailed")
    assert [each.message for each in refused] == [f"Load not by TMA: {UNALIGNED}"] * 2
    assert {each.kind for each in refused} == {"failed"}
    assert not remarks(matmul(128, 128, 64), "RemarkMemoryTmaLoadFailed")
