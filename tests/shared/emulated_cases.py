"""Run cases of single operations as compiled code on the emulator, with documented tolerances."""

from __future__ import annotations

import re

import numpy as np
from op_cases.kernel import Case, Check, loaded

import tilewright
from tilewright.ir.operation import Operation
from tilewright.ir.types import FloatType
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import element
from tilewright.testing.compare import EXACT, Tolerance
from tilewright.testing.documented import tolerance_of

NOT_YET = "addresses of single elements of 4 bits"
NO_INSTRUCTION = {
    "sm_80": r"'nvvm.multimem.\w+' on sm_80: needs accesses of memory of several GPUs",
    "sm_90": r"multimem access of ([12] bytes: expected 4 or more|elements of 4 bits)",
}
"""Multimem accesses that PTX has no instruction for: before sm_90, and below 32 bits."""


def emulated_problem(case: Case, arch: str) -> str | None:
    """Run a case on the emulator with its checks; return the failure, or `None`.

    Of the errors of a program, a GPU reports failed assertions only.
    """
    if case.fails not in (None, "ASSERTION"):
        return None
    module, printed = case.read(), list[str]()
    try:
        tilewright.execute(
            module, None, case.grid, case.arguments, "emulator",
            check=True, write=printed.append, arch=arch,
        )  # fmt: skip
    except tilewright.Unsupported as error:
        text = str(error)
        missing = case.op.startswith("multimem") and any(
            re.search(NO_INSTRUCTION[name], text) for name in {arch, "sm_90"}
        )
        return None if NOT_YET in text or missing else error.render()
    except tilewright.UserError as error:
        return None if case.fails else error.render()
    if case.fails is not None:
        return f"expected {case.fails}, but the kernel ran to its end"
    if "".join(printed) != case.printed:
        return f"expected to print {case.printed!r}, got {''.join(printed)!r}"
    tried = next((op for op in module.walk() if op.name == f"cuda_tile.{case.op}"), None)
    failures = (_judged(case, check, tried).problem(case.arguments) for check in case.checks)
    return next((f"{wrong}\n{case.text}" for wrong in failures if wrong), None)


def _judged(case: Case, check: Check, tried: Operation | None) -> Check:
    """Return a check with the documented tolerance, if there is one."""
    documented = EXACT if tried is None else _documented(case, check, tried)
    tolerance = check.tolerance if documented is EXACT else documented
    return Check(check.argument, check.element, check.expected, tolerance)


def _documented(case: Case, check: Check, tried: Operation) -> Tolerance:
    with np.errstate(all="ignore"):
        operands = [
            np.asarray(widen(loaded(argument, kind, check.expected.shape), kind))
            for argument, kind in zip(case.arguments, map(element, tried.operands), strict=False)
            if isinstance(argument, np.ndarray) and isinstance(kind, FloatType)
            if argument.size == check.expected.size
        ]
    return tolerance_of(tried, *operands)
