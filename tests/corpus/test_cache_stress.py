"""A short run of the cache stress test passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repeats import EXHAUSTIVE

ROOT = Path(__file__).parents[2]


@EXHAUSTIVE  # takes seven seconds
@pytest.mark.corpus
def test_a_short_run(ptxas: Path) -> None:
    options = ["--processes", "3", "--modules", "4", "--kills", "2"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "cache_stress.py"), *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 processes at a time, " in done.stdout
    assert "no damaged entry, no wrong cubin, no leftover files" in done.stdout
