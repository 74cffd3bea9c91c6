"""Time variants of GEMM kernels in cuTile Python on a GPU, and check them against torch in f32.

    python benchmarks/gemm_variants.py [--only REGEX] [--schedule stages=4]

The compiler is the `tileiras` on the PATH: ours, or NVIDIA's, which ignores schedules. Each
schedule runs in a process of its own, without caches. Prints, for each kernel, shape and tile, the
median of CUDA graphs of 20 launches, and the largest difference from torch as a fraction of the
largest element; one that the compiler rejects or that fails is named as such. `--against FILE`
adds the ratio of the times in the output of another run, of NVIDIA's compiler for instance: above 1
this run is faster. `--list` prints the cases; `--resources` compiles them for sm_90, without a GPU
and torch, and prints registers, shared memory, spills and warnings of ptxas. Kernels are compiled
beforehand, by several processes that share cuTile's cache.

Kernels are in `variant_kernels.py` (operand order, distribution of work), `variant_fused.py`
(epilogues, several dots), `variant_quantized.py` and `variant_indexed.py`; shapes and tiles in
`variant_cases.py`.
"""

from __future__ import annotations

import sys

from variant_cases import VARIANTS
from variant_timing import time_variants

if __name__ == "__main__":
    sys.exit(time_variants("Time variants of GEMM kernels on a GPU.", VARIANTS))
