"""Run the sample kernels of cuTile Python on the CPU, unmodified, and compare with NumPy.

    python tools/cutile_samples.py FOLDER [--check]

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
from typing import Any

import cuda.tile as ct
import numpy as np
from cutile_cases import Launch, Result, launches

import tilewright.cutile

UNUSED = ("cupy",)
NO_KERNELS = ("__init__.py", "test_samples.py")


def files(root: Path) -> Iterator[Path]:
    """The files that hold kernels. `samples/templates` are the sources of `samples`."""
    for folder in ("samples", "samples/quickstart", "test/kernels"):
        found = sorted((root / folder).glob("*.py"))
        yield from (path for path in found if path.name not in NO_KERNELS)


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


def mismatch(result: Result) -> str | None:
    """How a result differs from what NumPy says, or None."""
    found = result.found.astype(np.float64)
    expected = np.asarray(result.expected).astype(np.float64)
    excess = np.abs(found - expected) - result.bound
    if bool((excess <= 0).all()):
        return None
    place = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), excess.shape)
    where = [int(index) for index in place]
    bound = np.broadcast_to(result.bound, excess.shape)[place]
    return f"at {where} expected {expected[place]} within {bound:.2e}, got {found[place]}"


def run(kernel: Any, build: Callable[[], Launch], check: bool) -> str | None:
    """Why a launch is not as it must be, or None."""
    launch = build()
    try:
        tilewright.cutile.launch(launch.grid, kernel, launch.arguments, check=check, seed=1)
    except (tilewright.Error, ct.TileError) as error:
        return f"{type(error).__name__}: {error}"
    return next((text for result in launch.results if (text := mismatch(result))), None)


class Report:
    """Counts and prints."""

    def __init__(self) -> None:
        self.kernels = self.matched = self.launches = 0

    def add(self, where: str, kernel: Any, check: bool) -> None:
        """Run everything that fits a kernel."""
        self.kernels += 1
        name = kernel._pyfunc.__name__
        fitting = list(launches(name, len(kernel._annotated_function.parameter_annotations)))
        if not fitting:
            print(f"skipped  {where}: no launch for it")
            return
        problems: list[str] = []
        for build in fitting:
            start = time.perf_counter()
            problem = run(kernel, build, check)
            took = time.perf_counter() - start
            self.launches += 1
            verdict = "wrong" if problem else "matched"
            print(f"{verdict:8} {where}: {build.__doc__} {took:.1f} s")
            if problem:
                problems.append(problem)
                print(f"         {problem}")
        self.matched += not problems


def main() -> int:
    """Run all, print a line for each, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="under the checker of races")
    options = parser.parse_args()
    root: Path = options.folder.resolve()
    sys.path += [str(root / "samples"), str(root / "test")]
    for name in UNUSED:
        sys.modules.setdefault(name, ModuleType(name))
    report, unread = Report(), 0
    for number, path in enumerate(files(root)):
        where = path.relative_to(root)
        try:
            module = load(path, number)
        except ImportError as error:
            unread += 1
            print(f"unread   {where}: {error}")
            continue
        for name, kernel in kernels(module, path):
            report.add(f"{where}: {name}", kernel, options.check)
    print(f"{report.matched} of {report.kernels} kernels match NumPy in {report.launches} launches")
    print(f"{unread} files could not be imported")
    return int(report.matched != report.kernels or unread > 0)


if __name__ == "__main__":
    sys.exit(main())
