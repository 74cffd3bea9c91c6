"""CUDA C++ programs with arguments and results: how they are declared, and how they are run.

A program is a kernel of a file in tests/ptx, launched once. The function that describes it gets a
random generator and returns the arguments and, by index, their expected values afterwards, computed
by NumPy. The same programs run on the emulator and on a GPU.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
PTX = Path(__file__).parent.parent / "ptx"


@dataclass(frozen=True)
class Close:
    """An expected array with a relative and an absolute tolerance."""

    array: Array
    rtol: float
    atol: float = 0.0


@dataclass(frozen=True)
class Sorted:
    """An array whose first elements, as many as it has, may be in any order."""

    array: Array


@dataclass(frozen=True)
class Satisfies:
    """A predicate over all arguments instead of an expected array."""

    test: Callable[[Sequence[Any]], bool]


Expected = Array | Close | Sorted | Satisfies
Case = tuple[list[Any], Mapping[int, Expected]]
Describe = Callable[[np.random.Generator], Case]


@dataclass(frozen=True)
class Program:
    """A kernel, its launch, and its expected results."""

    file: str
    kernel: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    describe: Describe
    shared: int = 0
    output: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name of the program in reports."""
        return f"{self.file}.{self.kernel}"

    def text(self) -> str:
        """The PTX."""
        return (PTX / f"{self.file}.ptx").read_text()

    def case(self) -> Case:
        """The same arguments every time."""
        return self.describe(np.random.default_rng(zlib.crc32(self.kernel.encode())))


PROGRAMS: list[Program] = []


def program(
    files: str,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    shared: int = 0,
    output: Sequence[str] = (),
) -> Callable[[Describe], Describe]:
    """Register a program for each of the files; the kernel has the function's name."""

    def register(describe: Describe) -> Describe:
        for file in files.split():
            kernel = describe.__name__
            PROGRAMS.append(Program(file, kernel, grid, block, describe, shared, output))
        return describe

    return register


def check(args: Sequence[Any], expected: Mapping[int, Expected]) -> None:
    """Compare arguments with their expected values, bit by bit; all NaNs are equal."""
    for index, wanted in expected.items():
        actual = args[index]
        if isinstance(wanted, Close):
            np.testing.assert_allclose(actual, wanted.array, rtol=wanted.rtol, atol=wanted.atol)
        elif isinstance(wanted, Satisfies):
            assert wanted.test(args), f"argument {index}"
        elif isinstance(wanted, Sorted):
            np.testing.assert_array_equal(np.sort(actual[: len(wanted.array)]), wanted.array)
        else:
            assert actual.dtype == wanted.dtype, f"argument {index}"
            np.testing.assert_array_equal(actual, wanted)


def small(rng: np.random.Generator, shape: Any, dtype: Any = np.float32, limit: int = 9) -> Array:
    """Return integers small enough to multiply and accumulate exactly."""
    return rng.integers(-limit, limit + 1, shape).astype(dtype)
