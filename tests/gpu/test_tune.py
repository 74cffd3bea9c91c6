"""`tilewright tune` on a GPU: times, and a record that the next compilation uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tuned_programs import enable_cache

import tilewright
from tilewright.driver.tuning.tune import Tuning

pytestmark = pytest.mark.gpu

GEMM = Path(__file__).parents[2] / "examples" / "gemm.mlir"
SIZE = 512


@pytest.mark.parametrize("top", [0, 2])
def test_a_gemm_is_tuned(top: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enable_cache(tmp_path / "cache", monkeypatch)
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
    values = [a, b, np.zeros((SIZE, SIZE), np.float32), SIZE, SIZE, SIZE]
    tuning = Tuning(GEMM.read_bytes(), "gemm.mlir", None, (4, 4), values, limit=10.0, top=top)
    try:
        tuning.run()
    finally:
        tuning.close()
    tuner = tuning.tuner
    assert tuner is not None
    assert tuner.winner is not None
    assert not [row.detail for row in tuner.rows.values() if row.is_bug]
    assert min(row.cost for row in tuner.rows.values() if row.cost is not None) > 1.0
    assert tuning.store(lambda text: None)
    arch = tuning.device.arch
    kernel = tilewright.compile(GEMM, arch, cache=True)
    forced = tilewright.compile(GEMM, arch, schedule=tuner.winner.schedule)
    assert kernel.cubin == forced.cubin
