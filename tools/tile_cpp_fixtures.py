"""Write the Tile IR of the CUDA Tile C++ programs in tests/nvcc, for machines without nvcc."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.disassembly import disassemble
from tilewright.driver.nvcc.frontend import OPTIONS
from tilewright.driver.nvcc.toolkit import find_nvcc

TESTS: Final = Path(__file__).parents[1] / "tests" / "nvcc"
PROGRAMS: Final = TESTS / "programs"
FIXTURES: Final = TESTS / "tile_ir"
ARCH: Final = "sm_90"
UNLISTED: Final = ("launch",)
"""Programs with host code: nothing launches their kernels from Python."""


def tile_ir(program: Path) -> str:
    """Return the Tile IR of a program as text, without locations, which have paths."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "kernels.tilebc")
        command = [find_nvcc().path, *OPTIONS, "-arch", ARCH, program.name, "-o", output]
        # Assertions have the name of the file as it is given.
        subprocess.run(command, cwd=program.parent, check=True)
        module = read_bytecode(Path(output).read_bytes(), program.name)
    return disassemble(module)


def programs() -> list[Path]:
    """Return the programs that have fixtures."""
    return [path for path in sorted(PROGRAMS.glob("*.cu")) if path.stem not in UNLISTED]


def main() -> int:
    """Write all fixtures."""
    FIXTURES.mkdir(exist_ok=True)
    for program in programs():
        target = FIXTURES / f"{program.stem}.mlir"
        target.write_text(tile_ir(program))
        print(target, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
