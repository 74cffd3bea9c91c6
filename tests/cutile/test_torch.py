"""Tensors of torch on the CPU as arguments of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
torch = pytest.importorskip("torch", reason="torch is not installed")
cutile = pytest.importorskip("tilewright.cutile")

ConstInt = ct.Constant[int]


@ct.kernel
def add(a, b, c, size: ConstInt):
    at = ct.bid(0)
    result = ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,))
    ct.store(c, (at,), result)


@ct.kernel
def widen(x, y, rows: ConstInt, columns: ConstInt):
    ct.store(y, (0, 0), ct.astype(ct.load(x, (0, 0), (rows, columns)), ct.float32))


@pytest.mark.parametrize(
    "name", "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8".split()
)
def test_every_element_type_adds_as_torch_does(name: str) -> None:
    dtype = getattr(torch, name)
    a, b = torch.arange(100).to(dtype), torch.full((100,), 3, dtype=dtype)
    c = torch.zeros(100, dtype=dtype)
    cutile.launch((7,), add, (a, b, c, 16))
    assert torch.equal(c, a + b)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "bool"])
def test_elements_that_numpy_does_not_have_are_read_as_numbers(name: str) -> None:
    x = torch.linspace(-3, 4, 16 * 8).reshape(16, 8).to(getattr(torch, name))
    y = torch.zeros(16, 8)
    cutile.launch(1, widen, (x, y, 16, 8))
    assert torch.equal(y, x.to(torch.float32))


def test_views_and_parameters_are_used_in_place() -> None:
    x = torch.nn.Parameter(torch.randn(8, 16))
    whole = torch.zeros(20, 20)
    cutile.launch(1, widen, (x.T, whole[3:19, 5:13], 16, 8))
    assert torch.equal(whole[3:19, 5:13], x.detach().T)
    assert int(torch.count_nonzero(whole)) == 128


def test_tensors_and_arrays_mix() -> None:
    a, b, c = torch.ones(16), np.full(16, 2, np.float32), torch.zeros(16)
    cutile.launch(1, add, (a, b, c, 16))
    assert c.tolist() == [3.0] * 16


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (lambda: torch.zeros(4, device="meta"), "on the CPU, got one on 'meta'"),
        (lambda: torch.zeros(4, dtype=torch.complex64), "no arrays of complex64"),
    ],
)
def test_other_tensors_are_rejected(tensor: Any, message: str) -> None:
    with pytest.raises(tilewright.UserError, match=message):
        cutile.launch(1, add, (tensor(), tensor(), tensor(), 4))
