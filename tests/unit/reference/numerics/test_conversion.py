"""Conversions of arrays against the specification: all patterns of up to 16 bits."""

from __future__ import annotations

import numpy as np
import pytest
from element_checks import check_elements
from patterns import Number, every, sample
from repeats import keep_every

from tilewright.dialects.cuda_tile.constraints import ALL_FLOATS, INTEGERS
from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.rounding import conversion_roundings
from tilewright.ir.types import F8E8M0FNU, I1, I4, I8, I16, I32, I64, FloatType, IntegerType
from tilewright.reference.numerics import conversion
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array, format_of, from_patterns, to_patterns, wrap
from tilewright.support import floats
from tilewright.support.floats import widens
from tilewright.support.numerics import conversion as exact

FLOAT_PAIRS = [(a, b) for a in ALL_FLOATS for b in ALL_FLOATS if a is not b]
ROUNDED = [
    (source, target, mode)
    for source, target in FLOAT_PAIRS
    for mode in conversion_roundings(Rounding, source, target)
    if mode is Rounding.NEAREST_EVEN or not widens(format_of(source), format_of(target))
]
WIDENED = [pair for pair in FLOAT_PAIRS if widens(*map(format_of, pair))]


def some(type: Number, count: int) -> Array:
    if type.width <= 16:
        return every(type)
    return sample(type, 2 * count, np.random.default_rng(type.width))


@pytest.mark.parametrize(("source", "target", "mode"), ROUNDED, ids=str)
@pytest.mark.sampled(16)
def test_float_to_float(
    source: FloatType, target: FloatType, mode: Rounding, sample_size: int
) -> None:
    formats = format_of(source), format_of(target)
    rounding = floats.Rounding[mode.name]
    check_elements(
        lambda a: conversion.float_to_float(a, source, target, mode),
        lambda a: exact.float_to_float(a, *formats, rounding),
        [(some(source, sample_size), source)],
        target,
    )


@pytest.mark.parametrize(("source", "target"), WIDENED, ids=str)
@pytest.mark.sampled(8)
def test_widening_is_independent_of_the_rounding_mode(
    source: FloatType, target: FloatType, sample_size: int
) -> None:
    elements = from_patterns(some(source, sample_size), source)
    with np.errstate(all="ignore"):
        nearest, *others = (
            to_patterns(conversion.float_to_float(elements, source, target, mode), target)
            for mode in conversion_roundings(Rounding, source, target)
        )
        is_nan = np.isnan(widen(elements, source))
    assert all(((other == nearest) | is_nan).all() for other in others)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("target", keep_every(list(INTEGERS), 4), ids=str)
@pytest.mark.parametrize("source", ALL_FLOATS, ids=str)
@pytest.mark.sampled(8)
def test_float_to_int(
    source: FloatType, target: IntegerType, signed: bool, sample_size: int
) -> None:
    """Results that are undefined without `saturating` saturate as well."""
    format = format_of(source)
    check_elements(
        lambda a: conversion.float_to_int(a, source, target, is_signed=signed),
        lambda a: exact.float_to_int(a, format, target.width, signed=signed, saturating=True),
        [(some(source, sample_size), source)],
        target,
    )
    check_elements(
        lambda a: conversion.fits_integer(a, source, target, is_signed=signed),
        lambda a: (
            exact.float_to_int(a, format, target.width, signed=signed, saturating=False) is not None
        ),
        [(some(source, sample_size), source)],
        I1,
    )


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("target", [type for type in ALL_FLOATS if type is not F8E8M0FNU], ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.sampled(12)
def test_int_to_float(
    source: IntegerType, target: FloatType, signed: bool, sample_size: int
) -> None:
    format = format_of(target)
    check_elements(
        lambda a: conversion.int_to_float(a, target, is_signed=signed),
        lambda a: exact.int_to_float(a, source.width, format, signed=signed),
        [(some(source, sample_size), source)],
        target,
    )


WIDTHS = (I1, I4, I8, I16, I32, I64)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("source", "target"), [(a, b) for a in WIDTHS for b in WIDTHS if a.width < b.width]
)
@pytest.mark.sampled(8)
def test_extension(
    source: IntegerType, target: IntegerType, signed: bool, sample_size: int
) -> None:
    check_elements(
        lambda a: conversion.extend(a, source, target, is_signed=signed),
        lambda a: exact.extend(a, source.width, target.width, signed=signed),
        [(some(source, sample_size), source)],
        target,
    )


@pytest.mark.parametrize(
    ("source", "target"), [(a, b) for a in WIDTHS for b in WIDTHS if a.width > b.width]
)
@pytest.mark.sampled(6)
def test_truncation(source: IntegerType, target: IntegerType, sample_size: int) -> None:
    check_elements(
        lambda a: wrap(a, target),
        lambda a: exact.truncate(a, target.width),
        [(some(source, sample_size), source)],
        target,
    )


NUMBERS = (*INTEGERS, *ALL_FLOATS)


@pytest.mark.parametrize(
    ("source", "target"), [(a, b) for a in NUMBERS for b in NUMBERS if a.width == b.width]
)
@pytest.mark.sampled(10)
def test_bitcast(source: Number, target: Number, sample_size: int) -> None:
    check_elements(
        lambda a: conversion.bitcast(a, target),
        lambda a: exact.bitcast(a, source.width, target.width),
        [(some(source, sample_size), source)],
        target,
    )
