"""`python -m tilewright.cutile.exporting FOLDER SCRIPT`: write the kernels that a program launches.

The program runs, but no kernel does: each launch writes the bytecode of its kernel, under the name
of the Python function, once for each signature; after `--arguments`, the arguments too.

A program that checks its results fails, as arrays keep their values: kernels that are written
before that are still good.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final

import numpy as np

from tilewright.cutile.launching import export_bytecode
from tilewright.cutile.signatures import Arguments
from tilewright.cutile.switching import replace_objects
from tilewright.cutile.versions import cutile
from tilewright.driver.cutile_kernels import ARGUMENTS, BYTECODE, WITH_ARGUMENTS
from tilewright.reference.tile import is_array
from tilewright.support.diagnostics import Severity
from tilewright.support.tracebacks import (
    begin_at_program,
    ends_tracebacks,
    is_ours,
    keeps_all_frames,
)

WRONG_USAGE: Final = 2
MOST_BYTES: Final = 1 << 26
"""The largest array that is written."""


def exporting_launch(folder: str, *, with_arguments: bool = False) -> Callable[..., None]:
    """A replacement of `ct.launch` that writes the bytecode of kernels to a folder."""
    written: set[str] = set()

    @ends_tracebacks
    def launch(
        stream: Any,
        grid: Sequence[int],
        kernel: Any,
        kernel_args: Sequence[Any],
        /,
        *,
        programmatic_dependent_launch: bool = False,
    ) -> None:
        """`ct.launch` that runs nothing."""
        arguments = Arguments(kernel, kernel_args)
        signature = arguments.signature
        if signature.symbol in written:
            return
        data = export_bytecode(kernel, signature)
        # Numbers keep the order of the launches.
        stem = os.path.join(folder, f"{len(written):03}-{kernel_name(kernel)}")
        written.add(signature.symbol)
        with open(stem + BYTECODE, "wb") as file:
            file.write(data)
        if with_arguments:
            write_arguments(stem, grid, arguments)

    return launch


def write_arguments(stem: str, grid: int | Sequence[int], arguments: Arguments) -> None:
    """Write the grid and the flat parameters of a launch, and each array to a file of its own."""
    values: list[Any] = []
    for index, value in enumerate(arguments.parameters):
        recorded = value if isinstance(value, bool | int | float) else None
        # Strides among the parameters are those of the array in memory.
        if is_array(value) and value.flags.c_contiguous and value.nbytes <= MOST_BYTES:
            recorded = f"{stem}.{index}.npy"
            np.save(recorded, value)
        values.append(recorded)
    extents = [grid] if isinstance(grid, int) else list(grid)
    launch = {"grid": extents, "names": arguments.names, "arguments": values}
    with open(stem + ARGUMENTS, "w", encoding="utf-8") as file:
        json.dump(launch, file)


def kernel_name(kernel: Any) -> str:
    """The name of the Python function of a kernel."""
    return getattr(getattr(kernel, "_pyfunc", kernel), "__name__", "kernel")


def main(words: Sequence[str]) -> int:
    """Run a program with its arguments."""
    with_arguments = words[:1] == [WITH_ARGUMENTS]
    words = words[with_arguments:]
    if len(words) < 2:
        print("usage: python -m tilewright.cutile.exporting "
              f"[{WITH_ARGUMENTS}] FOLDER SCRIPT [ARGS...]", file=sys.stderr)  # fmt: skip
        return WRONG_USAGE
    folder, script, *_ = words
    replace_objects([(cutile().launch, exporting_launch(folder, with_arguments=with_arguments))])
    sys.argv = list(words[1:])
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    begin_at_program(__file__)
    try:
        runpy.run_path(script, run_name="__main__")
    except (Exception, SystemExit) as error:
        line = _failed_check(error, script)
        if line is None or not any(file.endswith(BYTECODE) for file in os.listdir(folder)):
            raise
        _report_end(error, script, line)
    return 0


def _failed_check(error: BaseException, script: str) -> int | None:
    """The line of the script that raised what is no fault of a launch; None for other errors."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return None
    lines = [number for each, number in traceback.walk_tb(error.__traceback__)
             if each.f_code.co_filename == script]  # fmt: skip
    return lines[-1] if lines and not _is_of_launch(error.__traceback__, script) else None


def _is_of_launch(trace: TracebackType | None, script: str) -> bool:
    """Whether a function of ours that the program called has raised an exception."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(trace)]
    return any(map(is_ours, files[files.index(script) :]))


def _report_end(error: BaseException, script: str, line: int) -> None:
    """Say in one line how the program ended, and why that may not be its fault."""
    ending = type(error).__name__
    if isinstance(error, SystemExit):
        ending = f"exit code {error.code if isinstance(error.code, int) else 1}"
    if keeps_all_frames():
        traceback.print_exception(error)
    print(
        f"{script}:{line}: {Severity.NOTE.value}: the program ended with {ending} after its "
        "kernels were recorded; kernels are not run, so arrays keep their values",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
