"""c = a · b in cuTile Python, with f32 accumulators: one tile of c per block."""

import cuda.tile as ct
import numpy as np


@ct.kernel
def gemm(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """Multiply two matrices."""
    row, column = ct.bid(0), ct.bid(1)
    accumulator = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (row, k), (tm, tk))
        y = ct.load(b, (k, column), (tk, tn))
        accumulator = ct.mma(x, y, accumulator)
    ct.store(c, (row, column), accumulator.astype(c.dtype))


random = np.random.default_rng(1)
a = random.standard_normal((64, 128)).astype(np.float16)
b = random.standard_normal((128, 64)).astype(np.float16)
ct.launch(None, (1, 1), gemm, (a, b, np.zeros((64, 64), np.float32), 64, 64, 64))
