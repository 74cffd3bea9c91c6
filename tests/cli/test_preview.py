"""Bytecode 13.5 and the options that come with it, on the command lines of NVIDIA's tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Result, Run
from preview_modules import chained, foreign_call, module

import tilewright
from tilewright import tileirdisasm
from tilewright.emit.elf import read_kernels
from tilewright.tileiras import run as tileiras


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a tool of ours in this process."""
    mains = {"tileiras": tileiras.main, "tileirdisasm": tileirdisasm.main}

    def run(*arguments: str, tool: str = "tileiras", stdin: bytes = b"") -> Result:
        code = mains[tool](arguments)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return run


def compiled(run: Run, folder: Path, data: bytes, *options: str) -> Result:
    source = folder / "k.tileirbc"
    source.write_bytes(data)
    return run(str(source), "--gpu-name", "sm_90", "-o", str(folder / "k.cubin"), *options)


def test_a_module_of_the_version_is_compiled(run: Run, tmp_path: Path) -> None:
    assert compiled(run, tmp_path, module(chained)).code == 0
    assert list(read_kernels((tmp_path / "k.cubin").read_bytes())) == ["k"]


def test_the_version_is_not_listed_before_its_release(run: Run) -> None:
    """Front ends pick the newest version that is listed, in the form of its release."""
    assert run("--list-versions").out.split() == ["13.1", "13.2", "13.3", "13.4"]


@pytest.mark.parametrize(
    ("options", "feature"),
    [
        (["--preview=simt"], "preview feature 'simt'"),
        (["--preview", "simt", "-l", "a.tilelib"], "preview feature 'simt'"),
        (["-l", "a.tilelib", "-l", "b.tilelib"], "library of foreign functions 'b.tilelib'"),
    ],
)
def test_options_of_foreign_calls_are_named(
    options: list[str], feature: str, run: Run, tmp_path: Path
) -> None:
    result = compiled(run, tmp_path, module(foreign_call, preview=True), *options)
    assert (result.code, result.err) == (5, f"error: unsupported: {feature}\n")
    assert not (tmp_path / "k.cubin").exists()


def test_foreign_calls_are_named_without_the_options(run: Run, tmp_path: Path) -> None:
    result = compiled(run, tmp_path, module(foreign_call))
    assert result.code == 5
    assert "error: unsupported: call of foreign function 'nvshmem_quiet'" in result.err


def test_the_disassembler_takes_the_option(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "k.tileirbc"
    source.write_bytes(module(chained, preview=True))
    result = run(str(source), "--preview=simt", tool="tileirdisasm")
    assert result.code == 0
    assert "multimem_store_view_tko" in result.out
    source.write_bytes(module(foreign_call, preview=True))
    result = run(str(source), "--preview=simt", tool="tileirdisasm")
    assert "call of foreign function 'nvshmem_quiet'" in result.err


@pytest.mark.parametrize("version", ["13.4", "13.5"])
def test_the_version_is_written_on_request(version: str) -> None:
    program = tilewright.read(module(chained))
    if version == "13.5":
        again = tilewright.read(tilewright.write_bytecode(program, version))
        assert str(again) == str(program)
    else:
        with pytest.raises(tilewright.UserError, match=r"needs version 13\.5, got 13\.4"):
            tilewright.write_bytecode(program)
