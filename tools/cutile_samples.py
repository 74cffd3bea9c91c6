"""Run the sample kernels of cuTile Python on the CPU, unmodified, and compare with NumPy.

    python tools/cutile_samples.py FOLDER [--check]

With `--check`, kernels whose result the specification leaves open are reported with the reason.
FOLDER is a checkout of cuTile Python. Its files import torch, which must be installed, and CuPy,
which need not: no kernel uses it, so an empty module stands in for it.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import cuda.tile as ct
from cutile_cases import Launch, launches

import tilewright.cutile
from tilewright.reference.errors import ExecutionError, Fault

UNUSED = ("cupy",)
NO_KERNELS = ("__init__.py", "test_samples.py")


def files(root: Path) -> Iterator[Path]:
    """The files that hold kernels. `samples/templates` are the sources of `samples`."""
    for folder in ("samples", "samples/quickstart", "test/kernels"):
        paths = sorted((root / folder).glob("*.py"))
        yield from (path for path in paths if path.name not in NO_KERNELS)


def load(path: Path, number: int) -> ModuleType:
    """A file as a module, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"sample_{number}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def kernels(module: ModuleType, path: Path) -> Iterator[tuple[str, Any]]:
    """The kernels that a file defines itself."""
    for name, value in vars(module).items():
        if isinstance(value, ct.kernel) and value._pyfunc.__code__.co_filename == str(path):
            yield name, value


class Outcome(NamedTuple):
    """The outcome of a launch, with the reason if it failed."""

    verdict: str
    reason: str | None = None


def run(kernel: Any, build: Callable[[], Launch], check: bool) -> Outcome:
    """Launch a kernel and compare its results."""
    launch = build()
    try:
        tilewright.cutile.launch(launch.grid, kernel, launch.arguments, check=check, seed=1)
    except ExecutionError as error:
        is_open = error.fault is Fault.UNDEFINED and launch.leaves_open
        return Outcome("open" if is_open else "wrong", str(error))
    except (tilewright.Error, ct.TileError) as error:
        return Outcome("wrong", f"{type(error).__name__}: {error}")
    wrong = next((text for result in launch.results if (text := result.mismatch())), None)
    if wrong is None:
        return Outcome("matched")
    if check and launch.leaves_open:
        return Outcome("open", launch.leaves_open)
    return Outcome("wrong", wrong)


class Report:
    """Counts and prints outcomes."""

    def __init__(self) -> None:
        self.kernels = self.launches = 0
        self.counts = {"matched": 0, "open": 0, "wrong": 0, "skipped": 0}

    def add(self, label: str, kernel: Any, check: bool) -> None:
        """Run everything that fits a kernel; the worst outcome is that of the kernel."""
        self.kernels += 1
        name = kernel._pyfunc.__name__
        fitting = list(launches(name, len(kernel._annotated_function.parameter_annotations)))
        if not fitting:
            print(f"skipped  {label}: no launch for it")
        verdicts = [] if fitting else ["skipped"]
        for build in fitting:
            start = time.perf_counter()
            outcome = run(kernel, build, check)
            took = time.perf_counter() - start
            self.launches += 1
            verdicts.append(outcome.verdict)
            print(f"{outcome.verdict:8} {label}: {build.__doc__} {took:.1f} s")
            if outcome.reason:
                print(f"         {outcome.reason}")
        self.counts[max(verdicts, key=list(self.counts).index)] += 1

    def summary(self) -> str:
        """Return the number of kernels by outcome."""
        matched, *others = self.counts.items()
        gist = f"{matched[1]} of {self.kernels} kernels match NumPy in {self.launches} launches"
        return "; ".join([gist, ", ".join(f"{verdict} {count}" for verdict, count in others)])


def main() -> int:
    """Run all kernels; print a line for each, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="with the race checker")
    options = parser.parse_args()
    root: Path = options.folder.resolve()
    sys.path += [str(root / "samples"), str(root / "test")]
    for name in UNUSED:
        sys.modules.setdefault(name, ModuleType(name))
    report, unread = Report(), 0
    for number, path in enumerate(files(root)):
        label = path.relative_to(root)
        try:
            module = load(path, number)
        except ImportError as error:
            unread += 1
            print(f"unread   {label}: {error}")
            continue
        for name, kernel in kernels(module, path):
            report.add(f"{label}: {name}", kernel, options.check)
    print(report.summary())
    print(f"{unread} files could not be imported")
    return int(report.counts["wrong"] + report.counts["skipped"] + unread > 0)


if __name__ == "__main__":
    sys.exit(main())
