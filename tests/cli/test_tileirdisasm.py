"""Our `tileirdisasm` beside NVIDIA's: the same output for good input, the same exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run

import tilewright

GOOD = [
    ["good.tileirbc"],
    ["-g", "good.tileirbc"],
    ["good.tileirbc", "-g"],
    ["--g=0", "good.tileirbc"],
    ["-g=", "good.tileirbc"],
    ["--print-debug-info", "good.tileirbc"],
    ["-print-debug-info=TRUE", "good.tileirbc"],
    ["-g", "-g=false", "good.tileirbc"],
    ["--", "good.tileirbc"],
    ["--color", "good.tileirbc"],
    ["@words"],
]

BAD = [
    ["nope"],
    ["folder"],
    ["-"],
    ["empty"],
    ["mlir.bc"],
    ["random"],
    ["good.mlir"],
    ["truncated.tileirbc"],
    ["header.tileirbc"],
    ["future.tileirbc"],
    ["--frob", "good.tileirbc"],
    ["-x"],
    ["-gx", "good.tileirbc"],
    ["---g", "good.tileirbc"],
    ["good.tileirbc", "good.tileirbc"],
    ["good.tileirbc", "-o", "out"],
    ["-g", "1", "good.tileirbc"],
    ["-g=maybe", "good.tileirbc"],
    ["--help=0", "good.tileirbc"],
    ["--", "good.tileirbc", "-g"],
    ["", "good.tileirbc"],
]

ANSWERS = [
    [],
    [""],
    ["-g"],
    ["--help"],
    ["-h"],
    ["-help"],
    ["--help-hidden"],
    ["nope", "--help"],
    ["--version"],
    ["-version"],
]


def peer(nvidia_tools: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [str(nvidia_tools / "tileirdisasm"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.peer
@pytest.mark.parametrize("arguments", GOOD, ids=" ".join)
def test_good_input(run: Run, nvidia_tools: Path, arguments: list[str]) -> None:
    original = peer(nvidia_tools, arguments)
    assert original.returncode == 0
    assert run(*arguments, tool="tileirdisasm") == (0, original.stdout, "")


@pytest.mark.peer
@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input(run: Run, nvidia_tools: Path, arguments: list[str]) -> None:
    original = peer(nvidia_tools, arguments)
    assert original.returncode != 0
    code, out, err = run(*arguments, tool="tileirdisasm")
    assert (code, out) == (original.returncode, original.stdout)
    assert "error:" in err or err.startswith("tileirdisasm: ")
    assert "Traceback" not in err


@pytest.mark.peer
@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_help_and_version(run: Run, nvidia_tools: Path, arguments: list[str]) -> None:
    original = peer(nvidia_tools, arguments)
    result = run(*arguments, tool="tileirdisasm")
    assert result.code == original.returncode
    assert bool(result.err) == bool(original.stderr)
    assert "tileirdisasm: " in result.out


@pytest.mark.peer
def test_dash_is_a_file(run: Run, folder: Path, nvidia_tools: Path) -> None:
    (folder / "-").write_bytes((folder / "good.tileirbc").read_bytes())
    original = peer(nvidia_tools, ["-"])
    assert run("-", tool="tileirdisasm") == (0, original.stdout, "")


@pytest.mark.peer
@pytest.mark.parametrize("options", [[], ["-g"]])
def test_several_entries_share_aliases(
    run: Run, folder: Path, nvidia_tools: Path, options: list[str]
) -> None:
    text = """\
#file = #cuda_tile.di_file<"a.py" in "/d">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 3, name = "f", linkageName = "f",
  compileUnit = #unit, scopeLine = 3>
#g = #cuda_tile.di_subprogram<file = #file, line = 9, name = "g", linkageName = "g",
  compileUnit = #unit, scopeLine = 9>
cuda_tile.module @kernels attributes {producer = "hand 2.0"} {
  global @table <f32: 1.0> : tile<1xf32>
  entry @f() {
    %0 = constant <i32: 0> : tile<i32> loc(#cuda_tile.di_loc<loc("a.py":4:2) in #f>)
    return loc(#cuda_tile.di_loc<loc("a.py":5:2) in #f>)
  } loc(#cuda_tile.di_loc<loc("a.py":3:1) in #f>)
  entry @g(%n: tile<i32>) {
    %0 = addi %n, %n : tile<i32> loc(#cuda_tile.di_loc<loc("a.py":10:2) in #g>)
    return loc(#cuda_tile.di_loc<loc("a.py":5:2) in #g>)
  } loc(#cuda_tile.di_loc<loc("a.py":9:1) in #g>)
}
"""
    (folder / "two.tileirbc").write_bytes(tilewright.write_bytecode(tilewright.read(text)))
    original = peer(nvidia_tools, [*options, "two.tileirbc"])
    assert original.stdout.count("entry @") == 2
    assert run(*options, "two.tileirbc", tool="tileirdisasm") == (0, original.stdout, "")


@pytest.mark.peer
def test_as_a_process(folder: Path, nvidia_tools: Path) -> None:
    script = str(Path(sys.executable).with_name("tileirdisasm"))
    original = peer(nvidia_tools, ["-g", "good.tileirbc"])
    done = subprocess.run([script, "-g", "good.tileirbc"], capture_output=True, check=False)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, original.stdout, b"")
    assert subprocess.run([script, "nope"], capture_output=True, check=False).returncode == 2


def test_a_bug_of_ours_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr("tilewright.tileirdisasm.verify", failing)
    code, out, err = run("good.tileirbc", tool="tileirdisasm")
    assert (code, out) == (70, "")
    assert "This is a bug in Tilewright, not in your program. Please report it" in err
