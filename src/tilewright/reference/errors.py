"""Run-time errors of programs."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tilewright.support.diagnostics import Diagnostic, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Fault(Enum):
    """The kinds of run-time errors."""

    ARGUMENT = "an argument does not fit the kernel"
    ASSERTION = "an assertion is false"
    ASSUMPTION = "an assumption is violated"
    DEADLOCK = "no block can go on"
    INDEX = "an index is too large"
    LIMIT = "the run has reached a limit that the caller set"
    MISALIGNED = "an address is not a multiple of the element's size"
    OUT_OF_BOUNDS = "memory outside of every allocation is accessed"
    RACE = "conflicting accesses have no order"
    READ_ONLY = "memory that must not change is written"
    UNDEFINED = "the result of an operation is undefined"
    UNINITIALISED = "memory is read before it is written"


class ExecutionError(UserError):
    """A run-time error of a program; `fault` is its kind."""

    def __init__(self, fault: Fault, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.fault = fault
