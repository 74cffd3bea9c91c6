"""Measure whole compilations: a process of ours, one of NVIDIA's, and ours in process.

Times are elapsed time, since users wait for that and since our process starts another one for
LLVM. Ours runs as pip installs it, with its modules compiled, and
without the cache of results.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from corpus_checks import Module, tileirdisasm

import tilewright
from tilewright.driver.progress import progress
from tilewright.emit.note import read_note

COLD_AIM: Final = 3.5
IN_PROCESS_AIM: Final = 1.0
SHARES: Final = (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("worst", 1.0))


class Seconds(NamedTuple):
    """The times of one module, by compiler."""

    cold: float
    in_process: float
    peer: float


class Compilers:
    """Both compilers, ready to be timed."""

    def __init__(self, gpu: str, level: int, runs: int, folder: Path) -> None:
        self._gpu = gpu
        self._level = level
        self._runs = runs
        self._source = folder / "module.tileirbc"
        self._made = folder / "module.cubin"
        self._environment = {**os.environ, "TILEWRIGHT_CACHE": "0"}
        # Modules of Python are compiled when a package is installed: here, the first time.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._environment["PYTHONPYCACHEPREFIX"] = str(folder / "modules")
        self._ours = [sys.executable, "-m", "tilewright.tileiras"]
        self._peer = [str(tileirdisasm().with_name("tileiras"))]

    def take(self, module: Module) -> Seconds | None:
        """Return the seconds of one module, or `None` if one of the compilers fails."""
        self._source.write_bytes(module.data)
        ways: list[Callable[[], float]] = [
            lambda: self._process(self._ours),
            lambda: self._in_process(module),
            lambda: self._process(self._peer),
        ]
        try:
            # Alternately: other load on the machine affects all alike.
            times = [[way() for way in ways] for _ in range(self._runs)]
        except (subprocess.CalledProcessError, tilewright.Error):
            return None
        return Seconds(*map(min, zip(*times, strict=True)))

    def _process(self, compiler: list[str]) -> float:
        options = [f"--gpu-name={self._gpu}", f"-O{self._level}", "-o", str(self._made)]
        command = [*compiler, str(self._source), *options]
        self._made.unlink(missing_ok=True)
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, env=self._environment)
        taken = time.perf_counter() - started
        # Outside of the measured time.
        assert (read_note(self._made.read_bytes()) is not None) == (compiler is self._ours)
        return taken

    def _in_process(self, module: Module) -> float:
        started = time.perf_counter()
        tilewright.compile(module.data, self._gpu, self._level)
        return time.perf_counter() - started


def compare(modules: Sequence[Module], gpu: str, level: int, runs: int) -> None:
    """Time all modules and print the table."""
    with TemporaryDirectory() as folder:
        compilers = Compilers(gpu, level, runs, Path(folder))
        # Warm up: load Python modules, LLVM, and the files into the page cache.
        compilers.take(modules[0])
        results = [compilers.take(module) for module in progress(modules, len(modules))]
    taken = [each for each in results if each is not None]
    print(f"\n## A process, and in process\n\n{len(taken)} modules, elapsed milliseconds.\n")
    print("| | " + " | ".join(name for name, _ in SHARES) + " |")
    print("|---|" + "---|" * len(SHARES))
    titles = ("cold `tileiras` of ours", "in process", "cold `tileiras` of NVIDIA")
    for title, values in zip(titles, zip(*taken, strict=True), strict=True):
        print(
            f"| {title} | " + " | ".join(f"{1e3 * at(values, of):.0f}" for _, of in SHARES) + " |"
        )
    print()
    aims = (("cold", COLD_AIM), ("in_process", IN_PROCESS_AIM))
    for name, aim in aims:
        ratio = at([getattr(e, name) for e in taken], 0.5) / at([e.peer for e in taken], 0.5)
        verdict = "met" if ratio <= aim else "not met"
        print(f"Aim {name.replace('_', ' ')}: {aim} of NVIDIA's median time; "
              f"found {ratio:.2f}, {verdict}.")  # fmt: skip
    if len(taken) < len(modules):
        print(f"\n{len(modules) - len(taken)} modules are not compiled by both.")


def at(values: Sequence[float], share: float) -> float:
    """Return a quantile of the values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
