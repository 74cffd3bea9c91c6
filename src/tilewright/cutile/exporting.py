"""`python -m tilewright.cutile.exporting FOLDER SCRIPT`: write the kernels that a program launches.

The program runs, but no kernel does: each launch writes the bytecode of its kernel, under the name
of the Python function, once for each signature; after `--arguments`, the arguments too.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tilewright.cutile.launching import export_bytecode
from tilewright.cutile.signatures import Arguments
from tilewright.cutile.switching import replace_object
from tilewright.cutile.versions import cutile
from tilewright.driver.cutile_kernels import ARGUMENTS, BYTECODE, WITH_ARGUMENTS
from tilewright.reference.tile import is_array

WRONG_USAGE: Final = 2
MOST_BYTES: Final = 1 << 26
"""The largest array that is written."""


def exporting_launch(folder: str, *, with_arguments: bool = False) -> Callable[..., None]:
    """A replacement of `ct.launch` that writes the bytecode of kernels to a folder."""
    written: set[str] = set()

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
        # Numbers keep the order of the launches.
        stem = os.path.join(folder, f"{len(written):03}-{kernel_name(kernel)}")
        written.add(signature.symbol)
        with open(stem + BYTECODE, "wb") as file:
            file.write(export_bytecode(kernel, signature))
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
    replace_object(cutile().launch, exporting_launch(folder, with_arguments=with_arguments))
    sys.argv = list(words[1:])
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
