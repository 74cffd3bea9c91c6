"""Run all rows of cuTile Python's benchmarks, each compiler at its best of several tiles.

    python benchmarks/all_rows.py [--only attention norms]

Runs on a GPU in the root of a checkout whose `.gpu/` holds cuTile's tests and packages and, for
`reference`, NVIDIA's tileiras. Each step runs some rows with both compilers at tiles of their own
(`benchmarks/tiles/`; tileiras also at those that its tuner chose); the best time of a row counts.
Prints a table of all rows, and geometric means of the speed relative to tileiras.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path
from typing import Final, NamedTuple

from cutile_rows import Rows, add_copies, add_rows, choose_tiles, run, table

TILES: Final = Path("benchmarks") / "tiles"
COMPILERS: Final = {"ours": "src", "tileiras": "reference"}
TUNED: Final = ""
"""Instead of a file: the tiles that were tuned with NVIDIA's compiler."""
SAME: Final = ("vec_add", "transpose")
"""Rows that are bound by copies alone, so that no compiler is faster."""


class Step(NamedTuple):
    """Rows that both compilers run with a choice of tiles each."""

    files: tuple[str, ...]
    ours: str
    tileiras: str
    expression: str = ""
    torch: bool = True


GEMMS: Final = ("bench_matmul.py",)
ATTENTION: Final = ("bench_attention.py",)
LARGE: Final = "not split_k and not (1K-1K-1K and not batch)"
STEPS: Final = {
    "attention": Step(ATTENTION, "ours", TUNED),
    "decode": Step(ATTENTION, "decode-64x128", "decode-64x128-occupancy-2", "decode", torch=False),
    "norms": Step(("bench_layer_norm.py", "bench_rms_norm.py", "bench_fft.py"), "ours", TUNED),
    "copies": Step(("bench_transpose.py", "bench_vec_add.py"), TUNED, TUNED, "not (1G or 1Mx)"),
    "transpose": Step(("bench_transpose.py",), "transpose-64x128", TUNED),
    "gemm-f16": Step(GEMMS, "gemm-128x256x64", TUNED, f"f16 and {LARGE}"),
    "gemm-f16-two-ctas": Step(
        GEMMS, "gemm-256x256x64-two-ctas", TUNED, f"f16 and {LARGE}", torch=False
    ),
    "gemm-f32": Step(GEMMS, "gemm-256x128x32", TUNED, f"f32 and {LARGE}"),
    "gemm-fp8": Step(GEMMS, "gemm-256x128x128", TUNED, "f8e"),
    "gemm-small": Step(
        GEMMS,
        "gemm-128x128x64-two-ctas",
        "gemm-128x128x64-two-ctas",
        "1K-1K-1K and not batch",
    ),
    "gemm-small-tuned": Step(GEMMS, TUNED, TUNED, "1K-1K-1K"),
    "split-k": Step(GEMMS, TUNED, TUNED, "split_k"),
}


def main() -> int:
    """Run the steps that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    parser.add_argument("--limit", type=float, default=200, help="seconds for each compiler")
    arguments = parser.parse_args()
    out = Path(os.environ.get("OUT", "out")).resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows: Rows = {}
    for name in arguments.only:
        print(f"{name}:", flush=True)
        merge_best(rows, times(STEPS[name], out, arguments.limit))
    print(table(rows, ["ours", "tileiras", "torch", "copy"]))
    print(summary(rows))
    return 0


def times(step: Step, out: Path, limit: float) -> Rows:
    """The times of a step, with those of torch and of copies."""
    rows: Rows = {}
    for label, compiler in COMPILERS.items():
        tiles = getattr(step, label)
        choose_tiles(TILES / f"{tiles}.json" if tiles else None)
        results = out / f"{label}.json"
        results.unlink(missing_ok=True)
        selected = argparse.Namespace(
            files=list(step.files), expression=step.expression, limit=limit
        )
        run(label, compiler, selected, results, torch=step.torch and label == "ours")
        if results.exists() and results.stat().st_size:
            add_rows(rows, results, label)
            if label == "ours":
                add_copies(rows, results)
    return rows


def merge_best(rows: Rows, others: Rows) -> None:
    """Keep the best time of each row and column."""
    for row, columns in others.items():
        for column, time in columns.items():
            best = rows.setdefault(row, {}).get(column, math.inf)
            rows[row][column] = min(best, time)


def summary(rows: Rows) -> str:
    """Geometric means of the speed relative to tileiras, and the lowest one."""
    ratios = {
        row: times["tileiras"] / times["ours"]
        for row, times in rows.items()
        if {"ours", "tileiras"} <= times.keys()
    }
    others = [ratio for row, ratio in ratios.items() if not row.startswith(SAME)]
    lines: list[str] = []
    if ratios:
        lowest = min(ratios, key=lambda row: ratios[row])
        lines.append(f"all {len(ratios)} rows: {mean(list(ratios.values())):.2f}")
        lines.append(f"lowest: {ratios[lowest]:.2f} ({lowest})")
    if others:
        lines.append(f"without vector add and transpose, {len(others)} rows: {mean(others):.2f}")
    return "\n".join(lines)


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


if __name__ == "__main__":
    sys.exit(main())
