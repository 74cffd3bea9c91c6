"""GEMM kernels: one tile, with a loop over K, of any types and majors."""

from __future__ import annotations

from typing import Final

from gemm_text import KLoop, accumulator_of, kernel, zeros
from matrix_programs import View

EXTENT: Final = 1024
"""The rows and the columns of matrices in memory."""
STRIDES: Final = {"k": ((EXTENT, 1), (1, EXTENT)), "other": ((1, EXTENT), (EXTENT, 1))}
"""The strides of A and B in memory, by what is contiguous in it."""


def gemm(
    tile: tuple[int, int, int] = (128, 64, 64),
    element: str = "f8E4M3FN",
    *,
    a: str = "k",
    b: str = "other",
    after: str = "",
    fast: str = "",
    epilogue: str = "",
    result: str = "%sum",
) -> str:
    """A kernel with a loop over K; `after` follows the dot, whose result is `%d`.

    The `epilogue` follows the loop, whose result is `%sum`; `result` is stored.
    """
    m, n, k = tile
    extents = EXTENT, EXTENT
    left, right, stored = (
        View("a", extents, STRIDES[a][0], (m, k), element, "zero"),
        View("b", extents, STRIDES[b][1], (k, n), element, "zero"),
        View("c", extents, (EXTENT, 1), (m, n), accumulator_of(element), "zero"),
    )
    loop = KLoop(left, right, stored.tile_type, signs="signed unsigned", fast=fast, after=after)
    body = f"{zeros(stored.tile_type)}\n{loop.text()}\n{epilogue}\n{stored.store(result)}"
    return kernel([left, right, stored], body, arguments="%n: tile<i32>")
