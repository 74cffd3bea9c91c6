"""Tracebacks of errors of kernels end in the frame of the program that launches them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.support.tracebacks import is_about_program

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from tilewright.cutile.launching import export_bytecode

SCRIPT = """\
import threading

import cuda.tile as ct
import numpy as np
import tilewright.cutile


@ct.kernel
def kernel(result):
    ct.scatter(result, 7, 1, check_bounds=False)


def start():
    {launch}


{run}
"""
LAUNCH = "tilewright.cutile.launch(1, kernel, (np.zeros(4, np.int32),))"
ENABLED = "ct.launch(None, (1,), kernel, (np.zeros(4, np.int32),))"


WRONG_SHAPES = SCRIPT.replace(
    "ct.scatter(result, 7, 1, check_bounds=False)",
    "ct.load(result, (0,), (4,)) + ct.load(result, (0,), (8,))",
)
STATIC = SCRIPT.replace(
    "ct.scatter(result, 7, 1, check_bounds=False)", "ct.static_eval(1 // len(()))"
)
ON_CPU = ("-m", "tilewright.cutile", "--on", "cpu")
EXPLAIN = ("-m", "tilewright", "explain")


def stderr(
    path: Path, *words: str, launch: str, run: str = "start()", script: str = SCRIPT, **more: str
) -> list[str]:
    path.write_text(script.format(launch=launch, run=run))
    command = [sys.executable, *words, str(path)]
    environment = {**os.environ, **more}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.stderr.splitlines()


def frames(lines: list[str]) -> list[str]:
    """The files and functions of a traceback."""
    shown = [line.split('"') for line in lines if line.startswith("  File ")]
    return [f"{Path(file).name}{rest.split(',')[-1]}" for _, file, rest in shown]


@pytest.mark.parametrize(
    ("words", "launch"),
    [
        ((), LAUNCH),
        ((), f"tilewright.cutile.enable(on='cpu')\n    {ENABLED}"),
        (("-m", "tilewright.cutile", "--on", "cpu"), ENABLED),
    ],
    ids=["launch", "enable", "command"],
)
def test_uncaught_errors_end_in_the_program(
    words: tuple[str, ...], launch: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    lines = stderr(path, *words, launch=launch)
    assert frames(lines) == ["program.py in <module>", "program.py in start"]
    message = lines.index(next(line for line in lines if "ExecutionError" in line))
    assert f"{path}:10:5: error: ct.scatter: accesses 4 bytes" in lines[message]
    assert lines[message + 1 :] == ["    ct.scatter(result, 7, 1, check_bounds=False)", "    ^"]


@pytest.mark.parametrize(
    ("words", "launch"),
    [((), LAUNCH), (ON_CPU, ENABLED), (EXPLAIN, ENABLED)],
    ids=["launch", "command", "explain"],
)
def test_uncaught_errors_of_cutile_end_in_the_program(
    words: tuple[str, ...], launch: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    lines = stderr(path, *words, launch=launch, script=WRONG_SHAPES)
    assert frames(lines) == ["program.py in <module>", "program.py in start"]
    assert "Shapes are not broadcastable: (4,), (8,)" in "\n".join(lines)
    assert f'    "{path}", line 10, col 5-61, in kernel:' in lines


def test_functions_that_cutile_calls_while_it_compiles_stay(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = stderr(path, *ON_CPU, launch=ENABLED, script=STATIC)
    shown = frames(lines)
    assert shown[-2:] == ["program.py in <module>", "program.py in start"]
    assert "launching.py in launch" not in shown
    assert any(line.startswith("ZeroDivisionError") for line in lines)
    assert f'    "{path}", line 10' in "\n".join(lines)


@pytest.mark.parametrize("words", [(), ON_CPU], ids=["launch", "command"])
def test_bugs_of_ours_have_all_frames(words: tuple[str, ...], tmp_path: Path) -> None:
    # The executor is missing, so that our own code raises a TypeError.
    run = "import tilewright.cutile.launching as ours; ours.run = None; start()"
    shown = frames(stderr(tmp_path / "program.py", *words, launch=LAUNCH, run=run))
    ours = ["tracebacks.py in call", "launching.py in launch"]
    assert shown[-4:] == ["program.py in <module>", "program.py in start", *ours]
    assert ("__main__.py in main" in shown) == bool(words)


def test_errors_of_cutile_with_a_bug_of_ours_as_cause_are_bugs() -> None:
    kind = importlib.import_module("cuda.tile._exception").InternalError
    assert is_about_program(kind("wrong"))
    cause: Exception | None = None
    try:
        export_bytecode(None, None)
    except Exception as raised:
        cause = raised
    for each, expected in ((cause, False), (KeyError("in cuTile"), True)):
        error = kind("wrong")
        error.__cause__ = each
        assert is_about_program(error) is expected


def test_uncaught_errors_of_threads_end_in_the_program(tmp_path: Path) -> None:
    run = "threading.Thread(target=start).start()"
    lines = stderr(tmp_path / "program.py", launch=LAUNCH, run=run)
    assert frames(lines)[-1] == "program.py in start"


@pytest.mark.parametrize(
    ("script", "frame"),
    [(SCRIPT, "launch.py in launch"), (WRONG_SHAPES, "launching.py in export_bytecode")],
    ids=["ours", "cutile"],
)
def test_all_frames_are_kept_on_request(script: str, frame: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = stderr(path, launch=LAUNCH, script=script, TILEWRIGHT_TRACEBACK="full")
    assert frame in frames(lines)


def test_caught_errors_have_one_frame_of_ours() -> None:
    program = "cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>) { return } }"
    try:
        tilewright.execute(program, "k", 1, [np.zeros(1)])
    except tilewright.Error as error:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        assert files[0] == __file__
        assert len(files) == 2
    else:
        raise AssertionError("no error")


def test_errors_of_our_compiler_to_cutile_end_in_cutile(tmp_path: Path) -> None:
    export = (
        "@ct.kernel\n    def empty():\n        pass\n"
        "    tilewright.cutile.enable()\n    signature = "
        "ct.compilation.KernelSignature([], ct.compilation.CallingConvention.cutile_python_v1())\n"
        "    ct.compilation.export_kernel("
        "empty, [signature], 'k', gpu_code='sm_99', output_format='cubin')"
    )
    lines = stderr(tmp_path / "program.py", launch=export)
    assert "CompilerExecutionError" in "\n".join(lines)
    shown = frames(lines)
    assert shown[:2] == ["program.py in <module>", "program.py in start"]
    assert shown[-1] == "_compile.py in compile_cubin"
