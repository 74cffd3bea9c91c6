"""CUDA C++ as a source of commands, with an nvcc that writes bytecode of ours."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

import tilewright

# The symbol is `twice(float*)`, as nvcc mangles it.
PROGRAM = """\
cuda_tile.module @m {
  entry @_Z5twicePf(%p: tile<ptr<f32>>) {
    %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %w = addf %v, %v rounding<nearest_even> : tile<f32>
    %u = store_ptr_tko weak %p, %w token=%t : tile<ptr<f32>>, tile<f32> -> token
    return
  }
  entry @_Z4overPi(%p: tile<ptr<i32>>) {
    return
  }
  entry @_Z4overPf(%p: tile<ptr<f32>>) {
    return
  }
}
"""

STAND_IN = """\
#!/bin/sh
case "$1" in --version) echo "release 13.4, V13.4.1"; exit ;; esac
echo "$@" > arguments
echo "warning of nvcc"
grep -q wrong kernel.cu && { echo "kernel.cu(1): error: wrong" >&2; exit 2; }
grep -q slow kernel.cu && { touch started; exec sleep 600; }
while [ "$1" != -o ]; do shift; done
cp bytecode "$2"
"""


@pytest.fixture(autouse=True)
def nvcc(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "nvcc.profile").write_text("")
    path = folder / "bin" / "nvcc"
    path.write_text(STAND_IN)
    path.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_NVCC", str(path))
    (folder / "bytecode").write_bytes(tilewright.write_bytecode(tilewright.read(PROGRAM)))
    (folder / "kernel.cu").write_text("// right\n")


def passed(folder: Path) -> list[str]:
    return shlex.split((folder / "arguments").read_text())


@pytest.mark.parametrize("entry", ["twice", "twice(float *)", "_Z5twicePf"])
def test_run(run: Run, folder: Path, entry: str) -> None:
    np.save("x.npy", np.array([3], np.float32))
    code, out, err = run("run", "kernel.cu", "--entry", entry, "--arg", "y.npy=x.npy")
    assert (code, out, err) == (0, "", "warning of nvcc\n")
    assert np.load("y.npy").tolist() == [6]
    options = ["--enable-tile", "-std=c++20", "--tilebc", "-arch", "sm_90", "-lineinfo"]
    assert passed(folder)[:-2] == [*options, "kernel.cu"]


def test_the_architecture_is_passed(run: Run, folder: Path) -> None:
    assert run("compile", "kernel.cu", "-o", "k.ptx", "--arch", "sm_100").code == 0
    assert "-arch sm_100 " in (folder / "arguments").read_text()
    assert ".entry _Z5twicePf" in (folder / "k.ptx").read_text()


def test_a_debugger_needs_unoptimized_bytecode(run: Run, folder: Path) -> None:
    assert run("compile", "kernel.cu", "-o", "k.ptx", "-O0", "--device-debug").code == 0
    assert "-G" in passed(folder)
    assert "-lineinfo" not in passed(folder)


def test_standard_output_has_the_result_alone(run: Run) -> None:
    code, out, err = run("compile", "kernel.cu", "--emit", "ptx")
    assert (code, err) == (0, "warning of nvcc\n")
    assert out.lstrip().startswith("//")
    assert "nvcc" not in out


def test_ambiguous_names_are_listed(run: Run) -> None:
    code, out, err = run("run", "kernel.cu", "--entry", "over", "--arg", "iota:4xf32")
    assert (code, out) == (1, "")
    assert "'_Z4overPi' (over(int*)), '_Z4overPf' (over(float*))" in err


def test_diagnostics_of_nvcc_are_shown_as_they_are(run: Run, folder: Path) -> None:
    (folder / "kernel.cu").write_text("// wrong\n")
    assert run("compile", "kernel.cu", "-o", "k.cubin") == (
        1,
        "",
        "warning of nvcc\nkernel.cu(1): error: wrong\n"
        "error: nvcc does not compile 'kernel.cu': it ended with exit code 2\n",
    )
    assert not (folder / "k.cubin").exists()


def test_a_file_without_kernels(run: Run, folder: Path) -> None:
    (folder / "bytecode").write_bytes(b"...__$dummy_kernel...")
    code, _, err = run("compile", "kernel.cu", "-o", "k.cubin")
    assert code == 1
    assert "expected CUDA Tile kernels (`__tile_global__`) in 'kernel.cu', found none" in err


def test_a_file_that_is_not_there(run: Run, folder: Path) -> None:
    code, _, err = run("run", "other.cu", "--grid", "1")
    assert (code, err) == (
        2,
        "tilewright: error: cannot read 'other.cu': No such file or directory\n",
    )
    assert not (folder / "arguments").exists()


def test_a_name_like_an_option(run: Run, folder: Path) -> None:
    (folder / "-x.cu").write_text("")
    assert run("compile", "-o", "k.ptx", "--", "-x.cu").code == 0
    assert "./-x.cu" in passed(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_compilation_leaves_no_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    (folder / "kernel.cu").write_text("// slow\n")
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    command = [sys.executable, "-m", "tilewright", "compile", "kernel.cu", "-o", "k.cubin"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE)
    while not (folder / "started").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (128 + number, b"warning of nvcc\n")
    assert not list(temporary.iterdir())
    assert not (folder / "k.cubin").exists()


def test_several_files(run: Run, folder: Path) -> None:
    code, _, err = run("compile", "kernel.cu", "good.tileirbc", "none.cu", "-o", "out/", "-j", "1")
    assert code == 2
    assert "cannot read 'none.cu'" in err
    assert {path.name for path in (folder / "out").iterdir()} == {"kernel.cubin", "good.cubin"}
    (folder / "kernel.cu").write_text("// wrong\n")
    code, _, err = run("compile", "kernel.cu", "good.tileirbc", "-o", "again/", "-j", "1")
    assert code == 1
    assert "error: nvcc does not compile 'kernel.cu'" in err


def test_without_nvcc(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_NVCC", str(folder / "good.mlir"))
    code, _, err = run("compile", "kernel.cu", "-o", "k.cubin")
    assert code == 3
    assert re.search(r"expected nvcc 13\.3 or later, found '.*good\.mlir'", err)


def test_the_functions_of_the_package(folder: Path) -> None:
    path = folder / "kernel.cu"
    value = np.array([3], np.float32)
    tilewright.execute(path, "twice", 1, [value])
    assert value.tolist() == [6]
    assert "_Z5twicePf" in tilewright.compile(path, "sm_80", emit="ptx").ptx
    assert "-arch sm_80 " in (folder / "arguments").read_text()
    assert tilewright.read(path) is not None


def test_other_commands_read_it(run: Run) -> None:
    assert "entry @_Z5twicePf" in run("dis", "kernel.cu").out
    assert run("verify", "kernel.cu").code == 0
