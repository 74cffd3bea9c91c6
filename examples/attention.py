"""out = softmax(q · kᵀ / 8) · v in cuTile Python: a tile of queries per block, a loop over keys."""

import math

import cuda.tile as ct
import numpy as np


@ct.kernel
def attention(q, k, v, out, scale: float, tile: ct.Constant[int], width: ct.Constant[int]):
    """Attend to all keys."""
    row = ct.bid(0)
    query = ct.load(q, (row, 0), (tile, width))
    maximum = ct.full((tile, 1), -math.inf, dtype=ct.float32)
    denominator = ct.zeros((tile, 1), dtype=ct.float32)
    accumulator = ct.zeros((tile, width), dtype=ct.float32)
    for i in range(ct.num_tiles(k, axis=0, shape=(tile, width))):
        key = ct.load(k, (i, 0), (tile, width))
        scores = ct.mma(query, key.transpose(), ct.zeros((tile, tile), dtype=ct.float32)) * scale
        largest = max(maximum, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp(scores - largest)
        correction = ct.exp(maximum - largest)
        denominator = denominator * correction + ct.sum(weights, axis=1, keepdims=True)
        value = ct.load(v, (i, 0), (tile, width))
        accumulator = ct.mma(weights.astype(value.dtype), value, accumulator * correction)
        maximum = largest
    ct.store(out, (row, 0), (accumulator / denominator).astype(out.dtype))


random = np.random.default_rng(1)
q, k, v = (random.standard_normal((rows, 64)).astype(np.float16) for rows in (64, 128, 128))
ct.launch(None, (1,), attention, (q, k, v, np.zeros_like(q), 1 / 8, 64, 64))
