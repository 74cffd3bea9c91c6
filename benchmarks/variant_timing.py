"""Check and time variants of kernels on a GPU, and print a line for each case."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import cuda.tile as ct
from alternation import Alternation
from cuda_graphs import cold_launch, eager_launch, median_us
from fresh_caches import run_children, schedule_label
from variant_arrays import TorchArrays
from variant_resources import report_resources
from variant_sizes import Runnable, Size, Variant

LINE: Final = re.compile(r"(\S+ \S+ \S+) \(.*?\) ([\d.]+) us ")
"""A line of the output: the case and its time."""


def time_variants(description: str, variants: Sequence[Variant]) -> int:
    """Time all variants as the command line asks; in a child process, with one schedule."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--only", default="", help="cases that match a regular expression")
    parser.add_argument("--against", type=Path, help="the output of another run")
    parser.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("-j", "--jobs", type=int, default=8, help="processes that compile")
    parser.add_argument(
        "--resources",
        action="store_true",
        help="instead of times, print registers, shared memory and spills; needs no GPU",
    )
    parser.add_argument("--alternate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--compile", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    selected = list(cases(variants, arguments.only))
    if arguments.list:
        print("\n".join(name for name, _, _ in selected))
        return 0
    if arguments.resources:
        return report_resources(selected, arguments.schedule, arguments.jobs)
    if arguments.alternate:
        return alternate(selected)
    if not arguments.child:
        run_children(arguments.schedule or [""])
        return 0
    if arguments.compile is None:
        run_compilers(arguments.jobs)
    import torch  # noqa: PLC0415

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


def alternate(selected: Sequence[tuple[str, Variant, Size]]) -> int:
    """Offer each case to `version_pairs.py`, which times two versions alternately."""
    import torch  # noqa: PLC0415

    alternation = Alternation()
    for name, variant, size in selected:
        torch.manual_seed(0)
        launch = variant.build(TorchArrays(torch), *size, variant.dtype)
        try:
            run(torch, launch)
            is_right = relative_difference(launch) < launch.tolerance
            # cuTile captures no kernel with a list of arrays.
            captures = not any(isinstance(each, list) for s in launch.steps for each in s.arguments)
            sample = cold_launch if captures else eager_launch
            alternation.offer(name, sample(torch, partial(run, torch, launch)))
        except ct.TileError as error:
            alternation.end(name, f"rejected: {error}")
            continue
        alternation.end(name, "passed" if is_right else "wrong")
    return 0


def run_compilers(jobs: int) -> None:
    """Run this program again to fill cuTile's cache, several processes at a time."""
    commands = [[sys.executable, *sys.argv, "--compile", str(number)] for number in range(jobs)]
    processes = [subprocess.Popen(command) for command in commands]
    for process in processes:
        process.wait()


def cases(variants: Sequence[Variant], only: str = "") -> Iterator[tuple[str, Variant, Size]]:
    """The cases whose names match a regular expression."""
    for variant in variants:
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
    wrong = "" if difference < launch.tolerance else " WRONG"
    return f"{label} {speed}{ratio}, differs by {difference:.2g}{wrong}"


def run(torch: Any, launch: Runnable) -> None:
    """Launch kernels on the current stream."""
    for step in launch.steps:
        ct.launch(torch.cuda.current_stream(), step.grid, step.kernel, step.arguments)


def relative_difference(launch: Runnable) -> float:
    """The largest difference of a result, as a fraction of its largest element."""
    return max(
        ((result.float() - expected).abs().max() / expected.abs().max()).item()
        for result, expected in launch.compared()
    )
