"""Remarks: each is reported by the pass that makes the decision, and only on request."""

from __future__ import annotations

import pytest

from tilewright.driver.api import read_runnable
from tilewright.driver.compile import Compilation, Observers, target
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import Sink
from tilewright.support.remark_catalogue import COMPILER, MEMORY, RESOURCES, TENSOR_CORE
from tilewright.support.remarks import Remark

A, B, C = (f"tensor_view<{shape}, strides=[{stride},1]>" for shape, stride in
           (("?x128xf16", 128), ("128x64xf16", 64), ("?x64xf32", 64)))  # fmt: skip
AV, BV, CV = (
    f"partition_view<tile=({tile}), padding_value = zero, {view}>"
    for tile, view in (("64x64", A), ("64x64", B), ("64x64", C))
)
GEMM = f"""
cuda_tile.module @m {{
  entry @gemm(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {{
    %i, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %a16 = assume div_by<16>, %a : tile<ptr<f16>>
    %b16 = assume div_by<16>, %b : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [%n, 128], strides = [128, 1] : tile<i32> -> {A}
    %bt = make_tensor_view %b16, shape = [128, 64], strides = [64, 1] : {B}
    %ct = make_tensor_view %c, shape = [%n, 64], strides = [64, 1] : tile<i32> -> {C}
    %av = make_partition_view %at : {AV}
    %bv = make_partition_view %bt : {BV}
    %cv = make_partition_view %ct : {CV}
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %acc = for %k in (%zero to %two, step %one) : tile<i32> iter_values(%in = %init) -> (tile<64x64xf32>) {{
      %x, %t0 = load_view_tko weak %av[%i, %k] : {AV}, tile<i32> -> tile<64x64xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : {BV}, tile<i32> -> tile<64x64xf16>, token
      %out = mmaf %x, %y, %in : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %out : tile<64x64xf32>
    }}
    %t2 = store_view_tko weak %acc, %cv[%i, %zero] : tile<64x64xf32>, {CV}, tile<i32> -> token
    return
  }}
}}"""  # noqa: E501


def compiled(opt_level: int = 3, *, remarks: bool = True) -> tuple[str, Sink]:
    """Compile the GEMM to PTX and return the sink that its passes reported to."""
    module = read_runnable(GEMM, "gemm.mlir")
    observers = Observers(remarks=remarks)
    ptx = Compilation(module, Settings(target("sm_90"), opt_level), observers).to("ptx")
    return str(ptx), observers.sink


def line_of(op: str) -> int:
    (number,) = (n for n, line in enumerate(GEMM.splitlines(), 1) if op in line)
    return number


def instructions(remarks: list[Remark], op: str) -> list[tuple[str, str]]:
    """The instruction and the reporting pass of remarks that name one, on the line of `op`."""
    location = f"gemm.mlir:{line_of(op)}:"
    return [
        (dict(remark.details)["Instruction"], remark.pass_name)
        for remark in remarks
        if str(remark.location).startswith(location) and "Instruction" in dict(remark.details)
    ]


@pytest.mark.parametrize("load", ["%x, %t0", "%y, %t1"])
def test_a_staged_load_is_reported_once_as_cp_async(load: str) -> None:
    ptx, sink = compiled()
    assert "cp.async" in ptx
    assert "ld.global" not in ptx
    assert instructions(sink.remarks, load) == [("cp.async", "schedule-loops")]


@pytest.mark.parametrize("load", ["%x, %t0", "%y, %t1"])
def test_a_load_that_is_not_staged_is_reported_as_ld_global(load: str) -> None:
    ptx, sink = compiled(opt_level=1)
    assert "cp.async" not in ptx
    assert set(instructions(sink.remarks, load)) == {("ld.global", "convert-tileas-to-nvgpu")}


def test_stores_and_dots_are_reported_where_their_instruction_is_selected() -> None:
    ptx, sink = compiled()
    assert instructions(sink.remarks, "%t2 =") == [("st.global", "convert-tileas-to-nvgpu")]
    assert instructions(sink.remarks, "%out =") == [("wgmma", "convert-tileaa-to-tileas")]
    assert "st.global" in ptx
    assert "wgmma.mma_async" in ptx
    assert {remark.category for remark in sink.remarks} == {
        MEMORY,
        TENSOR_CORE,
        COMPILER,
        RESOURCES,
    }
    assert {remark.function for remark in sink.remarks} == {"gemm"}


def test_disabled_remarks_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise AssertionError("expected no remark to be built")

    monkeypatch.setattr("tilewright.analysis.remarks.Remark", build)
    _, sink = compiled(remarks=False)
    assert sink.remarks == []
