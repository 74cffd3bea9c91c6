"""Programs for tests of tuning, and a cache of their own."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import tilewright
from tilewright.driver import cache
from tilewright.driver.compile import Program
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.job import STAGE, Job, Trial
from tilewright.driver.tuning.kernel_digests import kernel_digests
from tilewright.driver.tuning.records import TuningRecord, record_key, record_store
from tilewright.support.identity import identity
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


def record_of(kernel: str, schedule: str, **changes: Any) -> TuningRecord:
    """A record with a schedule."""
    record = TuningRecord(
        kernel,
        "sm_90",
        schedule,
        "gpu",
        "µs",
        "NVIDIA H200",
        10.0,
        12.5,
        20,
        3.5,
        "2026-11-16",
        identity(),
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


ADD: Final = """\
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %offsets = iota : tile<128xi32>
    %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %x2 = broadcast %x1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %xs = offset %x2, %offsets : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %y1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %y2 = broadcast %y1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %ys = offset %y2, %offsets : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %a, %t0 = load_ptr_tko weak %xs : tile<128xptr<f32>> -> tile<128xf32>, token
    %b, %t1 = load_ptr_tko weak %ys : tile<128xptr<f32>> -> tile<128xf32>, token
    %sum = addf %a, %b rounding<nearest_even> : tile<128xf32>
    %t2 = store_ptr_tko weak %ys, %sum : tile<128xptr<f32>>, tile<128xf32> -> token
    return
  }
}
"""
"""y += x for 128 elements."""


def add_job(program: str = ADD, meter: str = "model", **changes: Any) -> Job:
    """The job of a kernel with the arguments of `ADD`."""
    values = [np.arange(128, dtype=np.float32), np.ones(128, np.float32)]
    job = Job("job", program.encode(), "add.mlir", "add", "sm_90", "kernel", (1,), values,
              meter, b"")  # fmt: skip
    return job._replace(default=packed(job, program))._replace(**changes)


def packed(job: Job, program: str, schedule: str = "") -> bytes:
    """A program, compiled with a schedule for a job."""
    return Program(program).compiled(job.settings(schedule), STAGE).pack()


def serve_until_killed(pipe: Any, job: Job) -> None:
    """A bench that starts, and never answers."""
    pipe.send(("done", "started"))
    time.sleep(600)


def serve_and_exit(pipe: Any, job: Job) -> None:
    """A bench whose process ends at the first request."""
    pipe.send(("done", "started"))
    pipe.recv()
    os._exit(1)


def serve_faults(pipe: Any, job: Job) -> None:
    """A bench all of whose kernels fault."""
    pipe.send(("done", "started"))
    while True:
        pipe.recv()
        pipe.send(("done", Trial(problem=f"fault in {os.getpid()}", is_bug=True, is_fatal=True)))
