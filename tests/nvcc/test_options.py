"""Options of nvcc that reach our compiler."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tilewright.emit.note import own_note, read_note

MAGIC = b"\x7fELF"
CUBIN = ["--tilecubin", "-o", "k.cubin"]


def sections(cubin: bytes) -> dict[str, int]:
    return {each.name: each["sh_size"] for each in ELFFile(io.BytesIO(cubin)).iter_sections()}


def test_lines_for_profilers(nvcc, tmp_path: Path) -> None:
    assert nvcc("control_flow", *CUBIN, "-lineinfo").returncode == 0
    cubin = (tmp_path / "k.cubin").read_bytes()
    assert read_note(cubin) == own_note()
    lines = ELFFile(io.BytesIO(cubin)).get_section_by_name(".debug_line")
    assert lines is not None
    assert b"control_flow.cu" in lines.data()
    assert ".debug_info" not in sections(cubin)


def test_variables_for_debuggers(nvcc, tmp_path: Path) -> None:
    assert nvcc("control_flow", *CUBIN, "-G").returncode == 0
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
    targets = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in ("80", "100")]
    done = nvcc("print", "--tilefatbin", "-o", "k.fatbin", "-no-compress", *targets)
    assert (done.returncode, done.stderr) == (0, "")
    data = (tmp_path / "k.fatbin").read_bytes()
    cubins = [MAGIC + part for part in data.split(MAGIC)[1:]]
    notes = [read_note(cubin) for cubin in cubins]
    assert notes == [own_note()] * 3
    assert len(set(cubins)) == 3


def test_options_for_our_compiler(nvcc, tmp_path: Path) -> None:
    refused = nvcc("print", *CUBIN, "-Xtileiras", "--nothing")
    assert refused.returncode != 0
    assert "tileiras: Unknown command line argument '--nothing'" in refused.stderr
    assert not (tmp_path / "k.cubin").exists()
    done = nvcc("print", *CUBIN, "-Xtileiras", "--remarks=all")
    assert done.returncode == 0
    assert "RemarkKernelResources" in done.stdout


@pytest.mark.parametrize("option", [["-w"], ["--Werror", "all-warnings"]], ids=" ".join)
def test_warning_options(nvcc, tmp_path: Path, option: list[str]) -> None:
    done = nvcc("shapes", *CUBIN, *option)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_note((tmp_path / "k.cubin").read_bytes()) == own_note()


def test_dependency_files_name_headers_of_the_toolkit(nvcc, tmp_path: Path) -> None:
    """Not those of the temporary folder, which make would look for."""
    assert nvcc("print", *CUBIN, "-MD", "-MF", "k.d").returncode == 0
    words = (tmp_path / "k.d").read_text().replace("\\\n", " ").split()[2:]
    assert any(word.endswith("/cuda_tile.h") for word in words)
    assert all(Path(word).exists() for word in words)
