"""Kernels of cuTile Python in bytecode 13.5, which its development features write."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.driver.emulate import emulate
from tilewright.reference.launch import launch

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
signatures = pytest.importorskip("tilewright.cutile.signatures")

import cuda.tile._compile as own  # noqa: E402
from cuda.tile.compilation import export_kernel  # noqa: E402

ConstInt = ct.Constant[int]


def scaled(x, y, size: ConstInt):
    at = ct.bid(0)
    tripled = ct.zeros((size,), ct.float32)
    for _ in range(3):
        tripled += ct.load(x, (at,), (size,))
    ct.store(y, (at,), tripled)


def exported(kernel: Any, arguments: Any, version: str) -> tuple[bytes, str]:
    """The bytecode of a kernel, and its symbol."""
    code = BytesIO()
    export_kernel(
        kernel, [arguments.signature], code,
        output_format="tileir_bytecode", bytecode_version=version,
    )  # fmt: skip
    return code.getvalue(), arguments.signature.symbol


@pytest.fixture(autouse=True)
def development(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let cuTile write the version under development."""
    monkeypatch.setattr(own, "dev_features_enabled", lambda: True)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
def test_a_kernel(warps: int) -> None:
    kernel = ct.kernel(scaled, num_worker_warps=warps)
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    given = signatures.Arguments(kernel, (x, y, 32))
    data, symbol = exported(kernel, given, "13.5")
    assert data[8:10] == bytes([13, 5])
    module = tilewright.read(data)
    again = tilewright.read(tilewright.write_bytecode(module, "13.5"))
    assert str(again) == str(module)
    launch(module, symbol, (4,), given.parameters, check=True)
    assert (y == 3 * x).all()
    y[:] = 0
    emulate(module, symbol, (4,), given.parameters, arch="sm_90")
    assert (y == 3 * x).all()
    assert f".reqntid {32 * warps}" in tilewright.compile(module, "sm_90", emit="ptx").ptx


def test_other_numbers_need_the_version() -> None:
    kernel = ct.kernel(scaled, num_worker_warps=16)
    given = signatures.Arguments(kernel, (np.zeros(4, np.float32), np.zeros(4, np.float32), 4))
    with pytest.raises(ct.TileUnsupportedFeatureError, match=r"requires tileiras 13\.5"):
        exported(kernel, given, "13.4")
