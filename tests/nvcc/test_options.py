"""Options of nvcc that reach our compiler."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile
from tile_cpp_tools import run_nvcc

from tilewright.emit.note import own_note, read_note

MAGIC = b"\x7fELF"
CUBIN = ["--tilecubin", "-o", "k.cubin"]


def sections(cubin: bytes) -> dict[str, int]:
    return {each.name: each["sh_size"] for each in ELFFile(io.BytesIO(cubin)).iter_sections()}


class Made(NamedTuple):
    """The process of nvcc with many options, and the files that it wrote."""

    done: subprocess.CompletedProcess[str]
    cubin: bytes
    dependencies: list[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """One run for several tests: nvcc takes a second."""
    folder = tmp_path_factory.mktemp("options")
    options = ["-lineinfo", "--Werror", "all-warnings", "-Xtileiras", "--remarks=all"]
    written = ["-MD", "-MF", f"{folder}/k.d", "--tilecubin", "-o", f"{folder}/k.cubin"]
    done = run_nvcc("control_flow", *options, *written)
    assert (done.returncode, done.stderr) == (0, "")
    dependencies = (folder / "k.d").read_text().replace("\\\n", " ").split()[2:]
    return Made(done, (folder / "k.cubin").read_bytes(), dependencies)


def test_lines_for_profilers(made: Made) -> None:
    assert read_note(made.cubin) == own_note()
    lines = ELFFile(io.BytesIO(made.cubin)).get_section_by_name(".debug_line")
    assert lines is not None
    assert b"control_flow.cu" in lines.data()
    assert ".debug_info" not in sections(made.cubin)


def test_variables_for_debuggers(nvcc, tmp_path: Path) -> None:
    done = nvcc("control_flow", *CUBIN, "-G", "-w")
    assert (done.returncode, done.stderr) == (0, "")
    info = ELFFile(io.BytesIO((tmp_path / "k.cubin").read_bytes())).get_dwarf_info(
        relocate_dwarf_sections=False
    )
    names = {
        entry.attributes["DW_AT_name"].value
        for unit in info.iter_CUs()
        for entry in unit.iter_DIEs()
        if "DW_AT_name" in entry.attributes
    }
    assert any(b"collatz" in name for name in names)


def test_one_cubin_for_each_architecture(nvcc, tmp_path: Path) -> None:
    """The fixture asks for sm_90; without compression the fatbinary has them as they are."""
    target = "-gencode=arch=compute_100,code=sm_100"
    done = nvcc("print", "--tilefatbin", "-o", "k.fatbin", "-no-compress", target)
    assert (done.returncode, done.stderr) == (0, "")
    data = (tmp_path / "k.fatbin").read_bytes()
    cubins = [MAGIC + part for part in data.split(MAGIC)[1:]]
    notes = [read_note(cubin) for cubin in cubins]
    assert notes == [own_note()] * 2
    assert len(set(cubins)) == 2


def test_options_for_our_compiler(nvcc, tmp_path: Path, made: Made) -> None:
    refused = nvcc("print", *CUBIN, "-Xtileiras", "--nothing")
    assert refused.returncode != 0
    assert "tileiras: Unknown command line argument '--nothing'" in refused.stderr
    assert not (tmp_path / "k.cubin").exists()
    assert "RemarkKernelResources" in made.done.stdout


def test_dependency_files_name_headers_of_the_toolkit(made: Made) -> None:
    """Not those of the temporary folder, which make would look for."""
    assert any(word.endswith("/cuda_tile.h") for word in made.dependencies)
    assert all(Path(word).exists() for word in made.dependencies)
