"""Linear algebra over bits, by hand."""

from __future__ import annotations

from tilewright.layout import gf2


def test_the_support_has_every_bit_of_any_vector() -> None:
    assert gf2.support([0b0011, 0b0101, 0b10000]) == 0b10111
    assert gf2.support([]) == 0


def test_the_support_is_not_the_sum() -> None:
    """Equal vectors cancel in a sum; their bits stay in the support."""
    assert gf2.combine([0b11, 0b11], 0b11) == 0
    assert gf2.support([0b11, 0b11]) == 0b11
