"""Programs that NVIDIA's compiler rejects and ours accepts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tilewright
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.driver.emulate import compile_kernel

pytestmark = pytest.mark.peer

ENTRY = "aligned"
PROGRAM = Path(__file__).parent.parent / "run" / "memory" / "gather_scatter.mlir"


@pytest.mark.parametrize(("arch", "status"), [("sm_80", 0), ("sm_90", 5)])
def test_gather_reduce_scatter_in_place(
    arch: str, status: int, tmp_path: Path, nvidia_tools: Path
) -> None:
    """When a newer tileiras accepts the program, drop this test and keep the program."""
    module = tilewright.read(PROGRAM)
    alone = module.clone()
    for entry in list(alone.walk()):
        if isinstance(entry, EntryOp) and entry.sym_name != ENTRY:
            entry.erase()
    source = tmp_path / "program.tileirbc"
    source.write_bytes(write_bytecode(alone))
    command = [nvidia_tools / "tileiras", source, "--gpu-name", arch, "-o", tmp_path / "cubin"]
    process = subprocess.run(command, capture_output=True, check=False)
    assert process.returncode == status
    assert ".entry aligned" in compile_kernel(module, ENTRY, arch)
