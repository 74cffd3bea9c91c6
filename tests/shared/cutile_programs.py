"""Kernels in cuTile Python whose Tile IR is in `tests/run/cutile`: what the corpus does not use.

    python tests/shared/cutile_programs.py

writes the modules of all files anew, below the comments that say how they run.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import cuda.tile as ct
import numpy as np
from cuda.tile.compilation import export_kernel

import tilewright
from tilewright.cutile.signatures import Arguments

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from gemm_kernels import split_gemm

FOLDER: Final = Path(__file__).parents[1] / "run" / "cutile"
VERSION: Final = "13.4"
ACQUIRE: Final = ct.MemoryOrder.ACQUIRE
ConstInt = ct.Constant[int]


@ct.kernel
def unchanged(x, out):
    """Atomics that leave memory as it is."""
    at = ct.bid(0) * 64 + ct.arange(64, dtype=ct.int32)
    acc = ct.atomic_add(x, at, 0, memory_order=ACQUIRE)
    acc += ct.atomic_or(x, at, 0, memory_order=ACQUIRE)
    acc += ct.atomic_xor(x, at, 0, memory_order=ACQUIRE)
    acc += ct.atomic_and(x, at, -1, memory_order=ACQUIRE)
    acc += ct.atomic_cas(x, at, 3, 3, memory_order=ACQUIRE)
    ct.store(out, (ct.bid(0),), acc)


@ct.kernel
def constants(x, out):
    """Dots of constant tiles."""
    zeros, scales = ct.zeros((16, 16), ct.float16), ct.full((16, 16), 0.5, ct.float16)
    threes, ones = ct.full((16, 16), 3, ct.float16), ct.full((16, 16), 1, ct.float32)
    acc = ct.load(x, (0, 0), (16, 16)) + ct.mma(zeros, threes, ones)
    ct.store(out, (0, 0), acc + ct.mma(scales, threes, ones))


@ct.kernel
def masked(x, out):
    """Accesses whose masks are constants."""
    at = ct.arange(64, dtype=ct.int32)
    never, always = ct.full((64,), False, ct.bool_), ct.full((64,), True, ct.bool_)
    ct.scatter(out, at, ct.gather(x, at), mask=never)
    ct.scatter(out, at, ct.gather(x, at, mask=never, padding_value=4) + 1, mask=always)


@ct.kernel
def distance(x, y, out):
    """Minimum and maximum of unsigned integers."""
    a, b = ct.load(x, (ct.bid(0),), (64,)), ct.load(y, (ct.bid(0),), (64,))
    ct.store(out, (ct.bid(0),), ct.maximum(a, b) - ct.minimum(a, b))


@ct.kernel(num_ctas=2)
def persistent_gemm(a, b, c, rows: ConstInt, columns: ConstInt, tile_k: ConstInt):
    """A persistent GEMM whose tiles are shared by clusters of two blocks."""
    across = ct.num_tiles(c, 1, (rows, columns))
    tiles = ct.num_tiles(c, 0, (rows, columns)) * across
    for tile in range(ct.bid(0), tiles, ct.num_blocks(0)):
        row, column = tile // across, tile % across
        acc = ct.zeros((rows, columns), ct.float32)
        for step in range(ct.num_tiles(a, 1, (rows, tile_k))):
            left = ct.load(a, (row, step), (rows, tile_k), padding_mode=ct.PaddingMode.ZERO)
            right = ct.load(b, (step, column), (tile_k, columns), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(left, right, acc)
        ct.store(c, (row, column), acc)


def _zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


CASES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "unchanged": (unchanged, (_zeros(128, dtype="int32"), _zeros(128, dtype="int32"))),
    "constants": (constants, (_zeros(16, 16), _zeros(16, 16))),
    "masked": (masked, (_zeros(64), _zeros(64))),
    "distance": (distance, (_zeros(128, dtype="uint32"),) * 3),
    "persistent_gemm": (
        persistent_gemm,
        (*(_zeros(256, 256, dtype="float16"),) * 2, _zeros(256, 256), 128, 256, 64),
    ),
    "split_gemm": (
        split_gemm,
        (*(_zeros(256, 256, dtype="float16"),) * 2, _zeros(256, 256), 128, 256, 64, 2),
    ),
}
"""The kernel of each file, and arguments whose types it is compiled for."""


def emitted(name: str) -> str:
    """The module that cuTile Python makes of a kernel, as text."""
    kernel, arguments = CASES[name]
    code, signature = BytesIO(), Arguments(kernel, arguments).signature
    export_kernel(
        kernel, [signature], code, output_format="tileir_bytecode", bytecode_version=VERSION
    )
    return tilewright.read(code.getvalue()).to_text()


def split(text: str) -> tuple[str, str]:
    """The comments at the start of a file, and the module."""
    lines = text.splitlines(keepends=True)
    count = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    return "".join(lines[:count]), "".join(lines[count:])


if __name__ == "__main__":
    for case in CASES:
        path = FOLDER / f"{case}.mlir"
        path.write_text(split(path.read_text())[0] + emitted(case))
