"""`tilewright serve`: a page on this machine where one edits programs and sees every level."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import OPT_LEVELS, SCHEDULE, Command, Option, parse_timeout
from tilewright.driver.files import FileError, write_line
from tilewright.driver.playground.child import Limits
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.termination import unwinding_on_termination
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.driver.playground.server import Server

DEFAULTS: Final = Limits()
LAST_PORT: Final = 65535

COMMAND: Final = Command(
    "serve",
    "Serve a page on this machine where one edits a program, and sees every level, remarks,\n"
    "resources and results of the PTX emulator as one edits. It prints the address of the page,\n"
    "and ends on Ctrl-C.",
    "Tile IR text or bytecode, cuTile Python (FILE.py), or CUDA Tile C++ (FILE.cu) to edit; it is "
    "not written",
    (
        Option(
            "--port", metavar="N", default="0", help="the port at 127.0.0.1 (default: a free one)"
        ),
        Option(
            "--arch",
            choices=tuple(ARCHES),
            default="sm_90",
            help="the GPU that is selected first (default: sm_90)",
        ),
        Option("-O", choices=OPT_LEVELS, default="3", help="the optimization level, likewise"),
        SCHEDULE,
        Option(
            "--timeout",
            metavar="SECONDS",
            help=f"end a compilation or a run after this time (default: {DEFAULTS.timeout:g})",
        ),
        Option(
            "--max-steps",
            metavar="N",
            help=f"end a run after N operations or instructions (default: {DEFAULTS.max_steps:,})",
        ),
        Option(
            "--memory",
            metavar="MB",
            help="the memory of a compilation or a run (default: "
            f"{DEFAULTS.memory}); 0 for no limit",
        ),
        Option("--check", help="open the page, compile the program once, and end"),
    ),
    "examples:\n"
    "  tilewright serve --check\n"
    "  tilewright serve gemm.mlir --port 8080 --arch sm_80 --check\n\n"
    "Without --check the page stays until Ctrl-C. Programs of cuTile Python are run, in a process\n"
    "of their own with the rights of the user: open only those that you would run.",
    default="an example",
)


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    limits = _limits(arguments)
    parse_schedule(arguments["schedule"])
    if os.name == "nt":
        raise Unsupported("`tilewright serve` on Windows")
    server = _server(arguments, limits)
    # Processes and folders of programs are removed at the end.
    with unwinding_on_termination():
        try:
            server.tasks.prepare()
            if arguments.flag("check"):
                return _check(server)
            write_line(f"{server.url}\nCtrl-C ends it.")
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
        finally:
            server.tasks.close()
            server.server_close()
    return 0


def _limits(arguments: Arguments) -> Limits:
    timeout = parse_timeout(COMMAND, arguments) or DEFAULTS.timeout
    steps = _number(arguments, "max-steps", DEFAULTS.max_steps, least=1)
    return Limits(timeout, steps, _number(arguments, "memory", DEFAULTS.memory))


def _number(arguments: Arguments, key: str, default: int, *, least: int = 0) -> int:
    text = arguments[key]
    if text and (not text.isdecimal() or int(text) < least):
        COMMAND.fail(f"option '--{key}': expected a number from {least} on, found '{text}'")
    return int(text) if text else default


def _server(arguments: Arguments, limits: Limits) -> Server:
    """Open the program and the port. Loads the server."""
    from tilewright.driver.playground.languages import (  # noqa: PLC0415
        examples,
        languages,
        open_program,
    )
    from tilewright.driver.playground.page import Opened, playground_page  # noqa: PLC0415
    from tilewright.driver.playground.server import Server  # noqa: PLC0415
    from tilewright.driver.playground.tasks import Tasks  # noqa: PLC0415

    known = languages()
    offered = examples(known)
    is_example = arguments.file == COMMAND.default
    program = offered[0] if is_example else open_program(arguments.file)
    modules = "" if is_example else os.path.dirname(os.path.abspath(arguments.file))
    opened = Opened(program, arguments["arch"], arguments["O"], arguments["schedule"])
    port = _number(arguments, "port", 0)
    if port > LAST_PORT:
        COMMAND.fail(f"option '--port': expected at most {LAST_PORT}, found '{port}'")
    page = playground_page(opened, known, offered)
    try:
        return Server(port, page, Tasks(limits, modules))
    except OSError as error:
        raise FileError(f"cannot listen at port {port}: {error.strerror}") from error


def _check(server: Server) -> int:
    """Request the page and have its program compiled, as a browser would."""
    from tilewright.driver.playground.client import check  # noqa: PLC0415

    text, is_right = check(server)
    write_line(text)
    return 0 if is_right else 1
