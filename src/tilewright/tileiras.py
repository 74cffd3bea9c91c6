"""`tileiras` with the command line and exit codes of NVIDIA's compiler."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

from tilewright import __version__
from tilewright.driver.compile import Compilation, Settings, target
from tilewright.driver.api import read_level
from tilewright.driver.files import is_bytecode, read_input, write_output
from tilewright.driver.process import leave
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error

if TYPE_CHECKING:
    from collections.abc import Sequence


def script() -> NoReturn:
    """Run as a process of its own."""
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    if "--version" in words:
        print(f"tileiras: Tilewright {__version__} probe")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("-o", required=True)
    parser.add_argument("--gpu-name", default="sm_100")
    parser.add_argument("-O", type=int, default=3)
    parser.add_argument("--lineinfo", action="store_true")
    parser.add_argument("--device-debug", action="store_true")
    options, _ = parser.parse_known_args(words)
    try:
        with CollectorPause():
            data, name = read_input(options.file)
            if not is_bytecode(data):
                print("error: input does not correspond to Tile IR bytecode", file=sys.stderr)
                return 3
            module = read_level(data, name)
            verify(module)
            made = Compilation(
                module, Settings(target(options.gpu_name), options.O, options.lineinfo)
            ).to("cubin")
    except Error as error:
        print(error.render(), file=sys.stderr)
        return 5
    assert isinstance(made, bytes)
    write_output(options.o, made)
    return 0


if __name__ == "__main__":
    script()
