"""Every command has examples in the text of `--help`, and they run."""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

import tilewright
from tilewright.driver.cli import COMMANDS
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink
from tilewright.transforms.generic.licm import Licm

ROOT = Path(__file__).parents[2]

STORE = """\
entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <f32: 0.0> : tile<f32>
  %t = store_ptr_tko weak %p, %zero : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""
NUMBER = """\
entry @kernel(%n: tile<i32>) {
  %x = addi %n, %n : tile<i32>
  return
}
"""

SAXPY = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  ret;
}
"""
EMPTY = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry gemm() {
  ret;
}
"""
SPIN = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin() {
again:
  bra again;
}
"""

NEEDS_GPU = ("tune gemm.mlir", "tune kernel.tileirbc")
"""The beginnings of examples that measure on a GPU."""
FAILING = {"ptx run spin.ptx": 1, "replay": 70}
"""Examples whose exit code is not 0: an endless loop, which `--max-steps` ends, and a bug."""
KIT = Path(".cache/tilewright/crashes/licm-0123456789ab")
"""The crash kit that examples name, in the home folder."""


_EXAMPLE = re.compile(r"  (?:TILEWRIGHT_\w+=\S+ )?tilewright ")


def examples() -> list[tuple[str, str]]:
    """Each command and a line of its help; those with CUDA C++ are tested with its pages."""
    lines: list[tuple[str, str]] = []
    for name, (module, _) in COMMANDS.items():
        text = import_module(f"tilewright.driver.cli.{module}").COMMAND.help()
        text = text[text.index("example") :].replace("\\\n", " ")
        lines += [(name, line.strip()) for line in text.splitlines() if _EXAMPLE.match(line)]
    return lines


EXAMPLES = examples()


@pytest.fixture
def files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that examples name."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    # Commands in examples run `tilewright`, too.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("add.mlir", "gemm.mlir"):
        shutil.copy(ROOT / "examples" / name, folder)
    (folder / "kernel.mlir").write_text(NUMBER)
    kernel = tilewright.read(STORE)
    (folder / "kernel.tileirbc").write_bytes(tilewright.write_bytecode(kernel))
    (folder / "kernels").mkdir()
    shutil.copy(folder / "kernel.tileirbc", folder / "kernels")
    (folder / "kernel.ptx").write_text(SAXPY)
    (folder / "saxpy.ptx").write_text(SAXPY)
    (folder / "gemm.ptx").write_text(EMPTY)
    (folder / "spin.ptx").write_text(SPIN)
    np.save(folder / "a.npy", np.ones(4, np.float32))
    np.save(folder / "wanted.npy", np.array([0, 1, 1, 1], np.float32))
    return folder


@pytest.fixture
def kit(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crash kit of a pass that fails, and goes on failing."""

    def fail(self: object, op: Operation, sink: Sink) -> None:
        raise KeyError("planted")

    crashes = files / KIT.parent
    monkeypatch.setenv("HOME", str(files))
    monkeypatch.setenv("TILEWRIGHT_CRASH_DIR", str(crashes))
    monkeypatch.setattr(Licm, "run", fail)
    with pytest.raises(tilewright.InternalError):
        tilewright.compile(STORE, "sm_90", emit="ptx")
    (made,) = crashes.iterdir()
    return made.rename(files / KIT)


def test_every_command_has_an_example() -> None:
    assert {name for name, _ in EXAMPLES} == set(COMMANDS)


def needs_kit(name: str, line: str) -> bool:
    return name == "replay" or str(KIT) in line


@pytest.mark.parametrize("line", [line for name, line in EXAMPLES if needs_kit(name, line)])
def test_the_examples_with_a_crash_kit_run(run: Run, kit: Path, line: str) -> None:
    assert kit.is_dir()
    words = [str(Path(word).expanduser()) for word in shlex.split(line)]
    code, _, err = run(*words[1:])
    assert code == FAILING.get(words[1], 0), err


@pytest.mark.usefixtures("short_search", "playground_here")
@pytest.mark.parametrize(
    ("name", "line"),
    [
        each
        for each in EXAMPLES
        if ".cu" not in each[1].replace(".cubin", "") and not needs_kit(*each)
    ],
)
@pytest.mark.sampled(7)
def test_the_examples_of_the_help_run(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    assert files.is_dir()
    words = shlex.split(line)
    while "=" in words[0]:
        variable, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(variable, value)
    assert words[0] == "tilewright"
    command = " ".join(words[1:])
    if command.startswith(NEEDS_GPU):
        pytest.skip("measures on a GPU")
    arguments = [each for word in words[1:] for each in sorted(glob.glob(word)) or [word]]
    code, _, err = run(*arguments)
    expected = next((code for start, code in FAILING.items() if command.startswith(start)), 0)
    assert code == expected, err


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_spells_words_in_one_way(run: Run, command: str) -> None:
    """The spelling is that of the argument `uninitialised:..`."""
    assert "uninitialized" not in run(command, "--help").out


def test_the_list_of_commands_says_when_reduce_shrinks(run: Run) -> None:
    """The test of `reduce` succeeds on programs that are interesting."""
    [line] = [each for each in run("--help").out.splitlines() if each.split()[:1] == ["reduce"]]
    assert line.endswith("while a test command exits with 0")
