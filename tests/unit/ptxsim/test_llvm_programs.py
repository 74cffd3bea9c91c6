"""Code of LLVM's NVPTX back end, against Python's integers and NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from program_table import PTX

from tilewright.ptxsim import Module

binding = pytest.importorskip("llvmlite.binding")
SOURCE = PTX / "operations.ll"


@functools.cache
def text(architecture: str) -> str:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(SOURCE.read_text())
    target = binding.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu=architecture, opt=3, features="+ptx86")
    return machine.emit_assembly(module)


@pytest.fixture(params=["sm_80", "sm_90"])
def module(request: pytest.FixtureRequest) -> Module:
    return Module(text(request.param), "operations.ptx")


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def integers(x: int) -> list[int]:
    """Compute the results of the kernel `ints` for a 64-bit integer."""
    bits = x % 2**64
    low, high = bits % 2**32, bits >> 32
    a, b = signed(low, 32), signed(high, 32)
    turned = (low << 32 | high) << (high % 32) >> 32 & 0xFFFFFFFF
    shifted = (bits << 64 | turned) >> (high % 64) & (2**64 - 1)
    zeros = (bits & -bits).bit_length() - 1 if bits else 64
    reverse = int(f"{low % 2**16:016b}"[::-1], 2)
    square = x * x
    remainder = abs(x) % (high | 1) * (1 if x > 0 else -1)
    return [
        turned, shifted, 32 - low.bit_length() + 100 * zeros + 10000 * bits.bit_count(),
        signed(reverse, 16), int.from_bytes(bits.to_bytes(8, "little"), "big"),
        min(max(a + b, -(2**31)), 2**31 - 1), max(low % 256 - high % 256, 0),
        square // (low | 3), remainder, 7 if low * high >= 2**32 else 9,
    ]  # fmt: skip


def test_integers(module: Module) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-(2**63), 2**63, 64) >> rng.integers(0, 63, 64)
    x[0] = 0
    y = np.zeros((64, 16), np.int64)
    module.launch("ints", 1, 64, [x, y])
    for value, row in zip(x.tolist(), y.tolist(), strict=True):
        assert row[:10] == [signed(wanted, 64) for wanted in integers(value)], value


def test_floats(module: Module) -> None:
    x = np.array([[1.5, 2.5], [-3.25, 0.5], [30000, -2.0], [0.1, 0.3], [2, 2], [0, -1], [7.5, 2]])
    x = x.astype(np.float32)
    y = np.zeros((len(x), 12), np.float32)
    module.launch("floats", 1, len(x), [x, y])
    a, b = x.T
    narrow = x.astype(np.float16)
    exact = narrow.astype(np.float64) ** 2 + narrow.astype(np.float64)
    with np.errstate(over="ignore"):
        packed = exact.astype(np.float16)
    np.testing.assert_array_equal(y[:, 0].copy().view(np.float16).reshape(-1, 2), packed)
    different = (a == b) != (a != 0)
    rows = [
        np.minimum(a, b), np.maximum(a, b), np.floor(a) + np.rint(b), np.copysign(np.abs(a), b),
        np.where(different, 1, 2), a / b,
    ]  # fmt: skip
    for column, wanted in zip((2, 3, 5, 6, 7, 8), rows, strict=True):
        np.testing.assert_array_equal(y[:, column], wanted.astype(np.float32))
    whole = np.clip(np.trunc(a.astype(np.float64)), -(2**31), 2**31 - 1).astype(np.int32)
    np.testing.assert_array_equal(y[:, 4].copy().view(np.int32), whole)
    np.testing.assert_array_equal(y[:, 10], different.astype(np.float32))
    np.testing.assert_allclose(y[:, 9], np.fmod(a, b), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_atomics_and_memory(module: Module, seed: int) -> None:
    """Atomic add, increment that wraps at 20, floating-point add, `nand`, and byte maximum."""
    x, y = np.zeros(8, np.uint32), np.zeros(8 + 40 * 32, np.uint8)
    module.launch("atomics", 1, 32, [x, y], seed=seed)
    assert x[[0, 1, 4, 6]].tolist() == [496, 32 % 21, 31, 31]
    assert x[2:3].view(np.float32)[0] == 496
    copies = y[8:].reshape(32, 40)
    expected = np.where(np.arange(40) == np.arange(32)[:, None], 9, 5)
    np.testing.assert_array_equal(copies, expected)
