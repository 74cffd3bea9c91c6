"""out = x + y in cuTile Python: 16 elements a block."""

import cuda.tile as ct
import numpy as np


@ct.kernel
def add(x, y, out, size: ct.Constant[int]):
    """Add two vectors."""
    block = ct.bid(0)
    a = ct.load(x, (block,), (size,))
    b = ct.load(y, (block,), (size,))
    ct.store(out, (block,), a + b)


x = np.arange(64, dtype=np.float32)
y = np.ones(64, np.float32)
ct.launch(None, (4,), add, (x, y, np.zeros_like(x), 16))
