"""What we write, NVIDIA's tools read, in every version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import VERSIONS
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import parse_module
from tilewright.driver.disassembly import disassemble
from tilewright.support.diagnostics import UserError

ROOT = Path(__file__).parents[3]
PROGRAMS = [*sorted((ROOT / "tests" / "programs").glob("*.mlir")), ROOT / "examples" / "gemm.mlir"]


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.peer
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_disassembler_prints_what_we_print(path: Path, nvidia_tools: Path, tmp_path) -> None:
    module = parse_module(path.read_text(), path.name)
    written = 0
    for version in VERSIONS:
        try:
            data = write_bytecode(module, version)
        except UserError:
            continue
        file = tmp_path / f"{version[1]}.tileirbc"
        file.write_bytes(data)
        written += 1
        for debug in (False, True):
            options = ["-g"] if debug else []
            expected = run(nvidia_tools / "tileirdisasm", *options, file)
            assert disassemble(read_bytecode(data), debug=debug) == expected
    assert written > 0


@pytest.mark.peer
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.sampled(2)
def test_the_compiler_takes_every_version(version, nvidia_tools: Path, tmp_path) -> None:
    path = ROOT / "examples" / "gemm.mlir"
    file, cubin = tmp_path / "gemm.tileirbc", tmp_path / "gemm.cubin"
    file.write_bytes(write_bytecode(parse_module(path.read_text(), path.name), version))
    run(nvidia_tools / "tileiras", "--gpu-name", "sm_90", file, "-o", cubin)
    assert cubin.read_bytes().startswith(b"\x7fELF")
