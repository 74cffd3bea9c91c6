"""`tools/spills.py` counts kernels that spill, and names them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from spills import Usage, compile_theirs, details, summary

TOOLS = Path(__file__).parents[3] / "tools"
ADD = """
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<f32>>) {
    %one = constant <f32: 1.0> : tile<f32>
    %value, %token = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
    %sum = addf %value, %one rounding<nearest_even> : tile<f32>
    store_ptr_tko weak %x, %sum : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""


def test_a_kernel_with_spill_stores_or_loads_spills() -> None:
    assert Usage(255, 8, 8, 0).spills
    assert Usage(255, 8, 0, 8).spills


def test_a_local_array_is_no_spill_where_spills_are_known() -> None:
    assert not Usage(40, 288, 0, 0).spills
    assert Usage(40, 288).spills, "the stack is all that is known"


def test_table_counts_kernels_of_each_compiler() -> None:
    ours = {"a": {"f": Usage(32, 0, 0, 0), "g": Usage(255, 16, 8, 12)}}
    theirs = {"a": {"f": Usage(32, 0), "g": Usage(255, 24)}, "b": {"": Usage(error="x")}}
    lines = summary({"ours": ours, "tileiras": theirs})
    assert list(lines)[2:] == [
        "| ours | 1 | 0 | 2 | 1 | 1 | 16 |",
        "| tileiras | 2 | 1 | 2 | ≤ 1 | 1 | 24 |",
    ]


def test_details_name_the_kernels_that_spill_with_one_compiler() -> None:
    ours = {"a": {"f": Usage(255, 16, 8, 12)}, "b": {"f": Usage(32, 0, 0, 0)}}
    theirs = {"a": {"f": Usage(168, 0)}, "b": {"f": Usage(32, 0)}}
    assert list(details({"ours": ours, "tileiras": theirs}))[2:] == [
        "| a | 8+12, stack 16, 255 registers | stack 0, 168 registers |",
    ]


def test_details_say_where_there_is_no_cubin() -> None:
    ours = {"a": {"f": Usage(255, 16, 8, 12)}}
    theirs = {"a": {"": Usage(error="unsupported type")}}
    lines = list(details({"ours": ours, "tileiras": theirs}))
    assert lines[2] == "| a | 8+12, stack 16, 255 registers | no cubin |"


def test_tool_compiles_a_program(tmp_path: Path, ptxas: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    results = tmp_path / "results.json"
    command = [sys.executable, str(TOOLS / "spills.py"), str(tmp_path), "-j", "1"]
    run = subprocess.run(
        [*command, "--json", str(results)], capture_output=True, text=True, check=True
    )
    assert "| ours | 1 | 0 | 1 | 0 | 0 | 0 |" in run.stdout
    registers, *others = json.loads(results.read_text())["ours"]["add"]["add"]
    assert registers > 0
    assert others == [0, 0, 0, ""]


@pytest.mark.peer
def test_error_of_the_other_compiler_is_recorded(tmp_path: Path, nvidia_tools: Path) -> None:
    path = tmp_path / "broken.tileirbc"
    path.write_bytes(b"no bytecode")
    _, kernels = compile_theirs(str(path), "sm_90", nvidia_tools / "tileiras")
    assert kernels[""].error
