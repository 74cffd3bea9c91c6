"""`make bench`: start-up and throughput of the front end on the corpus, and NVIDIA's times.

Prints ratios measured in one run; absolute figures depend on the machine. Nothing here fails.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from corpus_checks import NEWEST, Module, load_modules, load_programs, tileirdisasm

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import parse_module
from tilewright.driver.disassembly import disassemble
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause

AIMS: Final = {"read bytecode": 100_000, "parse text": 50_000, "verify": 300_000}
STARTUP_AIM_MS: Final = 80


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=0, help="number of modules (default: all)")
    parser.add_argument("--runs", type=int, default=5, help="repetitions; the best one counts")
    parser.add_argument("--files", type=int, default=40, help="files for the ratio to the peer")
    options = parser.parse_args()
    modules = [*load_programs(), *load_modules()]
    if options.modules:
        modules = modules[:: max(1, len(modules) // options.modules)]
    throughput(modules, options.runs)
    start_up(modules[0], options.runs * 4)
    ratio_to_peer(modules[:: max(1, len(modules) // options.files)], options.runs)


def throughput(modules: Sequence[Module], runs: int) -> None:
    """Operations a second of every step."""
    parsed = [read_bytecode(module.data, module.name) for module in modules]
    texts = [module.to_text() for module in parsed]
    ops = sum(1 for module in parsed for _ in module.walk())
    print(f"{len(modules)} modules, {ops} operations, best of {runs} runs")
    steps: dict[str, Callable[[], object]] = {
        "read bytecode": lambda: [read_bytecode(m.data, m.name) for m in modules],
        "verify": lambda: [verify(m) for m in parsed],
        "print": lambda: [disassemble(m) for m in parsed],
        "write bytecode": lambda: [write_bytecode(m, NEWEST) for m in parsed],
        "parse text": lambda: [parse_module(text, "bench") for text in texts],
    }
    for name, step in steps.items():
        rate = ops / best(step, runs)
        aim = f"   aim {AIMS[name]:,}" if name in AIMS else ""
        print(f"  {name:<16}{rate:>12,.0f} ops/s{aim}")


def start_up(module: Module, runs: int) -> None:
    """Print the start-up time of `tilewright dis` on a small module."""
    script = str(Path(sys.executable).with_name("tilewright"))
    with tempfile.NamedTemporaryFile(suffix=".tileirbc") as file:
        file.write(module.data)
        file.flush()
        bare = milliseconds([sys.executable, "-c", "pass"], runs)
        ours = milliseconds([script, "dis", file.name], runs)
    print(f"start-up of `tilewright dis`: {ours:.0f} ms (aim {STARTUP_AIM_MS})")
    print(f"  of which a bare interpreter: {bare:.0f} ms")


def ratio_to_peer(modules: Sequence[Module], runs: int) -> None:
    """The time of `tilewright dis` over that of `tileirdisasm`, file by file."""
    script = str(Path(sys.executable).with_name("tilewright"))
    ratios: list[float] = []
    for module in modules:
        with tempfile.NamedTemporaryFile(suffix=".tileirbc") as file:
            file.write(module.data)
            file.flush()
            ours = milliseconds([script, "dis", file.name], runs)
            ratios.append(ours / milliseconds([str(tileirdisasm()), file.name], runs))
    middle = statistics.median(ratios)
    print(
        f"`tilewright dis` over `tileirdisasm`, {len(ratios)} files: median {middle:.1f}, ", end=""
    )
    print(f"least {min(ratios):.1f}, most {max(ratios):.1f}")


def best(step: Callable[[], object], runs: int) -> float:
    """The shortest of several runs, in seconds; without the collector, as the tools run."""
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        with CollectorPause():
            started = time.perf_counter()
            step()
            times.append(time.perf_counter() - started)
    return min(times)


def milliseconds(command: list[str], runs: int) -> float:
    """The shortest of several runs of a command; the first writes the .pyc files."""
    settings = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        subprocess.run(command, capture_output=True, check=True, env=settings)

    run()
    return best(run, runs) * 1000


if __name__ == "__main__":
    main()
