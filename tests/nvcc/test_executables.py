"""Programs with host code: `<<<grid>>>` launches, linked by nvcc."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tilewright.emit.note import own_note, read_note

MAGIC = b"\x7fELF"
NO_GPU = 77
"""The exit code of the program without a GPU."""


def test_an_executable_has_our_cubin(nvcc, tmp_path: Path) -> None:
    done = nvcc("launch", "-o", "program", "-no-compress")
    assert (done.returncode, done.stderr) == (0, "")
    section = ELFFile(io.BytesIO((tmp_path / "program").read_bytes())).get_section_by_name(
        ".nv_fatbin"
    )
    assert section is not None
    cubins = [MAGIC + part for part in section.data().split(MAGIC)[1:]]
    # The other one is that of functions outside of tile kernels, which ptxas made.
    assert own_note() in [read_note(cubin) for cubin in cubins]
    ran = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) in [(NO_GPU, "no GPU\n"), (0, "done\n")]
