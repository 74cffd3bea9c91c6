"""Bad input as a new user would try it: one clear error, the documented code, no output file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command_line import Run

from tilewright.driver import cli
from tilewright.driver.cli import verify as verify_command

WRONG_PROGRAM = 1
WRONG_USAGE = 2
UNSUPPORTED = 3
OUR_BUG = 70

TEXTS = {
    "empty": (r"empty: byte 0 (0x0): error: expected Tile IR text", "found an empty file"),
    "mlir.bc": ("mlir.bc: byte 0 (0x0): error: expected Tile IR text", "found MLIR bytecode"),
    "random": ("random: byte 0 (0x0): error: expected Tile IR text", "found binary data"),
    "unknown.mlir": ("unknown.mlir:3:12: error: unknown operation 'frobnicate'",),
    "mismatch.mlir": (
        "mismatch.mlir:3:21: error: value '%b' has type !cuda_tile.tile<f16>, but is used as "
        "!cuda_tile.tile<f32>",
        "\nmismatch.mlir:2:29: note: defined here\n",
    ),
    "wrong_types.mlir": (
        "wrong_types.mlir:3:12: error: 'cuda_tile.addf' op operand #0 must be tile of f16, bf16, "
        "f32 or f64, but got '!cuda_tile.tile<i32>'",
    ),
    "open.mlir": (
        "open.mlir:2:44: error: expected '}' to close this '{', got end of input\n"
        "  entry @add(%a: tile<f32>, %b: tile<f32>) {\n" + " " * 43 + "^",
    ),
    "toy.mlir": ("toy.mlir:2:3: error: unknown operation 'toy.func'",),
}

BYTECODE = {
    "empty": ("empty: byte 0 (0x0): error: expected Tile IR bytecode, found an empty file",),
    "mlir.bc": ("mlir.bc: byte 0 (0x0): error: expected Tile IR bytecode, found MLIR bytecode",),
    "random": ("random: byte 0 (0x0): error: expected Tile IR bytecode",),
    "good.mlir": (
        "good.mlir: byte 0 (0x0): error: expected Tile IR bytecode, found text",
        "`tilewright as`",
    ),
    "truncated.tileirbc": ("truncated.tileirbc: byte ", " error: expected"),
    "header.tileirbc": ("header.tileirbc: byte 0 (0x0): error: expected a header of 12 bytes",),
    "future.tileirbc": (
        "future.tileirbc: byte 8 (0x8): error: expected a bytecode version from 13.1 to 13.5, "
        "found 13.99",
    ),
}


def check(run: Run, folder: Path, arguments: list[str], code: int, parts: tuple[str, ...]) -> None:
    """Check that the command fails so, and neither creates nor changes its output file."""
    for before in (None, b"precious"):
        output = folder / "output"
        if before is not None:
            output.write_bytes(before)
        result = run(*arguments, "-o", "output")
        assert (result.code, result.out) == (code, "")
        assert result.err.count("error:") == 1
        assert "Traceback" not in result.err
        assert all(part in result.err for part in parts), result.err
        assert (output.read_bytes() if output.exists() else None) == before
        assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("command", ["as", "opt"])
@pytest.mark.parametrize("name", TEXTS)
def test_text(run: Run, folder: Path, command: str, name: str) -> None:
    check(run, folder, [command, name], WRONG_PROGRAM, TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_text_to_verify(run: Run, name: str) -> None:
    code, out, err = run("verify", name)
    assert (code, out, err.count("error:")) == (WRONG_PROGRAM, "", 1)
    assert all(part in err for part in TEXTS[name])


@pytest.mark.parametrize("name", BYTECODE)
def test_bytecode(run: Run, folder: Path, name: str) -> None:
    check(run, folder, ["dis", name], WRONG_PROGRAM, BYTECODE[name])


@pytest.mark.parametrize("name", [name for name in BYTECODE if name.endswith("tileirbc")])
def test_bytecode_to_opt(run: Run, folder: Path, name: str) -> None:
    check(run, folder, ["opt", name], WRONG_PROGRAM, BYTECODE[name])


def test_bytecode_to_as(run: Run, folder: Path) -> None:
    parts = ("good.tileirbc: byte 0 (0x0): error: expected Tile IR text, found Tile IR bytecode",)
    check(run, folder, ["as", "good.tileirbc"], WRONG_PROGRAM, parts)


def test_an_operation_that_is_too_new(run: Run, folder: Path) -> None:
    parts = ("new.mlir:3:12: error: 'cuda_tile.atan2' op", "13.2", "13.1")
    check(run, folder, ["as", "new.mlir", "--bytecode-version", "13.1"], WRONG_PROGRAM, parts)


def test_the_source_line_and_a_caret(run: Run) -> None:
    assert run("verify", "unknown.mlir").err == (
        "unknown.mlir:3:12: error: unknown operation 'frobnicate'\n"
        "    %sum = frobnicate %a, %b rounding<nearest_even> : tile<f32>\n"
        "           ^\n"
    )


def test_standard_input_has_a_name(run: Run) -> None:
    assert run("verify", stdin=b"nonsense").err.startswith("<stdin>:1:1: error: ")
    assert run("dis", stdin=b"\x7fTileIR\0\x0d").err.startswith("<stdin>: byte 0 (0x0): error: ")


@pytest.mark.parametrize("command", ["as", "dis", "verify", "opt"])
@pytest.mark.parametrize(
    ("name", "why"), [("nope", "No such file or directory"), ("folder", "Is a directory")]
)
def test_no_file(run: Run, command: str, name: str, why: str) -> None:
    expected = f"tilewright: error: cannot read '{name}': {why}\n"
    assert run(command, name) == (WRONG_USAGE, "", expected)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere/out", "No such file or directory"),
        ("folder", "Is a directory"),
        ("good.mlir/out", "Not a directory"),
    ],
)
def test_output_that_cannot_be_written(run: Run, folder: Path, path: str, why: str) -> None:
    result = run("dis", "good.tileirbc", "-o", path)
    assert result == (WRONG_USAGE, "", f"tilewright: error: cannot write '{path}': {why}\n")
    assert list((folder / "folder").iterdir()) == []


def test_a_full_disk(folder: Path) -> None:
    command = [sys.executable, "-m", "tilewright", "dis", "good.tileirbc"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert done.returncode == WRONG_USAGE
    assert done.stderr == (
        "tilewright: error: cannot write standard output: No space left on device\n"
    )


def test_output_over_a_link_keeps_the_link_and_the_mode(run: Run, folder: Path) -> None:
    target = folder / "target.mlir"
    target.write_text("old")
    target.chmod(0o640)
    (folder / "link.mlir").symlink_to(target)
    assert run("dis", "good.tileirbc", "-o", "link.mlir").code == 0
    assert (folder / "link.mlir").is_symlink()
    assert target.read_text().startswith("entry @add")
    assert target.stat().st_mode & 0o777 == 0o640


WRITE = """
import os, sys
from tilewright.driver.files import FileError, write_output
if os.geteuid() == 0:
    os.setuid(65534)
try:
    write_output(sys.argv[1], b"new")
except FileError as error:
    print(error, end="")
"""


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "error", "contents"),
    [
        (0o444, 0o777, "error: cannot write 'PATH': Permission denied", "old"),
        (0o666, 0o555, "", "new"),
    ],
    ids=["file", "folder"],
)
def test_output_over_a_protected_file(
    file_mode: int, folder_mode: int, error: str, contents: str
) -> None:
    """A read-only file is not replaced; a writable one needs no right to its folder."""
    with TemporaryDirectory() as name:
        target = Path(name) / "target"
        target.write_text("old")
        target.chmod(file_mode)
        Path(name).chmod(folder_mode)
        command = [sys.executable, "-c", WRITE, str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == error.replace("PATH", str(target))
        assert target.read_text() == contents
        Path(name).chmod(0o755)


def test_output_with_the_longest_name(run: Run, folder: Path) -> None:
    name = "k" * os.pathconf(folder, "PC_NAME_MAX")
    assert run("dis", "good.tileirbc", "-o", name) == (0, "", "")
    assert (folder / name).read_text().startswith("entry @add")


def test_output_to_a_special_file(run: Run) -> None:
    assert run("dis", "good.tileirbc", "-o", "/dev/null") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dis", "--frob", "x"], "tilewright dis: error: unknown option '--frob'"),
        (["dis", "--generics"], "unknown option '--generics'; did you mean '--generic'?"),
        (["dis", "-x"], "tilewright dis: error: unknown option '-x'"),
        (["dis", "-o"], "tilewright dis: error: option '-o' needs a value: FILE"),
        (["dis", "a", "b"], "tilewright dis: error: expected one FILE, found 2: a b"),
        (["dis", "--generic=1"], "error: option '--generic' takes no value, found '1'"),
        (["dis", "--asm-style", "x"], "'--asm-style': expected one of public, tileiras, found 'x'"),
        (
            ["as", "--bytecode-version=12.0"],
            "expected one of 13.1, 13.2, 13.3, 13.4, 13.5, found '12.0'",
        ),
        (["opt", "-O9"], "option '-O': expected one of 0, 1, 2, 3, found '9'"),
        (["frob"], "tilewright: error: expected a command (as, dis, verify, opt"),
        (["--frob"], "), found '--frob'"),
        (["compil", "x"], "), found 'compil'; did you mean 'compile'?"),
    ],
)
def test_wrong_command_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (WRONG_USAGE, "")
    assert message in err


def test_nothing_at_all(run: Run) -> None:
    code, out, err = run()
    assert (code, out) == (WRONG_USAGE, "")
    assert err.startswith("usage: tilewright COMMAND")


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("frob", "<pipeline>:1:1: error: unknown pass 'frob': expected one of allocate, "),
        ("cse,", "<pipeline>:1:5: error: expected a pass or an operation"),
        ("cse{x=1}", "<pipeline>:1:5: error: unknown option 'x' of pass 'cse'"),
        ("cuda_tile.entry(cse", "<pipeline>:1:20: error: expected ',' or ')'"),
        ("", "<pipeline>:1:1: error: expected a pass or an operation"),
    ],
)
def test_wrong_passes(run: Run, folder: Path, pipeline: str, message: str) -> None:
    check(run, folder, ["opt", "good.mlir", "--pass", pipeline], WRONG_USAGE, (message,))


def test_a_file_expected_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert cli.main(["dis"]) == WRONG_USAGE


def test_a_bug_of_ours_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(verify_command, "verify", broken)
    code, out, err = run("verify", "good.mlir")
    assert (code, out) == (OUR_BUG, "")
    assert "RuntimeError: surprise" in err
    assert "This is a bug in Tilewright, not in your program" in err


def test_unsupported_features(run: Run, folder: Path) -> None:
    (folder / "resources.mlir").write_text(
        "entry @f() {\n  return\n}\n{-# dialect_resources: {} #-}"
    )
    code, out, err = run("verify", "resources.mlir")
    assert (code, out) == (UNSUPPORTED, "")
    assert "unsupported: resources in the text" in err


def test_a_duplicate_symbol_is_reported_where_it_is_repeated(run: Run, folder: Path) -> None:
    (folder / "twice.mlir").write_text("entry @k() {\n  return\n}\n  entry @k() { return }\n")
    assert run("verify", "twice.mlir").err == (
        "twice.mlir:4:3: error: 'cuda_tile.entry' op redefinition of symbol 'k'\n"
        "  entry @k() { return }\n  ^\n"
        "twice.mlir:1:1: note: 'k' is defined here first\nentry @k() {\n^\n"
    )


def test_an_unknown_suffix_of_the_output(run: Run, folder: Path) -> None:
    code, out, err = run("compile", "good.mlir", "-o", "x.foo")
    assert (code, out) == (WRONG_USAGE, "")
    assert err.splitlines()[0] == (
        "tilewright compile: error: option '-o': expected a suffix that names what to write, one "
        "of .ll (llvm), .ptx (ptx), .cubin (cubin), .sass (sass), or --emit, found '.foo'"
    )
    assert not (folder / "x.foo").exists()
    assert run("compile", "good.mlir", "-o", "x.foo", "--emit", "nvvm").code == 0


@pytest.mark.parametrize("command", sorted(set(cli.COMMANDS) - {"nvcc"}))
def test_every_command_knows_its_version(run: Run, command: str) -> None:
    """But for `nvcc`, whose arguments are nvcc's."""
    expected = run("--version")
    assert run(*command.split(), "--version") == expected
    assert expected.out.startswith("tilewright ")
    assert "--version" in run(*command.split(), "--help").out


def test_the_assembler_says_which_locations_it_drops(run: Run, folder: Path) -> None:
    text = 'entry @k() {\n  return loc("k.py":3:4)\n} loc("k.py":1:2)\n'
    (folder / "plain.mlir").write_text(text)
    code, out, err = run("as", "plain.mlir", "-o", "plain.tileirbc")
    assert (code, out) == (0, "")
    assert err.startswith(
        "k.py:1:3: warning: bytecode has locations with a debug scope only: 2 locations are "
        "dropped; `tilewright opt --pass synthesize-debug-info-scopes` adds scopes"
    )
    scopes = ("--pass", "synthesize-debug-info-scopes", "-g", "-o", "scoped.mlir")
    assert run("opt", "plain.mlir", *scopes).code == 0
    assert run("as", "scoped.mlir", "-o", "scoped.tileirbc") == (0, "", "")
    assert '"k.py":3:4' in run("dis", "-g", "scoped.tileirbc").out
    assert run("as", "good.mlir", "-o", "good.tileirbc") == (0, "", "")


@pytest.mark.parametrize(("value", "actual"), [("", "found none"), ("sm_1", "found 'sm_1'")])
def test_the_pass_option_is_named(run: Run, value: str, actual: str) -> None:
    name = "convert-cuda-tile-to-tileaa"
    options = f"{{compute-capability={value}}}" if value else ""
    code, _, err = run("opt", "good.mlir", "--pass", f"{name}{options}")
    assert code == WRONG_PROGRAM
    assert "note: pass option 'compute-capability': expected one of sm_80, " in err
    assert f"{actual}; write --pass '{name}{{compute-capability=sm_90}}'" in err


@pytest.mark.parametrize("command", ["compile", "run", "verify", "tune", "opt", "dis"])
def test_python_programs_are_no_tile_ir(command: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "softmax.py"
    path.write_text("import cuda.tile as ct\n")
    code, out, err = run(command, str(path))
    assert (code, out) == (WRONG_PROGRAM, "")
    error, *notes = err.splitlines()
    assert error == f"error: expected Tile IR, found the Python program '{path}'"
    assert len(notes) == 3
    for note, text in zip(
        notes,
        (f"tilewright explain {path}", f"python -m tilewright.cutile {path}", "TILEWRIGHT_DUMP="),
        strict=True,
    ):
        assert note.startswith("note: ")
        assert text in note


def test_python_programs_that_are_missing(run: Run, tmp_path: Path) -> None:
    code, _, err = run("verify", str(tmp_path / "none.py"))
    assert code == WRONG_USAGE
    assert "cannot read" in err
