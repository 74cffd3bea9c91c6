"""`tileiras` on kernels that need more than a GPU has: the words by which tuners go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run
from scratch_programs import aggregated

from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import parse_module


def test_too_much_shared_memory_is_reported_as_by_ptxas(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 64 sources, 8 warps exchange 32 lines of 8 bytes: 128 KiB, and the GPU has 48.

    A block has 16 for its registers, of which two have different columns.
    """
    # Warps exchange some sources after others, within this limit: no known program is too large.
    monkeypatch.setattr("tilewright.plans.scratch.LIMIT", 1 << 20)
    module = parse_module(aggregated("reduce", ["f64"] * 64, (128, 32)), "k.mlir")
    (folder / "large.tileirbc").write_bytes(write_bytecode(module))
    code, _, err = run("large.tileirbc", "--gpu-name=sm_80", "-o", "made", tool="tileiras")
    assert code == 5
    assert "uses too much shared data (0x20000 bytes, 0xc000 max)" in err
    assert not (folder / "made").exists()
