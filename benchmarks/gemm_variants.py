"""Time variants of GEMM kernels in cuTile Python on a GPU, and check them against torch in f32.

    python benchmarks/gemm_variants.py [--only REGEX] [--schedule stages=4]

The compiler is the `tileiras` on the PATH: ours, or NVIDIA's, which ignores schedules. Each
schedule runs in a process of its own, without caches. Prints, for each kernel, shape and tile, the
median of CUDA graphs of 20 launches, and the largest difference from torch as a fraction of the
largest element; one that the compiler rejects or that fails is named as such. `--against FILE`
adds the ratio of the times in the output of another run, of NVIDIA's compiler for instance: above 1
this run is faster. `--list` prints the cases. Kernels are compiled beforehand, by several processes
that share cuTile's cache.

Kernels are in `variant_kernels.py` (operand order, distribution of work), `variant_fused.py`
(epilogues, several dots), `variant_quantized.py` and `variant_indexed.py`; shapes and tiles in
`variant_cases.py`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import cuda.tile as ct
from cuda_graphs import median_us
from fresh_caches import run_children, schedule_label
from variant_arrays import TorchArrays
from variant_cases import VARIANTS, Size, Variant
from variant_launches import Launch

TOLERANCE: Final = 0.02
"""The largest difference of a correct result, as a fraction of the largest element."""
LINE: Final = re.compile(r"(\S+ \S+ \S+) \(.*?\) ([\d.]+) us ")
"""A line of the output: the case and its time."""


def main() -> int:
    """Time all variants; in a child process, with one schedule."""
    parser = argparse.ArgumentParser(description="Time variants of GEMM kernels on a GPU.")
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--only", default="", help="cases that match a regular expression")
    parser.add_argument("--against", type=Path, help="the output of another run")
    parser.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("--jobs", type=int, default=8, help="processes that compile")
    parser.add_argument("--compile", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(name for name, _, _ in cases(arguments.only)))
        return 0
    if not arguments.child:
        run_children(arguments.schedule or [""])
        return 0
    if arguments.compile is None:
        run_compilers(arguments.jobs)
    import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    selected = list(cases(arguments.only))
    if arguments.compile is not None:
        for _, variant, size in selected[arguments.compile :: arguments.jobs]:
            # The process that times reports errors.
            with suppress(Exception):
                run(torch, variant.build(TorchArrays(torch), *size, variant.dtype))
        return 0
    others = times_of(arguments.against.read_text()) if arguments.against else {}
    for name, variant, size in selected:
        torch.manual_seed(0)
        print(time_case(torch, name, variant, size, others), flush=True)
    return 0


def run_compilers(jobs: int) -> None:
    """Run this program again to fill cuTile's cache, several processes at a time."""
    commands = [[sys.executable, *sys.argv, "--compile", str(number)] for number in range(jobs)]
    processes = [subprocess.Popen(command) for command in commands]
    for process in processes:
        process.wait()


def cases(only: str) -> Iterator[tuple[str, Variant, Size]]:
    """The cases whose names match a regular expression."""
    for variant in VARIANTS:
        for size in variant.sizes:
            name = " ".join((variant.name, *("x".join(map(str, each)) for each in size)))
            if re.search(only, name):
                yield name, variant, size


def times_of(output: str) -> dict[str, float]:
    """The times in the output of a run, in microseconds."""
    return {match[1]: float(match[2]) for match in map(LINE.match, output.splitlines()) if match}


def time_case(
    torch: Any, name: str, variant: Variant, size: Size, others: Mapping[str, float]
) -> str:
    """Check and time one case, and describe it in a line."""
    label = f"{name} ({schedule_label()})"
    launch = variant.build(TorchArrays(torch), *size, variant.dtype)
    try:
        run(torch, launch)
        difference = relative_difference(launch)
        microseconds = median_us(torch, lambda: run(torch, launch))
    except Exception as error:
        verdict = "rejected" if isinstance(error, ct.TileError) else "failed"
        return f"{label} {verdict}: {(str(error) or repr(error)).splitlines()[0]}"
    speed = f"{microseconds:.1f} us {launch.flops / microseconds / 1e6:.0f} TFLOP/s"
    ratio = f", {others[name] / microseconds:.2f} of the other" if name in others else ""
    wrong = "" if difference < TOLERANCE else " WRONG"
    return f"{label} {speed}{ratio}, differs by {difference:.2g}{wrong}"


def run(torch: Any, launch: Launch) -> None:
    """Launch a kernel on the current stream."""
    ct.launch(torch.cuda.current_stream(), launch.grid, launch.kernel, launch.arguments)


def relative_difference(launch: Launch) -> float:
    """The largest difference from the expected result, as a fraction of its largest element."""
    expected = launch.expected()
    return ((launch.result.float() - expected).abs().max() / expected.abs().max()).item()


if __name__ == "__main__":
    sys.exit(main())
