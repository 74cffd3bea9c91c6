"""out = softmax of the rows of x in cuTile Python: one row a block."""

import cuda.tile as ct
import numpy as np


@ct.kernel
def softmax(x, out, columns: ct.Constant[int]):
    """Normalize rows by softmax."""
    row = ct.bid(0)
    values = ct.load(x, (row, 0), (1, columns))
    weights = ct.exp(values - ct.max(values, axis=1, keepdims=True))
    ct.store(out, (row, 0), weights / ct.sum(weights, axis=1, keepdims=True))


x = np.random.default_rng(1).standard_normal((8, 128)).astype(np.float32)
ct.launch(None, (8,), softmax, (x, np.zeros_like(x), 128))
