"""Measure the analyses of nv_tileaa on the corpus.

python benchmarks/analysis.py [--every 16] [--repeat 5]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

# Before this folder, which has a module of the same name.
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from corpus_checks import load_modules
from stage1 import lowered

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.ranges import Ranges
from tilewright.dialects.nv_tileaa.structure import FuncOp

ANALYSES: dict[str, Callable[[FuncOp], object]] = {
    "ranges": Ranges,
    "axis facts": AxisFacts,
}


def main() -> None:
    """Print the best time of several runs for each analysis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=16, help="only one corpus module in N")
    parser.add_argument("--repeat", type=int, default=5, help="number of runs; the best counts")
    options = parser.parse_args()
    roots = [lowered(module) for module in load_modules()[:: options.every]]
    functions = [op for root in roots for op in root.walk() if isinstance(op, FuncOp)]
    count = sum(1 for function in functions for _ in function.walk())
    for name, analysis in ANALYSES.items():
        times: list[float] = []
        for _ in range(options.repeat):
            start = process_time()
            for function in functions:
                analysis(function)
            times.append(process_time() - start)
        best = min(times)
        print(f"{name:12} {count} operations, {best * 1e6 / count:5.2f} us each, "
              f"{count / best:9.0f} operations/s")  # fmt: skip


if __name__ == "__main__":
    main()
