"""What cuTile asks of `tileiras` and `tileirdisasm`, answered in this process.

cuTile finds a program, asks it for its version, probes which bytecode it takes, and gives it one
file after the other. Here it finds one that has the same command line, and no process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache, wraps
from io import StringIO
from typing import Any, NamedTuple

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import NEWEST
from tilewright.cutile.time_limit import OutOfTime, within
from tilewright.cutile.versions import cutile
from tilewright.driver.disassembly import disassemble
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Error
from tilewright.tileiras import main


class Ran(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


def run(words: Sequence[str]) -> Ran:
    """Run a command line of `tileiras`."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return Ran(code, out.getvalue(), err.getvalue())


@cache
def version() -> str:
    """What `tileiras --version` prints: the key under which cuTile keeps what we compile."""
    return run(["--version"]).out


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
            ran = within(timeout_sec, lambda: run([*args, *flags]))
        except OutOfTime:
            message = f"the compiler took longer than {timeout_sec} s; smaller tiles compile faster"
            raise errors.TileCompilerTimeoutError(message, options, version()) from None
        if ran.code:
            message, place = cutile("_compile")._parse_tileir_stderr(ran.err)
            raise errors.TileCompilerExecutionError(ran.code, message, place, options, version())


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


def naming_the_kernel(compile_tile: Callable[..., Any]) -> Callable[..., Any]:
    """cuTile's own compilation, with the kernel's name in the places of errors.

    cuTile reads file, line and column from what a compiler prints, but cannot show a place without
    the function that it is in.
    """

    @wraps(compile_tile)
    def compile_kernel(ann_func: Any, *args: Any, **keywords: Any) -> Any:
        try:
            return compile_tile(ann_func, *args, **keywords)
        except cutile("_exception").TileCompilerError as error:
            if not error.loc.is_unknown() and error.loc.function is None:
                error.loc = replace(error.loc, function=_describe(ann_func))
            raise

    return compile_kernel


def _describe(kernel: Any) -> Any:
    """What cuTile calls a function."""
    function = getattr(kernel, "pyfunc", kernel)
    code = function.__code__
    return cutile("_exception").FunctionDesc(
        function.__name__, code.co_filename, code.co_firstlineno, 1, is_entry=True
    )


def swaps() -> list[tuple[Any, Any]]:
    """Functions of cuTile, each with the one that stands in for it."""
    own = cutile("_compile")
    compiler = Compiler()
    return [
        (own._find_compiler_bin, lambda: compiler),
        (own._try_get_compiler_version, _version_of),
        (own._get_compiler_version_string, version),
        (own._get_max_supported_bytecode_version, newest_bytecode),
        (own._bytecode_to_mlir_text, disassembly),
        (own.compile_tile, naming_the_kernel(own.compile_tile)),
    ]
