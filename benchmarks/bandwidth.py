"""Time softmax kernels in cuTile Python, and copies, on a GPU beside a copy of as many bytes.

    python benchmarks/bandwidth.py

`exp2` is softmax with the precision that attention kernels ask for: approximate exponentials and
divisions. The persistent copies show what the division of rows among blocks costs by itself: each
block has the same number of them, and some SMs have less bandwidth than others.

Prints a line for each kernel, element and shape: the time, the rate, and the speed relative to a
copy in device memory of the same run. Rows are longer than caches keep: more than 100 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import cuda.tile as ct
from cuda_graphs import copy_us, median_us

SHAPES: Final = ((65536, 1024), (65536, 2048), (65536, 4096), (16384, 16384), (100000, 1000))
TILE: Final = 1024
LOG2_E: Final = 1.4426950408889634
ConstInt = ct.Constant[int]


@ct.kernel
def one_row(x: Any, y: Any, tile: ConstInt) -> None:
    """Softmax of a row in one tile."""
    row = ct.load(x, index=(ct.bid(0), 0), shape=(1, tile), padding_mode=ct.PaddingMode.NEG_INF)
    values = ct.astype(row, ct.float32)
    weights = ct.exp(values - ct.max(values, axis=1, keepdims=True))
    result = weights / ct.sum(weights, axis=1, keepdims=True)
    ct.store(y, index=(ct.bid(0), 0), tile=ct.astype(result, y.dtype))


@ct.kernel
def exp2_row(x: Any, y: Any, tile: ConstInt) -> None:
    """Softmax of a row in one tile, with approximate exponentials and divisions."""
    row = ct.load(x, index=(ct.bid(0), 0), shape=(1, tile), padding_mode=ct.PaddingMode.NEG_INF)
    values = ct.astype(row, ct.float32) * LOG2_E
    shifted = values - ct.max(values, axis=1, keepdims=True)
    weights = ct.exp2(shifted, flush_to_zero=True)
    norm = ct.sum(weights, axis=1, keepdims=True)
    result = ct.truediv(weights, norm, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    ct.store(y, index=(ct.bid(0), 0), tile=ct.astype(result, y.dtype))


@ct.kernel
def persistent_copy(x: Any, y: Any, tile: ConstInt) -> None:
    """Copy rows in turn, each in one tile."""
    for number in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        row = ct.load(x, index=(number, 0), shape=(1, tile), padding_mode=ct.PaddingMode.ZERO)
        ct.store(y, index=(number, 0), tile=row)


@ct.kernel
def persistent_rows(x: Any, y: Any, tile: ConstInt) -> None:
    """Softmax of several rows in turn, each in one tile."""
    for number in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        row = ct.load(x, index=(number, 0), shape=(1, tile), padding_mode=ct.PaddingMode.NEG_INF)
        values = ct.astype(row, ct.float32)
        weights = ct.exp(values - ct.max(values, axis=1, keepdims=True))
        result = weights / ct.sum(weights, axis=1, keepdims=True)
        ct.store(y, index=(number, 0), tile=ct.astype(result, y.dtype))


@ct.kernel
def online(x: Any, y: Any, tile: ConstInt) -> None:
    """Softmax of a row in tiles: the maximum and the sum in one loop, the result in another."""
    count = ct.num_tiles(x, axis=1, shape=(1, tile))
    highest = ct.full((1, 1), -float("inf"), dtype=ct.float32)
    norm = ct.full((1, 1), 0.0, dtype=ct.float32)
    for k in range(count):
        part = ct.load(
            x, index=(ct.bid(0), k), shape=(1, tile), padding_mode=ct.PaddingMode.NEG_INF
        )
        values = ct.astype(part, ct.float32)
        higher = ct.maximum(highest, ct.max(values, axis=1, keepdims=True))
        norm = norm * ct.exp(highest - higher)
        norm = norm + ct.sum(ct.exp(values - higher), axis=1, keepdims=True)
        highest = higher
    for k in range(count):
        part = ct.load(
            x, index=(ct.bid(0), k), shape=(1, tile), padding_mode=ct.PaddingMode.NEG_INF
        )
        weights = ct.exp(ct.astype(part, ct.float32) - highest)
        ct.store(y, index=(ct.bid(0), k), tile=ct.astype(weights / norm, y.dtype))


def kernels(rows: int, columns: int) -> Iterator[tuple[str, Any, int, int]]:
    """The name, kernel, blocks and tile of each launch."""
    whole = 1 << (columns - 1).bit_length()
    yield "one row", one_row, rows, whole
    yield "exp2", exp2_row, rows, whole
    yield "persistent", persistent_rows, 132 * 8, whole
    yield "online", online, rows, TILE
    yield "persistent copy", persistent_copy, 132 * 8, whole


def measure(torch: Any, rows: int, columns: int, dtype: Any) -> None:
    """Time all kernels on one array, and print a line for each."""
    x = torch.randn(rows, columns, device="cuda").to(dtype)
    y = torch.empty_like(x)
    accessed = 2 * x.numel() * x.element_size()
    copy = copy_us(torch, accessed)
    for name, kernel, blocks, tile in kernels(rows, columns):

        def launch(kernel: Any = kernel, blocks: int = blocks, tile: int = tile) -> None:
            ct.launch(torch.cuda.current_stream(), (blocks,), kernel, (x, y, tile))

        time = median_us(torch, launch)
        expected = x.float() if kernel is persistent_copy else torch.softmax(x.float(), 1)
        difference = (y.float() - expected).abs().max().item()
        label = f"{name}, {rows}x{columns} {str(dtype).removeprefix('torch.')}"
        print(
            f"{label:46} {time:8.1f} us {accessed / time / 1e3:6.0f} GB/s, "
            f"{copy / time:.2f} of a copy, differs by {difference:.2g}",
            flush=True,
        )


def main() -> int:
    """Time softmax and copies in f16 and f32 on arrays of several shapes."""
    import torch  # noqa: PLC0415

    for rows, columns in SHAPES:
        for dtype in (torch.float16, torch.float32):
            measure(torch, rows, columns, dtype)
    return 0


if __name__ == "__main__":
    sys.exit(main())
