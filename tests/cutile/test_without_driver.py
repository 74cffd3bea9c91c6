"""Programs that launch kernels where there is no driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from cutile_doors import python

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")


def test_launches_without_a_driver(tmp_path: Path) -> None:
    """The note follows the traceback of a program that uses cuTile, where there is no driver."""
    script = tmp_path / "program.py"
    script.write_text("import cuda.tile\nraise RuntimeError('no stream')\n")
    hidden = "import ctypes, sys, tilewright.cutile.__main__ as door; "
    for present, notes in ((True, 0), (False, 1)):
        code = f"{hidden}door._has_driver = lambda: {present}; sys.exit(door.main())"
        done = python("-c", code, str(script), cache=tmp_path / "cache")
        assert done.returncode == 1
        assert "RuntimeError: no stream\n" in done.stderr
        assert done.stderr.count("note: this machine has no NVIDIA driver") == notes
