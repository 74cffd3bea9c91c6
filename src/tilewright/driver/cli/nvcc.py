"""`tilewright nvcc`: run nvcc, with this compiler for CUDA Tile C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.cli.options import HELP_NAMES, Arguments, Command
from tilewright.driver.nvcc.launch import nvcc
from tilewright.driver.nvcc.toolkit import NVCC_VARIABLE, OLDEST

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGNALLED: Final = 128
"""The exit code of a shell for a program that a signal ended, less the number of the signal."""

RELEASE: Final = ".".join(map(str, OLDEST))

HELP: Final = f"""\
usage: tilewright nvcc ARGS...

Run nvcc with Tilewright as the compiler of CUDA Tile C++ (`__tile_global__` kernels). Every
argument goes to nvcc as it is; output and exit code are nvcc's.

nvcc {RELEASE} or later is needed, with its host compiler. The first of these is used: the file
that {NVCC_VARIABLE} names, bin/nvcc of CUDA_HOME and CUDA_PATH, the package nvidia-cuda-nvcc, nvcc
on the path, /usr/local/cuda. Its files are not changed: it runs from a temporary folder of links,
in which `tileiras` is Tilewright's.

examples:
  tilewright nvcc --enable-tile -std=c++20 -arch=sm_90 --tilecubin kernel.cu -o kernel.cubin
  tilewright nvcc --enable-tile -std=c++20 -arch=sm_90 -Xtileiras --remarks=all \\
    program.cu -o program

`nvcc --help` explains its options. Among them, --enable-tile and -std=c++20 are needed for CUDA
Tile C++, -Xtileiras passes options to our compiler (`tileiras --help` lists them), and --dryrun
shows what would run. `tilewright compile kernel.cu` and `tilewright run kernel.cu` are shorter."""


class PassThrough(Command):
    """A command that leaves its arguments to another program."""

    def wants_help(self, arguments: Sequence[str]) -> bool:
        # Beside other arguments, it is an argument of nvcc.
        return len(arguments) == 1 and arguments[0] in HELP_NAMES

    def parse(self, arguments: Sequence[str]) -> Arguments:
        parsed = Arguments(self.options)
        parsed.files = list(arguments)
        return parsed

    def help(self, arguments: Sequence[str] = ()) -> str:
        return HELP


COMMAND: Final = PassThrough("nvcc", "", "", (), "", many=True, operand="ARGS")


def run(arguments: Arguments) -> int:
    """Run the subcommand."""
    code = nvcc(arguments.files).returncode
    return code if code >= 0 else _SIGNALLED - code
