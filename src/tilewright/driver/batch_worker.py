"""Worker process of `batch`: `main` serves compilation requests.

Requests and answers are length-prefixed marshalled values.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from contextlib import redirect_stderr
from struct import Struct
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from tilewright.driver.settings import Settings
from tilewright.support.interpreter import end_with_caller

if TYPE_CHECKING:
    from tilewright.driver.compilation_result import CompilationResult
    from tilewright.schedule.cost_inputs import Plan

LENGTH: Final = Struct("<Q")
MARSHAL: Final = 4


class Request(NamedTuple):
    """One program to compile, and its settings."""

    data: bytes
    name: str
    settings: Settings
    emit: str
    wants_plan: bool = False
    """Whether the answer has the plan of the only kernel, for the cost model."""


class Answer(NamedTuple):
    """The outcome: exit code, diagnostics, and the packed result."""

    code: int
    message: str
    packed: bytes = b""
    maker: str = ""
    """The identity of the compiler, which may have been edited since the parent started."""
    plan: tuple[Any, ...] = ()
    """The facts of the plan, as `Plan.stored` returns them."""


def write_value(target: IO[bytes], value: tuple[Any, ...]) -> None:
    """Send a value."""
    data = marshal.dumps(tuple(value), MARSHAL)
    target.write(LENGTH.pack(len(data)) + data)
    target.flush()


def read_value(source: IO[bytes]) -> tuple[Any, ...] | None:
    """Receive a value; None at end of file."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    [length] = LENGTH.unpack(head)
    data = source.read(length)
    return marshal.loads(data) if len(data) == length else None


def send_request(target: IO[bytes], request: Request) -> None:
    """Send a compilation request."""
    options = (request.settings.arch.name, *request.settings[1:])
    write_value(target, (request.data, request.name, options, *request[3:]))


def main() -> int:
    """Serve requests until standard input is closed."""
    source = sys.stdin.buffer
    end_with_caller(source.fileno())
    # Output of a library must not interleave with the answers.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while value := read_value(source):
        write_value(target, answer_request(*value))
    return 0


def answer_request(
    data: bytes,
    name: str,
    options: tuple[Any, ...],
    emit: str,
    wants_plan: bool = False,
) -> Answer:
    """Compile a program whose options are those of `send_request`."""
    from tilewright.driver.cli import guarded  # noqa: PLC0415
    from tilewright.support.identity import identity  # noqa: PLC0415
    from tilewright.target.arch import ARCHES  # noqa: PLC0415

    settings = Settings(ARCHES[options[0]], *options[1:])
    request = Request(data, name, settings, emit, wants_plan)
    made: list[tuple[CompilationResult, Plan | None]] = []
    with redirect_stderr(io.StringIO()) as said:
        code = guarded(lambda: _compile(request, made))
    if not made:
        return Answer(code, said.getvalue(), maker=identity())
    [(result, plan)] = made
    stored = () if plan is None else plan.stored()
    return Answer(code, said.getvalue(), result.pack(), identity(), stored)


def _compile(request: Request, made: list[tuple[CompilationResult, Plan | None]]) -> int:
    from tilewright.driver.compile import Program  # noqa: PLC0415
    from tilewright.support.collector import CollectorPause  # noqa: PLC0415

    with CollectorPause():
        program = Program(request.data, request.name)
        if not request.wants_plan:
            made.append((program.compiled(request.settings, request.emit), None))
            return 0
        # Loaded only for tuning.
        from tilewright.driver.tuning.plan_observer import PlanObserver  # noqa: PLC0415

        observer = PlanObserver()
        result = program.compiled(request.settings, request.emit, observer.reached)
        made.append((result, observer.plan))
    return 0
