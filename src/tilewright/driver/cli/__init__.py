"""The `tilewright` command: dispatch subcommands, and map errors to exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import HELP_NAMES, UsageError
from tilewright.driver.files import FileError, write_line
from tilewright.driver.process import INTERRUPTED
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import AssemblerError, Error, Interrupted, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS: Final = {
    "as": ("assemble", "assemble text into bytecode"),
    "dis": ("disassemble", "disassemble bytecode into text"),
    "verify": ("verify", "check a program and report every error"),
    "opt": ("opt", "run passes on a module"),
    "compile": ("compile", "compile a program to PTX, a cubin or any stage between"),
    "remarks": ("remarks", "explain the remarks that compilations print"),
    "explain": ("explain", "report what the compiler decided, as text or as a page"),
    "serve": ("serve", "serve a page to edit programs and see every level"),
    "reduce": ("reduce", "shrink a program while a test command exits with 0"),
    "replay": ("replay", "run the failing step of a crash kit again"),
    "tune": ("tune", "try schedules of a kernel, and keep the best one"),
    "cache": ("cache", "show or clear the compilation cache"),
    "run": ("run", "run a kernel on arrays"),
    "ptx run": ("ptx_run", "run a kernel of a PTX file on arrays"),
    "lsp": ("lsp", "serve an editor: errors, documentation, definitions, completion"),
    "nvcc": ("nvcc", "run nvcc, with this compiler for CUDA Tile C++"),
    "examples": ("examples", "list, print or copy the example kernels"),
    "completion": ("completion", "print the completion script of a shell"),
}
"""Subcommands: module and summary. Only the one that runs is imported."""

GROUPS: Final = {name.split()[0] for name in COMMANDS if " " in name}

VERSION_NAMES: Final = ("-V", "--version")

OK: Final = 0
WRONG_PROGRAM: Final = 1
WRONG_USAGE: Final = 2
UNSUPPORTED: Final = 3
OUR_BUG: Final = 70

REPORT: Final = """\
This is a bug in Tilewright, not in your program. Please report it with the traceback above, the
command line and the input file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        print(usage(), file=sys.stderr)
        return WRONG_USAGE
    # One program is alive until the end: the collector would free nothing.
    with CollectorPause():
        return guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    # Some commands have two words.
    words = 2 if arguments[0] in GROUPS else 1
    name, rest = " ".join(arguments[:words]), arguments[words:]
    if arguments[:words][-1] in (*HELP_NAMES, "help"):
        write_line(usage())
        return OK
    if name in VERSION_NAMES:
        return _show_versions()
    if name not in COMMANDS:
        # Loaded only to report an error.
        from tilewright.support.suggestions import did_you_mean  # noqa: PLC0415

        known = ", ".join(COMMANDS)
        raise UsageError(
            f"tilewright: error: expected a command ({known}), "
            f"found '{name}'{did_you_mean(name, COMMANDS)}"
        )
    return run_command(name, rest)


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Run a subcommand, or print its help."""
    module = import_module(f"tilewright.driver.cli.{COMMANDS[name][0]}")
    if module.COMMAND.wants_help(arguments):
        write_line(module.COMMAND.help(arguments))
        return OK
    if "--version" in arguments:
        return _show_versions()
    return module.run(module.COMMAND.parse(arguments))


def _show_versions() -> int:
    # Only asked for, it looks for tools and runs ptxas.
    from tilewright.driver.versions import version_text  # noqa: PLC0415

    write_line(version_text())
    return OK


def usage() -> str:
    """Return the text of `tilewright --help`."""
    rows = "\n".join(f"  {name:<12}{summary}" for name, (_, summary) in COMMANDS.items())
    return f"""\
usage: tilewright COMMAND [options] [FILE]

An open compiler for CUDA Tile IR.

commands:
{rows}

`tilewright COMMAND --help` explains each. FILE may be `-` for standard input.
Exit codes: {OK} done, {WRONG_PROGRAM} the program is wrong, {WRONG_USAGE} the command line or a \
file cannot be used,
{UNSUPPORTED} a feature is not supported yet, {OUR_BUG} a bug in Tilewright, \
{INTERRUPTED} Ctrl-C."""


def report_error(error: Error) -> int:
    """Print an error about the program and return the exit code."""
    print(error.render(), file=sys.stderr)
    lacking = isinstance(error, Unsupported | AssemblerError)
    return UNSUPPORTED if lacking else WRONG_PROGRAM


def guarded(action: Callable[[], int]) -> int:
    """Run a command; report errors on standard error and return the exit code."""
    try:
        return action()
    except UsageError as error:
        print(error, file=sys.stderr)
        return WRONG_USAGE
    except FileError as error:
        print(f"tilewright: {error}", file=sys.stderr)
        return WRONG_USAGE
    except Error as error:
        return report_error(error)
    except MemoryError as error:
        print(f"tilewright: error: out of memory ({error})".replace(" ()", ""), file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:
        return OK  # the reader of our output has closed the pipe
    except Interrupted as error:
        print(error.diagnostic.render(), file=sys.stderr)
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        print(REPORT, file=sys.stderr)
        return OUR_BUG
