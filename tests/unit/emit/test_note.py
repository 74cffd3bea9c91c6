"""The note in cubins, read back by us and by what others wrote to read ELF files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from each_case import each_case

from tilewright import __version__
from tilewright.emit.cubin import assemble
from tilewright.emit.elf import read_kernels, read_sections
from tilewright.emit.note import Note, add_note, own_note, read_note
from tilewright.support.diagnostics import InvalidValue
from tilewright.support.identity import identity
from tilewright.target.arch import ARCHES

PTX = """\
.version 9.0
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 out)
{{
  .reg .b64 %a;
  .reg .b32 %t;
  .shared .align 4 .b8 buffer[64];
  ld.param.u64 %a, [out];
  mov.u32 %t, %tid.x;
  st.global.u32 [%a], %t;
  ret;
}}
"""
EMPTY = ".version 9.0\n.target {target}\n.address_size 64\n"
NOTE = Note("1.2.3", "0123456789abcdef")


def plain(ptxas: Path, folder: Path, text: str, name: str) -> bytes:
    """A cubin that only ptxas has touched."""
    arch = ARCHES[name]
    source, target = folder / "k.ptx", folder / "k.cubin"
    source.write_text(text.format(target=arch.ptx_target))
    subprocess.run([ptxas, f"-arch={arch.assembled_as}", source, "-o", target], check=True)
    return target.read_bytes()


@pytest.mark.parametrize("text", [PTX, EMPTY], ids=["kernel", "empty"])
@pytest.mark.parametrize("name", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_all_else_stays(name: str, text: str, ptxas: Path, tmp_path: Path) -> None:
    cubin = plain(ptxas, tmp_path, text, name)
    assert read_note(cubin) is None
    noted = add_note(cubin, NOTE)
    assert read_note(noted) == NOTE
    # The header changes where it says where the tables are; nothing else in the file does.
    assert noted[0x40 : len(cubin)] == cubin[0x40:]
    before, after = read_sections(cubin), read_sections(noted)
    assert [each.name for each in after] == [*(each.name for each in before), ".note.tilewright"]
    for old, new in zip(before, after, strict=False):
        assert old.name == ".shstrtab" or (old.data, old.kind) == (new.data, new.kind)
    assert read_kernels(noted).keys() == read_kernels(cubin).keys()


def test_readelf_reads_it(ptxas: Path, tmp_path: Path) -> None:
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is not installed")
    path = tmp_path / "noted.cubin"
    path.write_bytes(add_note(plain(ptxas, tmp_path, PTX, "sm_90"), NOTE))
    command = [readelf, "--sections", "--segments", "--notes", "--wide", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ".note.tilewright  NOTE" in shown.stdout
    assert "Tilewright" in shown.stdout.partition("found in: .note.tilewright")[2]
    assert b"1.2.3 0123456789abcdef".hex(" ") in shown.stdout
    # What ptxas itself writes makes readelf doubt one field; a wrong table would say far more.
    doubts = [line for line in shown.stderr.splitlines() if "in info field" not in line]
    assert doubts == []


def test_every_cubin_has_the_note_of_its_compiler(ptxas: Path) -> None:
    arch = ARCHES["sm_90"]
    cubin = assemble(PTX.format(target=arch.ptx_target), arch)
    assert read_note(cubin.data) == own_note() == Note(__version__, identity())


@each_case("data", [b"", b"\x7fELF", b"text", b"\x7fELF" + bytes(60)])
def test_other_data_is_no_cubin(data: bytes) -> None:
    with pytest.raises(InvalidValue, match="not a cubin"):
        read_note(data)
