"""Write the kernels of `tests/run` with tiles as large as those of real kernels, as bytecode.

    python tools/scaled_programs.py FOLDER

Each kernel with tiles of a program in Tile IR is a module of its own. All extents of its tiles
above 1, and the equal numbers in its attributes, views and constants, are multiplied by one power
of two: the largest that leaves each tile at most 128×128 elements (4,096 in a kernel without dots)
and 64 KiB. The kernels are for compilers only: nothing says what they compute. Those that no
longer verify are left out, and named.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Final

from corpus_checks import NEWEST

import tilewright
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.mma import MmaOp
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.dialects.cuda_tile.tile_types import TileType
from tilewright.driver.assembly import parse_module
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

RUN: Final = Path(__file__).parent.parent / "tests" / "run"
LEVELS_BELOW: Final = ("low", "nv_tileaa", "errors")
"""Folders of programs that are not Tile IR, or not meant to run."""
MOST_ELEMENTS: Final = 4096
MOST_OF_DOTS: Final = 128 * 128
MOST_BITS: Final = 64 * 1024 * 8
POINTER: Final = 64

_SHAPE: Final = re.compile(r"(?<![\w.%@#!-])\d+(?:x\d+)*(?=x[a-z]|\b)(?!\.\d)")
_KEPT: Final = re.compile(r"(div_by<[^>]*>|optimization_hints=<[^\n]*?}>)")
"""Alignments and hints, which do not grow with tiles."""


def kernels(module: ModuleOp) -> Iterator[tuple[str, ModuleOp]]:
    """For each kernel with tiles its name, and a module without the others."""
    entries = [op for op in module.walk() if isinstance(op, EntryOp)]
    for entry in entries:
        single = module.clone()
        for op in [op for op in single.walk() if isinstance(op, EntryOp)]:
            if op.sym_name != entry.sym_name:
                op.erase()
        if tiles(single):
            yield str(entry.sym_name), single


def tiles(module: Operation) -> set[TileType]:
    """The types of the tiles of a module with more than one element."""
    values = [value for op in module.walk() for value in (*op.operands, *op.results)]
    types = {value.type for value in values if isinstance(value.type, TileType)}
    return {each for each in types if each.count > 1}


def scale_of(module: Operation) -> int:
    """The power of two to multiply extents by."""
    dots = any(isinstance(op, MmaOp) for op in module.walk())
    most = MOST_OF_DOTS if dots else MOST_ELEMENTS
    scale = 1
    while all(_fits(tile, scale * 2, most) for tile in tiles(module)):
        scale *= 2
    return scale


def _fits(tile: TileType, scale: int, most: int) -> bool:
    elements = prod(extent * scale if extent > 1 else 1 for extent in tile.shape)
    bits = getattr(tile.element, "width", POINTER)
    return elements <= most and elements * bits <= MOST_BITS


def scaled_text(text: str, extents: set[int], scale: int) -> str:
    """Multiply the numbers that are among these extents, but not alignments and hints."""

    def scaled(match: re.Match[str]) -> str:
        numbers = (int(number) for number in match[0].split("x"))
        return "x".join(str(n * scale if n in extents else n) for n in numbers)

    parts = _KEPT.split(text)
    return "".join(
        part if index % 2 else _SHAPE.sub(scaled, part) for index, part in enumerate(parts)
    )


def scaled(module: ModuleOp, name: str) -> tuple[ModuleOp, int]:
    """A module with larger tiles, and what extents were multiplied by."""
    scale = scale_of(module)
    extents = {extent for tile in tiles(module) for extent in tile.shape if extent > 1}
    larger = parse_module(scaled_text(print_op(module), extents, scale), name)
    verify(larger)
    return larger, scale


def main() -> None:
    """Write all kernels, and print how many there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    written = left_out = 0
    for path in sorted(RUN.rglob("*.mlir")):
        if path.relative_to(RUN).parts[0] in LEVELS_BELOW:
            continue
        for kernel, module in kernels(parse_module(path.read_text(), path.name)):
            name = f"{path.parent.name}-{path.stem}-{kernel}"
            try:
                larger, scale = scaled(module, name)
            except tilewright.Error as error:
                left_out += 1
                print(f"{name}: {str(error).splitlines()[0]}")
                continue
            written += 1
            data = write_bytecode(larger, NEWEST)
            (folder / f"{name}-x{scale}.tileirbc").write_bytes(data)
    print(f"{written} kernels, {left_out} left out")


if __name__ == "__main__":
    main()
