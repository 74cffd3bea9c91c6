"""Measure the reference executor: a GEMM against NumPy's own, and an elementwise grid."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tilewright

GEMM = Path(__file__).parents[1] / "examples" / "gemm.mlir"
TENSOR = "tensor_view<1024000xf32, strides=[1]>"
VIEW = f"partition_view<tile=(1024), {TENSOR}>"
ADD = f"""\
cuda_tile.module @kernels {{
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>) {{
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [1024000], strides = [1] : {TENSOR}
    %yt = make_tensor_view %y, shape = [1024000], strides = [1] : {TENSOR}
    %ot = make_tensor_view %out, shape = [1024000], strides = [1] : {TENSOR}
    %xv = make_partition_view %xt : {VIEW}
    %yv = make_partition_view %yt : {VIEW}
    %ov = make_partition_view %ot : {VIEW}
    %u, %t0 = load_view_tko weak %xv[%b] : {VIEW}, tile<i32> -> tile<1024xf32>, token
    %v, %t1 = load_view_tko weak %yv[%b] : {VIEW}, tile<i32> -> tile<1024xf32>, token
    %s = addf %u, %v : tile<1024xf32>
    %t2 = store_view_tko weak %s, %ov[%b] : tile<1024xf32>, {VIEW}, tile<i32> -> token
    return
  }}
}}
"""


def best(action: Callable[[], object], times: int) -> float:
    """Return the shortest time of an action, in seconds."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def gemm(times: int, n: int = 512) -> str:
    """C = A · B in f32, against NumPy on the same matrices in the same run."""
    module = tilewright.read(GEMM.read_text().replace("f16", "f32"))
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    grid = (n // 128, n // 128)
    ours = best(lambda: tilewright.execute(module, None, grid, [a, b, c, n, n, n]), times)
    theirs = best(lambda: a @ b, times)
    assert np.array_equal(c, a @ b)
    return (
        f"GEMM {n}x{n}x{n} f32: {ours * 1e3:.1f} ms, NumPy {theirs * 1e3:.1f} ms, "
        f"{ours / theirs:.1f} times"
    )


def elementwise(times: int) -> str:
    """The sum of two vectors, 1,000 blocks of 1,024 elements."""
    module = tilewright.read(ADD)
    random = np.random.default_rng(0)
    x, y, out = (random.standard_normal(1024000).astype(np.float32) for _ in range(3))
    seconds = best(lambda: tilewright.execute(module, None, 1000, [x, y, out]), times)
    assert np.array_equal(out, x + y)
    return f"elementwise, 1,000 blocks: {3 * x.nbytes / seconds / 1e6:.0f} MB/s"


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(gemm(repeats))
    print(elementwise(repeats))
