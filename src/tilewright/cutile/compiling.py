"""In-process replacements for the `tileiras` and `tileirdisasm` that cuTile runs.

cuTile locates the compiler, queries its version, probes the bytecode versions it accepts, and
runs it once per kernel. These functions have the same interface and start no process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import PREVIEW
from tilewright.cutile.time_limit import OutOfTime, within
from tilewright.cutile.versions import cutile
from tilewright.driver.disassembly import disassemble
from tilewright.driver.stage_dump import dump_folder
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error
from tilewright.support.identity import identity
from tilewright.support.tracebacks import install_hooks
from tilewright.tileiras.command_line import read_job
from tilewright.tileiras.messages import CALLED
from tilewright.tileiras.run import (
    FAILED,
    WRONG_USAGE,
    Rejected,
    bug_text,
    perform,
    version_text,
)

_LOCATED: Final = re.compile(r'loc\("(.+)":(\d+):(\d+)\)(?: in (\S+))?: (.*)')
_ERROR: Final = "error: "
_NAMELESS: Final = "kernel"


class Failure(Exception):
    """A failed compilation: the message and the exit code of `tileiras`."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


def compile_file(words: Sequence[str]) -> None:
    """Run a `tileiras` command line; raises `Failure`."""
    mistakes: list[str] = []
    job = read_job(words, mistakes.append)
    if job is None:
        raise Failure(WRONG_USAGE, "\n".join(mistakes))
    try:
        with CollectorPause():
            perform(job)
    except Rejected as rejected:
        raise Failure(rejected.code, str(rejected)) from None
    except Exception as error:
        # An exit of a separate compiler process would not end its client.
        raise Failure(FAILED, bug_text(error)) from error


def version() -> str:
    """Return the output of `tileiras --version`, which keys cuTile's cubin cache."""
    return f"{version_text()}\n"


def _cache_version() -> str | None:
    """Return the version that keys cuTile's cubin cache; None, to bypass it, for a dump."""
    return None if dump_folder() else version()


def _version_of(program: object) -> str:
    return version()


class Compiler:
    """Replaces the compiler executable that cuTile locates."""

    path = "tileiras"

    def run(self, args: list[str], flags: list[str], timeout_sec: float | None = None) -> None:
        """Compile a file; raises cuTile's exceptions on failure and timeout."""
        errors = cutile("_exception")
        options = " ".join(flags)
        try:
            within(timeout_sec, lambda: compile_file([*args, *flags]))
        except OutOfTime:
            install_hooks()
            message = f"the compiler took longer than {timeout_sec} s; smaller tiles compile faster"
            raise errors.TileCompilerTimeoutError(message, options, version()) from None
        except Failure as failure:
            install_hooks()
            message, location = _split_location(str(failure))
            raise errors.TileCompilerExecutionError(
                failure.code, message, location, options, version()
            ) from failure.__cause__


def _split_location(text: str) -> tuple[str, Any]:
    """Split an error into its message and a cuTile location with call sites.

    cuTile also parses locations from the text, but without the function, and then fails to
    print them.
    """
    errors = cutile("_exception")
    lines: list[str] = []
    stack: list[Any] = []
    for line in text.splitlines():
        match = _LOCATED.fullmatch(line)
        if match is None:
            lines.append(line.removeprefix(_ERROR))
            continue
        file, row, column, name, words = match.groups()
        if not stack or words == CALLED:
            function = errors.FunctionDesc(name or _NAMELESS, file, int(row), 1)
            stack.append(errors.Loc(int(row), int(column), file, function=function))
        if words != CALLED:
            lines.append(words.removeprefix(_ERROR))
    location = None
    for outer in reversed(stack):
        location = outer if location is None else outer.with_call_site(location)
    return "\n".join(lines), location or errors.Loc.unknown()


def disassembly(
    bytecode: bytes | bytearray,
    *,
    preview_features: Sequence[str] = (),
    temp_dir: str | None = None,
    timeout_sec: float | None = None,
) -> str:
    """Disassemble bytecode for cuTile's logs and dumps."""
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
    """Return the newest bytecode version that cuTile writes and we read, without probing."""
    known = cutile("_compile")._all_bytecode_versions(allow_dev)
    return max(each for each in known if (each.major(), each.minor()) <= PREVIEW)


def replacements() -> list[tuple[Any, Any]]:
    """Return pairs of a cuTile function and its replacement."""
    own = cutile("_compile")
    compiler = Compiler()
    # Compute the digest before the sources of the loaded compiler can be edited.
    identity()
    return [
        (own._find_compiler_bin, lambda: compiler),
        (own._try_get_compiler_version, _version_of),
        (own._get_compiler_version_string, _cache_version),
        (own._get_max_supported_bytecode_version, newest_bytecode),
        (own._bytecode_to_mlir_text, disassembly),
    ]
