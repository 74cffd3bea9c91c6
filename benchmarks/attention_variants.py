"""Time attention kernels in cuTile Python on a GPU, and check them against torch in f32.

    python benchmarks/attention_variants.py [--only REGEX] [--schedule rotate=0]

Options and output are those of `gemm_variants.py`. A case may be several kernels that run one after
the other, such as the parts of a split decode and their combination; its time is that of all.

Kernels are in `attention_forward.py` (softmax, masks, bias), `attention_indexed.py` (windows,
lengths, pages), `attention_decode.py`, `attention_linear.py` and `attention_backward.py`; shapes
and tiles in `attention_cases.py`.
"""

from __future__ import annotations

import sys

from attention_cases import VARIANTS
from variant_timing import time_variants

if __name__ == "__main__":
    sys.exit(time_variants("Time attention kernels on a GPU.", VARIANTS))
