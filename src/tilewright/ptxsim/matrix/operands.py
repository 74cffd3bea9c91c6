"""Matrices in registers: conversion between register operands and stacks of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.matrix.elements import Element
from tilewright.ptxsim.matrix.fragments import Fragment
from tilewright.ptxsim.operation import Operation, Read, Write
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array

ReadMatrix = Callable[[Lanes], Array]
WriteMatrix = Callable[[Lanes, Array], None]
_DTYPES: Final = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}


def register_type(element: Element) -> str:
    """The type of registers with such elements."""
    return "b64" if element.bits == 64 else "b32"


def check_count(op: Operation, index: int, fragment: Fragment, element: Element) -> None:
    """Reject a vector operand with too few or too many registers for a matrix."""
    expected = max(1, fragment.per_lane * element.bits // (64 if element.bits == 64 else 32))
    count = len(op.elements(index))
    if count != expected:
        op.fail(f"expected {expected} registers as operand {index + 1}, got {count}")


def read_patterns(op: Operation, index: int, fragment: Fragment, element: Element) -> ReadMatrix:
    """A reader of matrices as bit patterns: (warps, rows, columns)."""
    check_count(op, index, fragment, element)
    type = SCALAR_TYPES[register_type(element)]
    return patterns_from(op.reads(index, type), fragment, element)


def patterns_from(reads: list[Read], fragment: Fragment, element: Element) -> ReadMatrix:
    """A reader of matrices as bit patterns, from readers of registers."""
    dtype = UNSIGNED[64 if element.bits == 64 else 32]

    def read(lanes: Lanes) -> Array:
        words = np.empty((lanes.count, len(reads)), dtype)
        for at, each in enumerate(reads):
            words[:, at] = each(lanes)
        elements = element.unpack(words).reshape(lanes.count // WARP, WARP, -1)
        return fragment.collect(elements)

    return read


def read_numbers(op: Operation, index: int, fragment: Fragment, element: Element) -> ReadMatrix:
    """A reader of A or B, as float64."""
    read = read_patterns(op, index, fragment, element)
    return lambda lanes: element.decode(read(lanes))


def read_accumulators(
    op: Operation, index: int, fragment: Fragment, element: Element
) -> ReadMatrix:
    """A reader of accumulators, in their own type."""
    read = read_patterns(op, index, fragment, element)
    return lambda lanes: read(lanes).view(_DTYPES[element.name])


def write_accumulators(
    op: Operation, index: int, fragment: Fragment, element: Element
) -> WriteMatrix:
    """A writer of results."""
    check_count(op, index, fragment, element)
    writes = op.writes(index, SCALAR_TYPES[register_type(element)])
    return accumulators_to(writes, fragment, element)


def accumulators_to(writes: list[Write], fragment: Fragment, element: Element) -> WriteMatrix:
    """A writer of results, from writers of registers."""
    dtype = UNSIGNED[64 if element.bits == 64 else 32]

    def write(lanes: Lanes, matrices: Array) -> None:
        elements = fragment.distribute(matrices)
        words = np.ascontiguousarray(elements).view(dtype).reshape(lanes.count, -1)
        for each, column in zip(writes, words.T, strict=True):
            each(lanes, column)

    return write
