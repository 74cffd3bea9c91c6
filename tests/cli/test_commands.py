"""Each subcommand on valid input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.driver import examples
from tilewright.driver.cli import COMMANDS
from tilewright.ir.equivalence import equivalent

EXAMPLES = Path(__file__).parents[2] / "examples"

# Written by NVIDIA's tileirdisasm 13.4.92 for the bytecode of the same program.
TEXT = """\
entry @add(%arg0: tile<f32>, %arg1: tile<f32>) {
  %0 = addf %arg0, %arg1  : tile<f32>
  return
}
"""


def test_as_then_dis(run: Run, folder: Path) -> None:
    assert run("as", "good.mlir", "-o", "out.tileirbc") == (0, "", "")
    assert (folder / "out.tileirbc").read_bytes().startswith(b"\x7fTileIR\0\x0d\x04")
    assert run("dis", "out.tileirbc") == (0, TEXT, "")


@pytest.mark.parametrize("version", ["13.1", "13.2", "13.3", "13.4"])
def test_as_writes_the_version_asked_for(run: Run, folder: Path, version: str) -> None:
    assert run("as", "good.mlir", "-o", "out", f"--bytecode-version={version}").code == 0
    assert (folder / "out").read_bytes()[8:10] == bytes(map(int, version.split(".")))


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_and_output(run: Run, folder: Path, arguments: list[str]) -> None:
    text = (folder / "good.mlir").read_bytes()
    encoded = run("as", *arguments, stdin=text).out.encode("utf-8", "surrogateescape")
    assert encoded == (folder / "good.tileirbc").read_bytes()
    assert run("dis", *arguments, stdin=encoded) == (0, TEXT, "")
    assert run("verify", *arguments, stdin=encoded) == (0, "", "")
    assert run("opt", *arguments, stdin=encoded).code == 0


def test_dis_writes_a_file(run: Run, folder: Path) -> None:
    assert run("dis", "good.tileirbc", "-oout.mlir") == (0, "", "")
    assert (folder / "out.mlir").read_text() == TEXT


def test_dis_options(run: Run) -> None:
    assert '"cuda_tile.addf"(%arg0, %arg1)' in run("dis", "good.tileirbc", "--generic").out
    assert "loc(unknown)" in run("dis", "-g", "good.tileirbc").out
    assert run("dis", "--asm-style", "tileiras", "good.tileirbc").code == 0
    assert run("dis", "--asm-style=public", "--", "good.tileirbc") == (0, TEXT, "")


def test_dis_prints_an_invalid_module_only_on_demand(run: Run, folder: Path) -> None:
    data = (folder / "good.tileirbc").read_bytes()
    # The name of the kernel; the verifier knows that no two symbols share one.
    twice = tilewright.read("entry @add() {\n return\n}\nentry @ade() {\n return\n}\n")
    wrong = tilewright.write_bytecode(twice).replace(b"ade", b"add")
    assert run("dis", stdin=data).code == 0
    assert run("dis", stdin=wrong).code == 1
    assert run("dis", "--no-verify", stdin=wrong).out.count("entry @add()") == 2


def test_verify_is_silent(run: Run) -> None:
    assert run("verify", "good.mlir") == (0, "", "")
    assert run("verify", "good.tileirbc") == (0, "", "")
    assert run("verify", "new.mlir") == (0, "", "")
    assert run("verify", "new.mlir", "--tile-version", "13.1").code == 1


def test_opt_runs_passes(run: Run, folder: Path) -> None:
    result = run("opt", "good.mlir", "--pass", "dce", "--verify-each", "--timing")
    assert result.code == 0
    assert "addf" not in result.out
    assert "dce" in result.err


def test_opt_warns_of_a_deprecated_pass_name(run: Run) -> None:
    current = run("opt", "good.mlir", "--pass", "expand-dots")
    former = run("opt", "good.mlir", "--pass", "expand-products")
    assert (former.code, former.out, current.err) == (0, current.out, "")
    assert "warning: pass 'expand-products' is deprecated: use 'expand-dots'" in former.err


def test_opt_without_passes_changes_nothing(run: Run, folder: Path) -> None:
    result = run("opt", "good.mlir")
    before = tilewright.read((folder / "good.mlir").read_text())
    assert equivalent(before, tilewright.read(result.out))


def test_opt_emits_bytecode(run: Run, folder: Path) -> None:
    assert run("opt", "good.mlir", "--emit", "bytecode", "-o", "out").code == 0
    assert (folder / "out").read_bytes() == (folder / "good.tileirbc").read_bytes()


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
def test_opt_levels(run: Run, level: str) -> None:
    result = run("opt", "good.tileirbc", level)
    assert result.code == 0
    assert ("addf" in result.out) == (level == "-O0")


def test_opt_prints_after_every_pass(run: Run) -> None:
    result = run("opt", "good.mlir", "--pass=cse,dce", "--print-after-all")
    assert result.err.index("after cse") < result.err.index("after dce")
    assert result.err.count("cuda_tile.module @kernels {") == 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_each_command(run: Run, command: str, option: str) -> None:
    code, out, err = run(*command.split(), option)
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: tilewright {command} ")
    assert "example" in out
    options, _, _ = out.partition("example")
    assert max(map(len, options.splitlines())) <= 100


@pytest.mark.parametrize("output", ["closed", "full", "head"])
@pytest.mark.parametrize("arguments", [["--help"], ["cache"], ["compile", "--help"]])
def test_output_without_a_reader(folder: Path, output: str, arguments: list[str]) -> None:
    shell = {"closed": '"$@" >&-', "full": '"$@" >/dev/full', "head": '"$@" | true'}[output]
    done = subprocess.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-c",
            shell,
            "-",
            sys.executable,
            "-m",
            "tilewright",
            *arguments,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "TILEWRIGHT_CACHE_DIR": str(folder / "cache")},
    )
    reasons = {"closed": "Bad file descriptor", "full": "No space left on device"}
    lost = f"tilewright: error: cannot write standard output: {reasons.get(output)}\n"
    assert (done.returncode, done.stderr) == ((0, "") if output == "head" else (2, lost))


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], ["ptx", "--help"]])
def test_help_lists_the_commands(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    for name in ("as", "dis", "verify", "opt", "Exit codes"):
        assert f"\n  {name} " in out or f"\n{name}" in out


def test_help_of_opt_lists_the_passes(run: Run) -> None:
    out = run("opt", "--help").out
    for name in ("canonicalize", "cse", "dce", "fold", "fuse-fma", "licm", "loop-split"):
        assert name in out


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["compile", "--version"]])
def test_version(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"tilewright {tilewright.__version__}"
    assert [line.split()[0].rstrip(":") for line in out.splitlines()[1:]] == [
        "LLVM",
        "ptxas",
        "libdevice",
    ]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "tilewright"],
        [str(Path(sys.executable).with_name("tilewright"))],
    ],
    ids=["module", "script"],
)
def test_as_a_process(folder: Path, command: list[str]) -> None:
    done = subprocess.run([*command, "dis", "good.tileirbc"], capture_output=True, check=False)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, TEXT, b"")
    failed = subprocess.run([*command, "dis", "nope"], capture_output=True, check=False)
    assert (failed.returncode, failed.stdout) == (2, b"")
    assert b"Traceback" not in failed.stderr


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    script = f'"{sys.executable}" -m tilewright dis good.tileirbc | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, text=True)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def test_opt_reads_the_output_of_dis(run: Run, folder: Path) -> None:
    (folder / "text.mlir").write_text(TEXT)
    assert run("opt", "text.mlir", "--emit", "bytecode", "-o", "out") == (0, "", "")
    assert run("dis", "out") == (0, TEXT, "")


def test_opt_writes_bytecode_of_merged_operations(run: Run, folder: Path) -> None:
    """Merged operations have fused locations, which bytecode cannot hold."""
    text = """\
entry @widen(%x: tile<i8>, %y: tile<ptr<i32>>) {
  %a = exti %x signed : tile<i8> -> tile<i16>
  %b = exti %a signed : tile<i16> -> tile<i32>
  %t = store_ptr_tko weak %y, %b : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
    (folder / "merge.mlir").write_text(text)
    assert "fused[" in run("opt", "merge.mlir", "-O1", "-g").out
    assert run("opt", "merge.mlir", "-O1", "--emit=bytecode", "-o", "out") == (0, "", "")
    assert "%0 = exti %arg0 signed : tile<i8> -> tile<i32>" in run("dis", "out").out


def test_as_warns_of_attributes_without_an_encoding(run: Run, folder: Path) -> None:
    text = (folder / "good.mlir").read_text().replace(" : tile<f32>\n", " {foo.bar} : tile<f32>\n")
    (folder / "more.mlir").write_text(text)
    result = run("as", "more.mlir", "-o", "out")
    assert result.code == 0
    assert "more.mlir:3:12: warning: 'cuda_tile.addf' op attribute 'foo.bar'" in result.err


def test_dis_annotates_the_bytes(run: Run, folder: Path) -> None:
    code, out, err = run("dis", "good.tileirbc", "--annotate")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["offset", "bytes", "section", "meaning"]
    assert (
        b"".join(bytes.fromhex(line[10:33]) for line in lines[1:])
        == (folder / "good.tileirbc").read_bytes()
    )
    assert any("%2 = addf %0, %1" in line for line in lines)
    assert run("dis", "truncated.tileirbc", "--annotate").code == 1


def test_examples_are_listed_printed_and_copied(run: Run, folder: Path) -> None:
    originals = {path.name: path.read_bytes() for path in EXAMPLES.iterdir()}
    code, out, err = run("examples")
    assert (code, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines()} == originals.keys()
    assert run("examples", "gemm.mlir") == (0, originals["gemm.mlir"].decode(), "")
    assert run("examples", "-o", "copies/of") == (0, "", "")
    copies = {path.name: path.read_bytes() for path in (folder / "copies" / "of").iterdir()}
    assert copies == originals


def test_an_unknown_example_is_an_error(run: Run) -> None:
    code, out, err = run("examples", "nope.mlir")
    assert (code, out) == (2, "")
    assert f"expected {', '.join(examples.EXAMPLES)} or all, found 'nope.mlir'" in err
