"""What cuTile asks of `tileiras` and `tileirdisasm`, answered in this process.

cuTile finds a program, asks it for its version, probes which bytecode it takes, and gives it one
file after the other. Here it finds one that has the same command line, and no process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import NEWEST
from tilewright.cutile.time_limit import OutOfTime, within
from tilewright.cutile.versions import cutile
from tilewright.driver.disassembly import disassemble
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error
from tilewright.support.identity import identity
from tilewright.tileiras.command_line import read_job
from tilewright.tileiras.messages import CALLED
from tilewright.tileiras.run import (
    FAILED,
    WRONG_USAGE,
    Refused,
    bug_text,
    perform,
    version_text,
)

_PLACED: Final = re.compile(r'loc\("(.+)":(\d+):(\d+)\)(?: in (\S+))?: (.*)')
_ERROR: Final = "error: "
_NAMELESS: Final = "kernel"


class Failure(Exception):
    """Nothing was compiled; says why, and with which exit code of the program."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


def compile_file(words: Sequence[str]) -> None:
    """Do what a command line of `tileiras` asks for; raises `Failure`."""
    mistakes: list[str] = []
    job = read_job(words, mistakes.append)
    if job is None:
        raise Failure(WRONG_USAGE, "\n".join(mistakes))
    try:
        with CollectorPause():
            perform(job)
    except Refused as refused:
        raise Failure(refused.code, str(refused)) from None
    except Exception as error:
        # A compiler in a process of its own would have ended with it, and its client lived on.
        raise Failure(FAILED, bug_text(error)) from error


def version() -> str:
    """What `tileiras --version` prints: the key under which cuTile keeps what we compile."""
    return f"{version_text()}\n"


def _version_of(program: object) -> str:
    return version()


class Compiler:
    """Stands in for the program that cuTile finds."""

    path = "tileiras"

    def run(self, args: list[str], flags: list[str], timeout_sec: float | None = None) -> None:
        """Compile a file; raises what cuTile raises where the program fails or takes too long."""
        errors = cutile("_exception")
        options = " ".join(flags)
        try:
            within(timeout_sec, lambda: compile_file([*args, *flags]))
        except OutOfTime:
            message = f"the compiler took longer than {timeout_sec} s; smaller tiles compile faster"
            raise errors.TileCompilerTimeoutError(message, options, version()) from None
        except Failure as failure:
            message, place = _place_of(str(failure))
            raise errors.TileCompilerExecutionError(
                failure.code, message, place, options, version()
            ) from failure.__cause__


def _place_of(text: str) -> tuple[str, Any]:
    """What an error says, and where, with the calls that led there, as cuTile shows it.

    cuTile would read the place from the text too, but without the function that it is in, and
    cannot show it then.
    """
    errors = cutile("_exception")
    lines: list[str] = []
    places: list[Any] = []
    for line in text.splitlines():
        match = _PLACED.fullmatch(line)
        if match is None:
            lines.append(line.removeprefix(_ERROR))
            continue
        file, row, column, name, words = match.groups()
        if not places or words == CALLED:
            function = errors.FunctionDesc(name or _NAMELESS, file, int(row), 1)
            places.append(errors.Loc(int(row), int(column), file, function=function))
        if words != CALLED:
            lines.append(words.removeprefix(_ERROR))
    place = None
    for outer in reversed(places):
        place = outer if place is None else outer.with_call_site(place)
    return "\n".join(lines), place or errors.Loc.unknown()


def disassembly(
    bytecode: bytes | bytearray,
    *,
    preview_features: Sequence[str] = (),
    temp_dir: str | None = None,
    timeout_sec: float | None = None,
) -> str:
    """What `tileirdisasm` prints, for cuTile's logs and dumps."""
    try:
        module = read_bytecode(bytes(bytecode), "<kernel>")
        verify(module)
        return disassemble(module)
    except Error as error:
        errors = cutile("_exception")
        flags = " ".join(f"--preview={feature}" for feature in preview_features)
        message = f"tileirdisasm: {error.render()}"
        raise errors.TileCompilerExecutionError(
            3, message, errors.Loc.unknown(), flags, None
        ) from error


def newest_bytecode(temp_dir: str, allow_dev: bool = False) -> Any:
    """The newest bytecode that cuTile can write and we can read; it need not try."""
    known = cutile("_compile")._all_bytecode_versions(allow_dev)
    return max(each for each in known if (each.major(), each.minor()) <= NEWEST)


def swaps() -> list[tuple[Any, Any]]:
    """Functions of cuTile, each with the one that stands in for it."""
    own = cutile("_compile")
    compiler = Compiler()
    # Who edits the compiler meanwhile must not find what is loaded now under the new digest.
    identity()
    return [
        (own._find_compiler_bin, lambda: compiler),
        (own._try_get_compiler_version, _version_of),
        (own._get_compiler_version_string, version),
        (own._get_max_supported_bytecode_version, newest_bytecode),
        (own._bytecode_to_mlir_text, disassembly),
    ]
