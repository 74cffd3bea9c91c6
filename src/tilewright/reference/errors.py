"""What a program can do wrong while it runs."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tilewright.support.diagnostics import Diagnostic, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Fault(Enum):
    """The kinds of errors that only a run can find."""

    ARGUMENT = "an argument does not fit the kernel"
    ASSERTION = "an assertion is false"
    ASSUMPTION = "a promise is broken"
    DEADLOCK = "no block can go on"
    INDEX = "an index is too large"
    MISALIGNED = "an address is not a multiple of the element's size"
    OUT_OF_BOUNDS = "memory outside of every allocation is accessed"
    RACE = "conflicting accesses have no order"
    READ_ONLY = "memory that must not change is written"
    UNDEFINED = "the result of an operation is undefined"
    UNINITIALISED = "memory is read that nobody has written"


class ExecutionError(UserError):
    """A program went wrong while it ran; `fault` says how, the location where."""

    def __init__(self, fault: Fault, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.fault = fault
