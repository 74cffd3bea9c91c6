"""Print the program of a seed, the coverage of many seeds, or a reduced failing program."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import tile_module
from tilewright.driver.reduction.programs import reduce_module
from tilewright.ir.operation import Operation
from tilewright.testing.generate.coverage import Coverage
from tilewright.testing.generate.elements import PROFILES
from tilewright.testing.generate.kernel import Options
from tilewright.testing.generate.program import generate


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tilewright.testing.generate",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=Options().size, help="number of statements")
    parser.add_argument("--profile", choices=tuple(PROFILES), default=Options().profile)
    parser.add_argument("--unfolded", action="store_true", help="constants become arguments")
    parser.add_argument("--coverage", type=int, metavar="N", help="coverage of N seeds from --seed")
    smaller = "reduce the program while COMMAND fails; {} in it is a bytecode file"
    parser.add_argument("--shrink", metavar="COMMAND", help=smaller)
    given = parser.parse_args()
    options = Options(given.size, given.profile, given.unfolded)
    if given.coverage:
        print(_coverage(given.seed, given.coverage, options))
        return 0
    program = generate(given.seed, options)
    if given.shrink is None:
        print(program, end="")
        return 0
    return _shrink(program.module(), given.shrink)


def _coverage(first: int, count: int, options: Options) -> Coverage:
    coverage = Coverage()
    for seed in range(first, first + count):
        coverage.add(generate(seed, options).module())
    return coverage


def _shrink(module: Operation, command: str) -> int:
    """Print the smallest program for which a command gives the same exit status."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.tileirbc"

        def status(candidate: Operation) -> int:
            file.write_bytes(write_bytecode(tile_module(candidate, "program")))
            return subprocess.run(
                command.replace("{}", str(file)), shell=True, capture_output=True, check=False
            ).returncode

        wanted = status(module)
        if wanted == 0:
            print("the command does not fail", file=sys.stderr)
            return 1
        print(reduce_module(module, lambda candidate: status(candidate) == wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
