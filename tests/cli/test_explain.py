"""`tilewright explain` on the command line: inputs, comparisons, errors."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import pytest
from command_line import Run
from explained import ADD, GEMM, LAYER_NORM, VECTOR_ADD
from tuned_programs import enable_cache, tune_to

from tilewright.driver.cli import explain
from tilewright.driver.cli.explain import COMMAND

CUTILE = """\
import cuda.tile as ct
import numpy as np


def twice(tile):
    return tile + tile


@ct.kernel
def add(a, b, c, size: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(c, (at,), ct.load(a, (at,), (size,)) + twice(ct.load(b, (at,), (size,))))


@ct.kernel
def copy(a, b, size: ct.Constant[int]):
    ct.store(b, (ct.bid(0),), ct.load(a, (ct.bid(0),), (size,)))


x = np.zeros(4096, np.float32)
print("not part of the report")
ct.launch(None, (4,), add, (x, x, x, 1024))
ct.launch(None, (4,), copy, (x, x, 1024))
"""

needs_cutile = pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.tile") is None,
    reason="cuTile Python is not installed",
)


def test_text_report(run: Run) -> None:
    code, out, err = run("explain", str(GEMM))
    assert (code, err) == (0, "")
    for text in (
        "kernel gemm at",
        "blocks of 256x1x1 threads (8 warps)",
        "limited by registers and shared memory",
        "3 stages of 32 KiB (128x64xf16, 64x128xf16) by cp.async",
        "wgmma m64n128k16",
        "swizzled by 128 bytes",
        "64 operations a byte in one iteration",
        "stage 2      |",
        "`--schedule agents=1` forces it",
    ):
        assert text in out


def test_levels_below_tile_ir(run: Run, tmp_path: Path) -> None:
    for level in ("nv_tileaa", "nv_tileas", "nvgpu", "nvvm"):
        path = tmp_path / f"{level}.mlir"
        assert run("compile", str(LAYER_NORM), "--emit", level, "-o", str(path)).code == 0
        code, out, err = run("explain", str(path))
        assert (code, err) == (0, ""), level
        assert "kernel layer_norm" in out
        assert "blocks of 32x1x1 threads (1 warp)" in out
        assert ("layouts" in out) == (level in ("nv_tileaa", "nv_tileas"))


def test_bytecode_is_shown_as_its_disassembly(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "norm.tileirbc"
    assert run("as", str(LAYER_NORM), "-o", str(path)).code == 0
    code, out, _ = run("explain", str(path))
    assert code == 0
    assert "norm.tileirbc.mlir:" in out
    assert "load_view_tko weak" in out


def test_standard_input(run: Run) -> None:
    code, out, _ = run("explain", "-", "--arch", "sm_80", stdin=LAYER_NORM.read_bytes())
    assert code == 0
    assert out.startswith("<stdin> for sm_80, -O3")


@pytest.mark.parametrize(
    ("options", "left", "right"),
    [
        (["--schedule", "", "--schedule", "stages=2"], "-O3", "-O3 --schedule stages=2"),
        (["-O0", "-O3"], "-O0", "-O3"),
    ],
)
def test_an_option_given_twice_compares(
    run: Run, options: list[str], left: str, right: str
) -> None:
    code, out, _ = run("explain", str(GEMM), *options)
    assert code == 0
    assert out.startswith(
        f"A: gemm.mlir for sm_90, {left}\nB: gemm.mlir for sm_90, {right}\n\nfigures: "
    )
    assert "shared memory, bytes" in out


def test_two_files_compare(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = run("explain", str(GEMM), str(LAYER_NORM), "--html", str(page))
    assert (code, out, err) == (0, "", "")
    assert "figures differ" in page.read_text()


def test_kernel_selects_one(run: Run) -> None:
    code, out, _ = run("explain", str(VECTOR_ADD), "--kernel", "pointers")
    assert code == 0
    assert "kernel pointers" in out
    assert "kernel views" not in out
    code, _, err = run("explain", str(VECTOR_ADD), "--kernel", "none")
    assert code == 2
    assert "its kernels are: 'views', 'pointers'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arch", "sm_1"], "option '--arch': expected one of sm_80"),
        (["-O0", "-O1", "-O2"], "expected at most two of -O, found 3"),
        (["--timeout", "x"], "option '--timeout': expected seconds above 0"),
    ],
)
def test_wrong_command_lines(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run("explain", str(LAYER_NORM), *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_nothing_is_written_if_the_program_is_wrong(run: Run, tmp_path: Path) -> None:
    wrong, page = tmp_path / "wrong.mlir", tmp_path / "page.html"
    wrong.write_text("cuda_tile.module @kernels { entry @kernel() { %0 = nothing } }")
    assert run("explain", str(wrong), "--html", str(page)).code == 1
    assert not page.exists()


def test_tuned_programs_are_explained_as_they_are_compiled(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enable_cache(tmp_path / "cache", monkeypatch)
    tune_to(GEMM.read_text(), "stages=2", "gemm")
    out = run("explain", str(GEMM)).out
    assert "-O3 --schedule stages=2 (" in out
    assert "'@gemm' is compiled as tuned" in out
    assert "2 stages of 32 KiB" in out
    assert "3 stages of 32 KiB" in run("explain", str(GEMM), "--no-tuned").out


def test_examples_of_the_help(run: Run, folder: Path) -> None:
    shutil.copy(GEMM.parent / "add.mlir", folder / "kernel.mlir")
    assert run("as", "kernel.mlir", "-o", "kernel.tileirbc").code == 0
    lines = [line for line in COMMAND.help().splitlines() if line.startswith("  tilewright ")]
    assert len(lines) == 4
    for line in lines:
        assert run(*shlex.split(line)[1:]).code == 0, line
    for name in ("kernel.html", "comparison.html"):
        assert (folder / name).read_text().startswith("<!DOCTYPE html>")


@needs_cutile
def test_cutile_python(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The program runs once, for all reports.
    monkeypatch.setattr(explain, "export_kernels", cache(explain.export_kernels))
    path = tmp_path / "add.py"
    path.write_text(CUTILE)
    code, out, _ = run("explain", str(path))
    assert code == 0
    assert out.startswith("add.py: add for sm_90")
    assert "the program also launches copy" in out
    assert "not part of the report" not in out
    assert "loads 8 KiB" in out
    assert "stores 4 KiB" in out
    assert f"at {path}:12" in out
    page = tmp_path / "page.html"
    assert run("explain", str(path), "--html", str(page)).code == 0
    text = page.read_text().partition('id="report">')[2].partition("</script>")[0]
    data = json.loads(text)
    source, levels = data["texts"][0], {each["name"]: each for each in data["texts"][1:]}
    assert source["lines"][:2] == CUTILE.splitlines()[:2]
    helper, caller = (data["sets"][source["links"][line - 1]] for line in (6, 12))
    addition = next(
        link
        for line, link in zip(
            levels["nv_tileas"]["lines"], levels["nv_tileas"]["links"], strict=True
        )
        if "addf" in line
    )
    # The addition of the helper function has the lines of both functions.
    assert data["sets"][addition] == [*helper, *caller]
    code, out, _ = run("explain", str(path), "--kernel", "copy")
    assert code == 0
    assert "loads 4 KiB" in out
    code, _, err = run("explain", str(path), "--kernel", "none")
    assert code == 2
    assert "expected one of add, copy, found 'none'" in err


@needs_cutile
def test_programs_of_python_that_cannot_be_explained(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import sys\nsys.exit(3)\n")
    code, _, err = run("explain", str(path))
    assert code == 1
    assert "ended with exit code 3" in err
    path.write_text("print(1)\n")
    code, _, err = run("explain", str(path))
    assert code == 1
    assert "launches kernels by `ct.launch`" in err


@needs_cutile
@pytest.mark.parametrize(
    ("check", "ending"),
    [
        ("np.testing.assert_allclose(x, 1)", "AssertionError"),
        ("if not x.any():\n    sys.exit(3)", "exit code 3"),
        ("if not x.any():\n    sys.exit('no results')", "exit code 1"),
    ],
)
def test_programs_that_check_their_results(
    check: str, ending: str, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "add.py"
    source = f"import sys\n{CUTILE}{check}\n"
    path.write_text(source)
    code, out, err = run("explain", str(path))
    assert code == 0
    assert out.startswith("add.py: add for sm_90")
    [printed, note] = err.splitlines()
    assert printed == "not part of the report"
    line = len(source.splitlines())
    assert note == (
        f"{path}:{line}: note: the program ended with {ending} after its kernels were recorded; "
        "kernels are not run, so arrays keep their values"
    )


@needs_cutile
def test_programs_that_end_without_an_error_have_no_note(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(f"import sys\n{CUTILE}sys.exit(0)\n")
    code, _, err = run("explain", str(path))
    assert (code, err) == (0, "not part of the report\n")


@needs_cutile
def test_programs_that_fail_before_a_launch_or_in_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(CUTILE.replace("ct.launch", "assert x.any()\nct.launch", 1))
    code, _, err = run("explain", str(path))
    assert code == 1
    assert "ended with exit code 1" in err
    assert "Traceback" in err
    # The second launch fails: its kernel would be missing in the report.
    path.write_text(CUTILE.replace("(ct.bid(0),), ct.load", "(ct.bid(0),), ct.loda"))
    code, _, err = run("explain", str(path))
    assert code == 1
    assert "ended with exit code 1" in err
    assert "loda" in err


def test_equal_accesses_of_a_line_are_counted(run: Run, tmp_path: Path, ptxas: Path) -> None:
    program = ADD.read_text()
    joined = program.replace(
        "-> tile<16xf32>, token\n    %b, %bt", "-> tile<16xf32>, token %b, %bt"
    )
    assert joined != program
    path = tmp_path / "joined.mlir"
    path.write_text(joined)
    code, out, err = run("explain", str(path))
    assert code == 0, err
    start = out.index("  global memory\n")
    rows = [re.split(r"  +", line.strip()) for line in out[start:].splitlines()[1:3]]
    # The tiles have 16 elements of 4 bytes.
    assert [row[:3] for row in rows] == [
        ["load", "16xf32", "2 x 64 B"],
        ["store", "16xf32", "64 B"],
    ]


def test_single_bytes_are_spelled_in_the_singular(run: Run, tmp_path: Path, ptxas: Path) -> None:
    path = tmp_path / "bytes.mlir"
    path.write_text(
        ADD.read_text()
        .replace("f32", "i8")
        .replace("addf", "addi")
        .replace(" rounding<nearest_even>", "")
    )
    code, out, err = run("explain", str(path))
    assert code == 0, err
    assert "1 byte at once" in out
    assert "1 bytes" not in out


@pytest.mark.parametrize(("columns", "elements"), [(1, "one element"), (2, "2 elements")])
def test_narrow_accesses_of_thin_tiles_have_a_reason(
    run: Run, tmp_path: Path, columns: int, elements: str
) -> None:
    view = "tensor_view<?x16xf32, strides=[16,1]>"
    tiles = f"partition_view<tile=(1024x{columns}), {view}>"
    tile = f"tile<1024x{columns}xf32>"
    path = tmp_path / "thin.mlir"
    path.write_text(f"""\
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<f32>>, %m: tile<i32>) {{
    %i, %j, %l = get_tile_block_id : tile<i32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %x = make_tensor_view %p16, shape = [%m, 16], strides = [16, 1] : tile<i32> -> {view}
    %xv = make_partition_view %x : {tiles}
    %one = constant <f32: 1.0> : {tile}
    %u = store_view_tko weak %one, %xv[%i, %j] : {tile}, {tiles}, tile<i32> -> token
    return
  }}
}}
""")
    code, _, err = run("compile", str(path), "--remarks", "--emit", "nvvm", "-o", "out")
    assert code == 0, err
    reason = f"the tile has {elements} along the contiguous dimension 1"
    assert f"remark: Store of {elements} at a time: {reason} [passed: store-selected]" in err
