"""Programs for tests of tuning, and a cache of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import tilewright
from tilewright.driver import cache
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.kernel_digests import kernel_digests
from tilewright.driver.tuning.records import TuningRecord, record_key, record_store
from tilewright.target.arch import ARCHES

SETTINGS: Final = Settings(ARCHES["sm_90"])


def enable_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Turn the cache on, in an empty folder."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder))
    monkeypatch.delenv("TILEWRIGHT_CACHE_SIZE", raising=False)
    monkeypatch.delenv("TILEWRIGHT_SCHEDULE", raising=False)
    cache._cache_at.cache_clear()
    return folder


def record_of(kernel: str, schedule: str, **changes: object) -> TuningRecord:
    """A record with a schedule."""
    record = TuningRecord(
        kernel, "sm_90", schedule, "gpu", "µs", "NVIDIA H200", 10.0, 12.5, 20, 3.5, "2026-11-16"
    )
    return record._replace(**changes)


def tune_to(program: str, schedule: str, kernel: str = "k", settings: Settings = SETTINGS) -> Path:
    """Store a record for a kernel of a program; returns its file."""
    store = record_store()
    assert store is not None
    digests = dict(kernel_digests(tilewright.read(program)))
    key = record_key(digests[kernel], settings)
    store.put(key, record_of(kernel, schedule).pack())
    [path] = Path(store.folder).glob(f"*/{key}")
    return path
