"""A short run of the cache stress test passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.corpus
def test_a_short_run(ptxas: Path) -> None:
    options = ["--processes", "2", "--modules", "2", "--kills", "1"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "cache_stress.py"), *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 processes at a time, " in done.stdout
    assert "no damaged entry, no wrong cubin, no leftover files" in done.stdout
