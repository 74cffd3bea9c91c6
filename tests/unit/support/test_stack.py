"""The limit of frames grows on demand, and is restored after the last use."""

from __future__ import annotations

import sys

import pytest

from tilewright.support.stack import DeepRecursion

USUAL = sys.getrecursionlimit()


def test_the_limit_grows_inside_only() -> None:
    with DeepRecursion():
        assert sys.getrecursionlimit() == USUAL
        DeepRecursion.need(USUAL + 500)
        assert sys.getrecursionlimit() == USUAL + 500
        DeepRecursion.need(USUAL + 200)
        assert sys.getrecursionlimit() == USUAL + 500
    assert sys.getrecursionlimit() == USUAL


def test_the_last_one_out_puts_it_back() -> None:
    first, second = DeepRecursion(), DeepRecursion()
    first.__enter__()
    DeepRecursion.need(USUAL + 500)
    second.__enter__()
    first.__exit__()
    assert sys.getrecursionlimit() == USUAL + 500
    second.__exit__()
    assert sys.getrecursionlimit() == USUAL


def test_an_error_puts_it_back() -> None:
    def too_deep() -> None:
        DeepRecursion.need(USUAL + 500)
        raise ValueError("deep")

    with pytest.raises(ValueError, match="deep"), DeepRecursion():
        too_deep()
    assert sys.getrecursionlimit() == USUAL
