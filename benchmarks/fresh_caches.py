"""Processes that compile every kernel anew, one for each forced schedule."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Final

SCHEDULE: Final = "TILEWRIGHT_SCHEDULE"


def run_children(schedules: Iterable[str]) -> None:
    """Run this program again with `--child`, for each schedule and without caches."""
    for schedule in schedules:
        with tempfile.TemporaryDirectory() as cache:
            fresh = {"CUDA_TILE_CACHE_DIR": cache, "TILEWRIGHT_CACHE": "0", SCHEDULE: schedule}
            command = [sys.executable, *sys.argv, "--child"]
            subprocess.run(command, env={**os.environ, **fresh}, check=True)


def schedule_label() -> str:
    """The schedule that this process forces, or `chosen`."""
    return os.environ.get(SCHEDULE) or "chosen"
