"""Time kernels that the compiler was not tuned for on a GPU, and check them against torch in f32.

    python benchmarks/validation_kernels.py [--only REGEX] [--against FILE]

Options and output are those of `gemm_variants.py`. Each of the 40 kernels has one shape and four
tiles; two compilers, or two versions of one, are compared by the fastest tile of each kernel. The
kernels, shapes and tiles do not change, so that they measure whether a choice generalizes.

Kernels are in `validation_attention.py`, `validation_decode.py`, `validation_gemm.py`,
`validation_rows.py` (norms, softmax), `validation_scans.py` (scans, recurrences) and
`validation_indexed.py` (gathers, histograms, convolutions); shapes and tiles in
`validation_cases.py`.
"""

from __future__ import annotations

import sys

from validation_cases import VARIANTS
from variant_timing import time_variants

if __name__ == "__main__":
    sys.exit(time_variants("Time kernels that the compiler was not tuned for.", VARIANTS))
