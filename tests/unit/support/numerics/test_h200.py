"""Every operation against what an H200 computes for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from each_case import each_case

from tilewright.support.floats import F32, FORMATS, TF32, FloatFormat, Rounding, is_nan
from tilewright.support.numerics import conversion, floating, integer

Element = Callable[..., int | None]
ROUNDINGS = {rounding.value: rounding for rounding in Rounding}


class Sample:
    """One heading of the file with its lines."""

    def __init__(self, heading: str) -> None:
        words, types = heading.split(" : ")
        operands, self.result = types.split(" -> ")
        self.heading = heading
        self.operands = operands.split(", ")
        self.operation, *flags = words.split()
        self.flags = set(flags)
        self.rounding = next((ROUNDINGS[flag] for flag in flags if flag in ROUNDINGS), None)
        self.rows: list[list[int]] = []


def read_samples() -> Iterator[Sample]:
    sample = None
    for line in Path(__file__).with_name("h200.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            if sample is not None:
                yield sample
            sample = Sample(line)
        elif sample is not None:
            sample.rows.append([int(word, 16) for word in line.split()])
    if sample is not None:
        yield sample


def through_tf32(a: int, source: FloatFormat, rounding: Rounding) -> int | None:
    """The f32 that holds what `a` becomes in tf32."""
    short = conversion.float_to_float(a, source, TF32, rounding)
    return None if short is None else conversion.float_to_float(short, TF32, F32)


ROUNDED: dict[str, Element] = {
    "addf": floating.add,
    "subf": floating.subtract,
    "mulf": floating.multiply,
    "divf": floating.divide,
    "fma": floating.fma,
    "sqrt": floating.sqrt,
}
EXTREMES: dict[str, Element] = {"maxf": floating.maximum, "minf": floating.minimum}
PLAIN_FLOAT: dict[str, Element] = {
    "remf": floating.remainder,
    "ceil": floating.ceil,
    "floor": floating.floor,
    "absf": floating.absolute,
    "negf": floating.negate,
}
PLAIN_INTEGER: dict[str, Element] = {
    "shli": integer.shift_left,
    "absi": integer.absolute,
    "negi": integer.negate,
    "mulhii": integer.multiply_high,
}
SIGNED_INTEGER: dict[str, Element] = {
    "shri": integer.shift_right,
    "remi": integer.remainder,
    "maxi": integer.maximum,
    "mini": integer.minimum,
}


def element(sample: Sample) -> Element:
    """The operation of a sample as a function of its operands."""
    name, signed = sample.operation, "signed" in sample.flags
    flush, propagate = "flush_to_zero" in sample.flags, "propagate_nan" in sample.flags
    if name in SIGNED_INTEGER:
        return with_width(SIGNED_INTEGER[name], sample, signed=signed)
    if name in PLAIN_INTEGER:
        return with_width(PLAIN_INTEGER[name], sample)
    if name == "divi":
        return with_width(integer.divide, sample, signed=signed, rounding=sample.rounding)
    if name == "ftoi":
        source, saturating = FORMATS[sample.operands[0]], "saturating" in sample.flags
        width = int(sample.result[1:])
        return lambda a: conversion.float_to_int(
            a, source, width, signed=signed, saturating=saturating
        )
    target = FORMATS[sample.result]
    if name == "itof":
        width = int(sample.operands[0][1:])
        return lambda a: conversion.int_to_float(a, width, target, signed=signed)
    if name in ROUNDED:
        return lambda *a: ROUNDED[name](*a, target, sample.rounding, flush=flush)
    if name in EXTREMES:
        return lambda *a: EXTREMES[name](*a, target, propagate_nan=propagate, flush=flush)
    if name in PLAIN_FLOAT:
        return lambda *a: PLAIN_FLOAT[name](*a, target)
    source, rounding = FORMATS[sample.operands[0]], sample.rounding
    assert rounding is not None
    if name == "ftof_tf32":
        return lambda a: through_tf32(a, source, rounding)
    assert name == "ftof"
    return lambda a: conversion.float_to_float(a, source, target, rounding)


def with_width(operation: Element, sample: Sample, **flags: object) -> Element:
    return lambda *a: partial(operation, *a, int(sample.result[1:]), **flags)()


SAMPLES = list(read_samples())


def test_the_file_is_all_there() -> None:
    assert len(SAMPLES) == 375
    assert sum(len(sample.rows) for sample in SAMPLES) == 3110


@each_case("operation", sorted({sample.operation for sample in SAMPLES}))
def test_an_h200_computes_the_same(operation: str) -> None:
    for sample in SAMPLES:
        if sample.operation == operation:
            check(sample)


def check(sample: Sample) -> None:
    ours = element(sample)
    format = FORMATS.get(sample.result)
    for *operands, result in sample.rows:
        got = ours(*operands)
        if format is not None and is_nan(result, format):
            assert got is not None
            assert is_nan(got, format), (sample.heading, operands)
        else:
            assert got == result, (sample.heading, operands)
