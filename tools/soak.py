"""Compile many programs in one process, and many at once; memory must stay flat, results the same.

    python tools/soak.py [--count 10000] [--cubins 20] [--seed N]
    python tools/soak.py --threads 64

The programs are modules of the corpus and of `tests/run` in a random order, again and again, and a
new random program after every four of them, compiled for sm_90 without the cache: to PTX, and one
in `--cubins` to a cubin. The resident memory of this process and of its children is printed every
500 programs. That of this process is flat if the line fitted to the second half of the readings
rises by less than 1 MB for 1,000 programs: in the first half every program was compiled once, and
the allocator has what the largest needs. Processes of LLVM grow and are replaced, so their memory
is flat if the largest reading of the second half is at most a quarter above that of the first.

With `--threads` each thread compiles another program at the same time, and its PTX must be that of
the program compiled alone.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
from corpus_checks import ARCHIVE, ROOT, load_modules

import tilewright
from tilewright.driver.progress import progress
from tilewright.testing.generate.kernel import Options
from tilewright.testing.generate.program import generate

ARCH: Final = "sm_90"
STEP: Final = 500
"""Programs between two readings of the memory."""
RANDOM_EVERY: Final = 5
MEGABYTE: Final = 1 << 20
FLAT: Final = 1.0
"""Megabytes for 1,000 programs."""
FLAT_PEAK: Final = 1.25
"""The largest reading of children in the second half, by that of the first."""

Source = bytes | str
Reading = tuple[int, float, float]
"""The programs so far, and the megabytes of this process and of its children."""


def sources(rng: random.Random) -> list[Source]:
    """The programs of the corpus, if it is there, and of `tests/run`, in a random order."""
    paths = sorted((ROOT / "tests" / "run").rglob("*.mlir"))
    texts: list[Source] = [path.read_text() for path in paths]
    modules = [each.data for each in load_modules()] if ARCHIVE.exists() else []
    every: list[Source] = [*modules, *texts]
    rng.shuffle(every)
    return every


def programs(every: Sequence[Source], count: int, seed: int) -> Iterator[Source]:
    """The programs of a soak: those given, in rotation, and random ones."""
    taken = 0
    for number in range(count):
        if number % RANDOM_EVERY == RANDOM_EVERY - 1:
            yield str(generate(seed + number, Options(profile=ARCH)).module())
        else:
            yield every[taken % len(every)]
            taken += 1


def compile_one(source: Source, emit: str) -> str:
    """Compile a program; return `ptx` or `cubin`, or the class of its error."""
    try:
        tilewright.compile(source, ARCH, emit=emit)
    except tilewright.Error as error:
        return type(error).__name__
    return emit


def resident(process: int | str) -> float:
    """The resident megabytes of a process; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / MEGABYTE


def children() -> list[str]:
    """The processes that this one has started."""
    tasks = Path("/proc/self/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]


def read_memory(count: int) -> Reading:
    """Read the memory, after what is unreachable is freed."""
    gc.collect()
    return count, resident("self"), sum(map(resident, children()))


def slope(readings: Sequence[tuple[int, float]]) -> float:
    """The rise of a line fitted to the second half of readings, for 1,000 programs."""
    half = readings[len(readings) // 2 :]
    if len(half) < 2:
        return 0.0
    rise, _ = np.polyfit([count for count, _ in half], [size for _, size in half], 1)
    return float(rise) * 1000


def growth(sizes: Sequence[float]) -> float:
    """The largest reading of the second half, by that of the first."""
    middle = len(sizes) // 2
    return max(sizes[middle:], default=0.0) / max(sizes[:middle], default=1.0)


def soak(given: argparse.Namespace) -> int:
    """Compile one program after the other; return 1 if the memory grows."""
    every = sources(random.Random(given.seed))
    outcomes: Counter[str] = Counter()
    readings: list[Reading] = []
    started = time.monotonic()
    stream = progress(programs(every, given.count, given.seed), given.count)
    for number, source in enumerate(stream, 1):
        outcomes[compile_one(source, "ptx" if number % given.cubins else "cubin")] += 1
        if number % STEP == 0:
            readings.append(read_memory(number))
            print(
                "{:6} programs: {:7.1f} MB, children {:7.1f} MB".format(*readings[-1]), flush=True
            )
    own_rise = slope([(count, size) for count, size, _ in readings])
    others_growth = growth([size for _, _, size in readings])
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(outcomes.items()))
    print(f"{outcomes.total()} compilations of {len(every)} programs and random ones (seed "
          f"{given.seed}) in {time.monotonic() - started:.0f} s: {counts}")  # fmt: skip
    print(f"second half: {own_rise:+.2f} MB for 1,000 programs; largest reading of the "
          f"children: {others_growth:.2f} of that of the first half")  # fmt: skip
    return int(own_rise > FLAT or others_growth > FLAT_PEAK)


def ptx_of(source: Source) -> str:
    """The PTX of a program, or its error."""
    try:
        return tilewright.compile(source, ARCH, emit="ptx").ptx
    except tilewright.Error as error:
        return str(error)


def compile_at_once(chosen: Sequence[Source], ptx: Callable[[Source], str] = ptx_of) -> list[str]:
    """Compile each program in a thread of its own; all start at the same time."""
    barrier = threading.Barrier(len(chosen))

    def one(source: Source) -> str:
        barrier.wait()
        return ptx(source)

    with ThreadPoolExecutor(len(chosen)) as pool:
        return list(pool.map(one, chosen))


def compare_threads(given: argparse.Namespace) -> int:
    """Compile many programs at once, and alone; return 1 if there is a difference."""
    chosen = sources(random.Random(given.seed))[: given.threads]
    started = time.monotonic()
    together = compile_at_once(chosen)
    seconds = time.monotonic() - started
    alone = [ptx_of(source) for source in chosen]
    different = sum(one != other for one, other in zip(together, alone, strict=True))
    print(f"{len(chosen)} programs at once in {seconds:.1f} s (seed {given.seed}), "
          f"{sum(map(len, alone))} characters: {different} differ")  # fmt: skip
    return int(bool(different))


def main() -> int:
    """Run the soak, or compare threads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="number of compilations")
    parser.add_argument("--cubins", type=int, default=20, help="one in N goes through ptxas")
    parser.add_argument("--threads", type=int, help="instead: this many programs at once")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    return compare_threads(given) if given.threads else soak(given)


if __name__ == "__main__":
    sys.exit(main())
