"""Execute generated programs on the reference executor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.reference.launch import launch
from tilewright.support.run_limits import RunLimits

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.reference.tile import Array
    from tilewright.testing.generate.program import Program

MAX_STEPS: Final = 1_000_000
"""More than any generated program needs."""


def execute_program(
    program: Program, module: Operation, **options: Any
) -> tuple[list[Array], list[str]]:
    """The arrays that a program leaves, and the lines that it prints, sorted."""
    arguments, printed = program.arguments(), list[str]()
    limits = RunLimits(MAX_STEPS)
    launch(
        module, program.entry, program.grid, arguments,
        write=printed.append, limits=limits, **options,
    )  # fmt: skip
    return program.outcome(arguments), sorted("".join(printed).splitlines())
