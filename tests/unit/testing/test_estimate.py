"""Error estimates: bounds by hand, and f32 kernels within the bounds, which are not loose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.types import F16, F32, F64, TF32
from tilewright.testing.estimate import Estimate, apply, given, maximum
from tilewright.testing.formulas import Complex, attention, fourier, layer_norm, softmax

U = 2.0**-24
SLACK = 1 + 2.0**-18


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def test_elements_are_exact() -> None:
    x = given(np.array([1.5, -2.0], np.float16))
    assert x.element is F16
    assert x.value.tolist() == [1.5, -2.0]
    assert x.error.tolist() == [0, 0]


def test_add_is_rounded_once() -> None:
    one = Estimate([1.0], 0.25)
    result = one + Estimate([2.0], 0.5)
    assert result.value.tolist() == [3.0]
    assert result.error[0] == pytest.approx(0.75 + 2 * U)


def test_errors_of_mul() -> None:
    result = Estimate([3.0], 0.5) * Estimate([-2.0], 0.25)
    assert result.error[0] == pytest.approx(3 * 0.25 + 0.5 * 2.25, rel=1e-6)


def test_errors_of_div() -> None:
    result = Estimate([6.0]) / Estimate([2.0], 1.0)
    assert result.error[0] == pytest.approx(3.0, rel=1e-6)  # 6 / (2 - 1) - 6 / 2
    assert np.isinf((Estimate([6.0]) / Estimate([2.0], 2.0)).error[0])


def test_functions_have_documented_errors() -> None:
    power = apply("exp", Estimate([0.0]))
    assert power.error[0] == pytest.approx(2.5 * 2.0**-23, rel=1e-5)
    moved = apply("exp", Estimate([1.0], 0.5))
    assert moved.error[0] == pytest.approx(np.exp(1.5) - np.exp(1.0), rel=1e-5)
    assert apply("sqrt", Estimate([4.0])).error[0] == pytest.approx(2.0**-23, rel=1e-5)
    with pytest.raises(ValueError, match="without errors"):
        apply("cosh", Estimate([1.0], 0.5))


def test_rounding_to_a_narrower_type() -> None:
    x = Estimate([1.0 + 2.0**-20]).rounded(F16)
    assert x.error[0] <= 2.0**-11 * SLACK
    assert x.rounded(F16) is x
    with pytest.raises(ValueError, match="expected numbers of f16, got f32"):
        _ = x + Estimate([1.0])


def test_the_bound_of_a_dot() -> None:
    a, b = Estimate([[1.0, -2.0]]), Estimate([[3.0], [4.0]])
    assert (a @ b).error.tolist() == [[3 * U * 11]]
    assert (given(np.ones((1, 2))) @ given(np.ones((2, 1)))).element is F64


def test_masked_numbers_have_no_error() -> None:
    x = Estimate([1.0, 2.0], 0.5).masked(np.array([True, False]), -np.inf)
    y = apply("exp", x - x.max())
    assert y.value.tolist() == [1.0, 0.0]
    assert y.error[1] < 2.0**-140
    assert maximum(x, Estimate([0.0, 0.0], 0.75)).error.tolist() == [0.75, 0.75]


def test_differences_beyond_the_error_are_reported() -> None:
    x = Estimate([1.0, 2.0], 1e-3)
    assert x.difference(np.array([1.0005, 2.0], np.float32)) is None
    wrong = x.difference(np.array([1.0, 2.002], np.float32))
    assert wrong is not None
    assert wrong.index == (1,)
    assert Estimate([3.0]).difference(np.array([[3.0], [3.0]], np.float16)) is None


def closeness(actual: Any, wanted: Estimate) -> float:
    """Return the largest error as a fraction of its bound."""
    held = wanted.rounded(F16 if actual.dtype == np.float16 else F32)
    return float((np.abs(actual - held.value) / held.error).max())


def test_softmax_in_f32_stays_within_the_bound() -> None:
    x = normal(1, 20, 100)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    actual = powers / powers.sum(axis=1, keepdims=True)
    assert 0.005 < closeness(actual, softmax(given(x))) < 1


def test_layer_norm_in_f32_stays_within_the_bound() -> None:
    x, w, b = normal(1, 20, 100), normal(2, 100), normal(3, 100)
    centred = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5))
    wanted = layer_norm(given(x), given(w), given(b), 1e-5)
    assert 0.005 < closeness(centred * scale * w + b, wanted) < 1


def test_attention_is_a_mean_by_softmax() -> None:
    q, k, v = (normal(seed, 8, 16, dtype=np.float16) for seed in range(3))
    scale, seen = Estimate(0.25), np.tri(8, dtype=np.bool_)
    wanted = attention(given(q), given(k), given(v), scale, seen, tile=2, weights=F16)
    scores = np.where(seen, q.astype(np.float64) @ k.T.astype(np.float64) / 4, -np.inf)
    powers = np.exp(scores)
    exact = powers / powers.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.allclose(wanted.value, exact, rtol=1e-14)
    assert 0 < wanted.error.max() < 1e-2


def test_fourier_transforms() -> None:
    re, im = normal(1, 3, 64), normal(2, 3, 64)
    exact = np.fft.fft(re.astype(np.float64) + 1j * im)
    for radices in ((8, 8), (4, 2, 8), (64,)):
        actual = fourier(Complex(given(re), given(im)), radices)
        assert np.allclose(actual.real.value, exact.real, atol=1e-12)
        assert np.allclose(actual.imaginary.value, exact.imag, atol=1e-12)
        assert closeness(np.fft.fft(re + 1j * im).real.astype(np.float32), actual.real) < 1


def test_tf32_operands_widen_the_bound() -> None:
    a = given(normal(1, 4, 8))
    b = given(normal(2, 8, 4))
    assert ((a.rounded(TF32) @ b.rounded(TF32)).error > 100 * (a @ b).error).all()
