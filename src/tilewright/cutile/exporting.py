"""`python -m tilewright.cutile.exporting FOLDER SCRIPT`: write the kernels that a program launches.

The program runs, but no kernel does: each launch writes the bytecode of its kernel, under the name
of the Python function, once for each signature.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from tilewright.cutile.launching import export_bytecode
from tilewright.cutile.signatures import Arguments
from tilewright.cutile.switching import replace_object
from tilewright.cutile.versions import cutile

SUFFIX: Final = ".tileirbc"
WRONG_USAGE: Final = 2


def exporting_launch(folder: str) -> Callable[..., None]:
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
        signature = Arguments(kernel, kernel_args).signature
        if signature.symbol in written:
            return
        # Numbers keep the order of the launches.
        name = f"{len(written):03}-{kernel_name(kernel)}{SUFFIX}"
        written.add(signature.symbol)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(export_bytecode(kernel, signature))

    return launch


def kernel_name(kernel: Any) -> str:
    """The name of the Python function of a kernel."""
    return getattr(getattr(kernel, "_pyfunc", kernel), "__name__", "kernel")


def main(words: Sequence[str]) -> int:
    """Run a program with its arguments."""
    if len(words) < 2:
        print("usage: python -m tilewright.cutile.exporting FOLDER SCRIPT [ARGS...]",
              file=sys.stderr)  # fmt: skip
        return WRONG_USAGE
    folder, script, *_ = words
    replace_object(cutile().launch, exporting_launch(folder))
    sys.argv = list(words[1:])
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
