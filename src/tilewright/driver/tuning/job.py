"""What is tuned: a kernel with its arguments, in a form that other processes can be sent."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tilewright.driver.settings import Settings
from tilewright.target.arch import ARCHES

STAGE: Final = "cubin"
"""To which candidates are compiled: ptxas says what they take."""


class Device(NamedTuple):
    """What measures."""

    name: str
    arch: str


class Job(NamedTuple):
    """A kernel, its arguments, and how its schedules are measured."""

    id: str
    """A name that no other job has, for what processes keep of it."""
    data: bytes
    """The program with this kernel alone, as bytecode or text."""
    name: str
    """The name of the program in diagnostics."""
    entry: str
    arch: str
    tensor_maps: str
    grid: tuple[int, ...]
    values: list[Any]
    """The arguments: numbers and NumPy arrays."""
    meter: str
    default: bytes
    """The kernel as compiled without a forced schedule: a packed `CompilationResult`."""
    default_plan: tuple[Any, ...] = ()
    """Its plan, as `Plan.stored` returns it."""
    check: bool = True
    """Whether the results of each candidate are compared."""
    rtol: float | None = None
    atol: float | None = None

    def settings(self, schedule: str = "") -> Settings:
        """The settings of a compilation with a schedule."""
        return Settings(ARCHES[self.arch], schedule=schedule, tensor_maps=self.tensor_maps)


class Trial(NamedTuple):
    """The measurement of one compiled kernel, beside one of the default."""

    cost: float = 0.0
    default_cost: float = 0.0
    problem: str = ""
    """Why there is no measurement."""
    is_bug: bool = False
    """Whether the problem is a bug of the compiler: a wrong result, a fault, an endless kernel."""
    is_fatal: bool = False
    """Whether the process that measured cannot go on."""
