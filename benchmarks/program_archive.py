"""The archive of programs that `benchmark_programs.py` writes: reading needs no cuTile."""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from tilewright.support.diagnostics import fail

ARCHIVE: Final = Path(__file__).parent / "programs" / "programs.tar.xz"
SUFFIX: Final = ".tileirbc"


class Program(NamedTuple):
    """A kernel as bytecode."""

    name: str
    code: bytes


def packed(programs: Iterable[Program]) -> bytes:
    """An archive of programs in order, the same for the same programs."""
    tar = BytesIO()
    first: dict[bytes, str] = {}
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        names: set[str] = set()
        for program in programs:
            if program.name in names:
                fail(f"expected one program of each name, found two of '{program.name}'")
            names.add(program.name)
            member = tarfile.TarInfo(program.name + SUFFIX)
            member.mtime = 0
            original = first.setdefault(program.code, member.name)
            if original == member.name:
                member.size = len(program.code)
                archive.addfile(member, BytesIO(program.code))
            else:
                member.type, member.linkname = tarfile.LNKTYPE, original
                archive.addfile(member)
    return lzma.compress(tar.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The programs of an archive by name; equal ones under each of their names."""
    with tarfile.open(fileobj=BytesIO(data), mode="r:xz") as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive)
        return {name.removesuffix(SUFFIX): file.read() for name, file in files if file is not None}
