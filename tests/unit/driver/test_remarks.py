"""Remarks: each is reported by the pass that makes the decision, and only on request."""

from __future__ import annotations

import pytest
from gemm_text import KLoop, kernel, zeros
from matrix_programs import View

from tilewright.driver.api import read_runnable
from tilewright.driver.compile import Compilation, Observers, target
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import Sink
from tilewright.support.remark_catalogue import COMPILER, MEMORY, RESOURCES, TENSOR_CORE
from tilewright.support.remarks import Remark

A = View("a", ("%n", 128), (128, 1), (64, 64), "f16", "zero")
B = View("b", (128, 64), (64, 1), (64, 64), "f16", "zero")
C = View("c", ("%n", 64), (64, 1), (64, 64), "f32", "zero", aligned=False)
LOOP = KLoop(A, B, C.tile_type, row="%block", bounds="%zero to %two, step %one")
GEMM = kernel(
    [A, B, C],
    f"{zeros(C.tile_type)}\n{LOOP.text()}\n{C.store('%sum', '%block, %zero')}",
    name="gemm",
    arguments="%n: tile<i32>",
    before="""%block, %by, %bz = get_tile_block_id : tile<i32>
    %two = constant <i32: 2> : tile<i32>""",
)


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


@pytest.mark.parametrize("load", ["%x, %tx", "%y, %ty"])
def test_a_staged_load_is_reported_once_as_cp_async(load: str) -> None:
    ptx, sink = compiled()
    assert "cp.async" in ptx
    assert "ld.global" not in ptx
    assert instructions(sink.remarks, load) == [("cp.async", "schedule-loops")]


@pytest.mark.parametrize("load", ["%x, %tx", "%y, %ty"])
def test_a_load_that_is_not_staged_is_reported_as_ld_global(load: str) -> None:
    ptx, sink = compiled(opt_level=1)
    assert "cp.async" not in ptx
    assert set(instructions(sink.remarks, load)) == {("ld.global", "convert-tileas-to-nvgpu")}


def test_stores_and_dots_are_reported_where_their_instruction_is_selected() -> None:
    ptx, sink = compiled()
    assert instructions(sink.remarks, "%stored =") == [("st.global", "convert-tileas-to-nvgpu")]
    assert instructions(sink.remarks, "%d =") == [("wgmma", "convert-tileaa-to-tileas")]
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
