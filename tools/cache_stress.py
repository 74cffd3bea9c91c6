"""Compile the corpus in many processes that share one cache, and kill some of them.

python tools/cache_stress.py [--processes N] [--modules N] [--kills N] [--size BYTES] [--seed N]

Every process compiles all modules, in an order of its own. Half of those that are killed die at a
random moment, the others in the middle of writing an entry; each is replaced by a new one. In the
end no entry may be damaged, every cubin must be that of a compilation without a cache, and no lock
may be left that blocks a process.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from corpus_checks import load_modules

import tilewright
from tilewright.driver import store as store_module
from tilewright.driver.batch import compile_files, processors
from tilewright.driver.cache import HITS, MISSES, Cache, key_of
from tilewright.driver.compile import target
from tilewright.driver.progress import progress
from tilewright.driver.settings import Settings
from tilewright.driver.store import ABANDONED, Store
from tilewright.support import whole_file
from tilewright.support.diagnostics import Error

FAILED: Final = "no cubin"
PAUSE: Final = 0.02
COUNTERS: Final = {HITS, MISSES}


def digest(cubin: bytes | None) -> str:
    """Return a digest of a cubin."""
    return FAILED if cubin is None else sha256(cubin).hexdigest()


# One of the processes.


def work(folder: Path, arch: str, seed: int, dies_at: int) -> int:
    """Compile every module through the cache, and record the digests."""
    if dies_at:
        die_while_writing(dies_at)
    names = sorted(os.listdir(folder / "modules"))
    random.Random(seed).shuffle(names)
    report = os.open(folder / "reports" / str(seed), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name in names:
        try:
            made = tilewright.compile(folder / "modules" / name, arch, cache=True).cubin
        except Error:
            made = None
        os.write(report, f"{name} {digest(made)}\n".encode())
    return 0


def die_while_writing(number: int) -> None:
    """Kill this process when half of an entry is written: the first, second or a later one."""
    write = whole_file._write
    left = number

    def write_or_die(file: int, data: bytes) -> None:
        nonlocal left
        left -= 1
        if not left:
            write(file, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write(file, data)

    whole_file._write = write_or_die


# The process that starts and kills them.


class Herd:
    """A pool of processes of constant size, run until a given number have ended by themselves."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.folder = folder
        self.arch = options.arch
        self.wanted = options.processes
        self.kills = options.kills
        self.rng = random.Random(options.seed)
        self.running: list[subprocess.Popen[bytes]] = []
        self.doomed: list[subprocess.Popen[bytes]] = []
        """Processes that kill themselves while they write."""
        self.started = 0
        self.ends: Counter[int] = Counter()

    def run(self) -> None:
        """Run the processes; kill some and replace those."""
        next_kill = time.monotonic()
        while self.ends[0] < self.wanted and not self.broken:
            while len(self.running) + self.ends[0] < self.wanted:
                self.start()
            victims = [each for each in self.running if each not in self.doomed]
            if victims and self.kills > self.killed and time.monotonic() > next_kill:
                self.rng.choice(victims).kill()
                next_kill = time.monotonic() + self.rng.uniform(0.1, 2.0)
            time.sleep(PAUSE)
            self.reap()
        for process in self.running:
            process.kill()
            process.wait()

    def start(self) -> None:
        """Start a process; of the first ones, some are to die while they write."""
        self.started += 1
        dies_at = self.rng.randint(1, 5) if self.started <= self.kills // 2 else 0
        command = [sys.executable, __file__, "--work", str(self.folder), self.arch]
        process = subprocess.Popen([*command, str(self.started), str(dies_at)])
        self.running.append(process)
        if dies_at:
            self.doomed.append(process)

    def reap(self) -> None:
        """Record the processes that have ended, and their exit codes."""
        self.ends.update(code for each in self.running if (code := each.poll()) is not None)
        self.running = [each for each in self.running if each.returncode is None]

    @property
    def killed(self) -> int:
        """The number of killed processes."""
        return self.ends[-signal.SIGKILL]

    @property
    def broken(self) -> list[int]:
        """The unexpected exit codes."""
        return [code for code in self.ends if code not in (0, -signal.SIGKILL)]


def problems(options: argparse.Namespace, folder: Path, herd: Herd) -> Iterator[str]:
    """Yield a message for each violated invariant, after all processes have ended."""
    store = Cache.default().store
    assert store is not None
    yield from (f"a process ended with {code}" for code in herd.broken)
    if herd.killed < options.kills:
        yield f"only {herd.killed} of {options.kills} processes were killed"
    drafts = store.drafts()
    entries = store.entries()
    yield from (f"damaged: {entry.path}" for entry in entries if not is_whole(entry.path))
    yield from (f"neither entry nor draft: {path}" for path in strangers(store))
    taken = sum(entry.size for entry in entries)
    if taken > store.limit:
        yield f"{taken} bytes are kept, {store.limit} are allowed"
    hits, misses = store.counted(HITS), store.counted(MISSES)
    print(f"{len(entries)} entries of {taken >> 10} KiB, {hits} hits, {misses} compilations kept")
    yield from wrong_cubins(options, folder, store, full=not options.size)
    store.sweep(age=0)
    print(f"{len(drafts)} drafts left by killed processes: swept (a compilation does that after "
          f"{ABANDONED:.0f} s, with the next entry for the same folder)")  # fmt: skip
    yield from (f"not swept: {path}" for path in store.drafts())
    if len(store.entries()) != len(entries):
        yield "sweeping has removed entries"


def is_whole(path: str) -> bool:
    """Return whether the checksum of an entry holds."""
    data = Path(path).read_bytes()
    return store_module._unpack(os.path.basename(path), data) is not None


def strangers(store: Store) -> list[Path]:
    """Return the files that are neither entries nor drafts, such as locks."""
    known = {entry.path for entry in store.entries()} | set(store.drafts())
    files = (path for path in Path(store.folder).rglob("*") if path.is_file())
    return [path for path in files if str(path) not in known and path.name not in COUNTERS]


def wrong_cubins(
    options: argparse.Namespace, folder: Path, store: Store, full: bool
) -> Iterator[str]:
    """Compare the cubins of the processes and of the cache with fresh compilations."""
    reported = reports(folder)
    paths = [str(path) for path in sorted((folder / "modules").iterdir())]
    settings = Settings(target(options.arch))
    fresh = compile_files(paths, settings, "cubin", jobs=options.jobs)
    compared = 0
    for outcome in progress(fresh, len(paths)):
        name = os.path.basename(outcome.path)
        expected = digest(None if outcome.made is None else outcome.made.cubin)
        wrong = [each for each in reported[name] if each != expected]
        compared += len(reported[name])
        if wrong:
            yield f"{name}: {len(wrong)} processes got another cubin"
        key = key_of(Path(outcome.path).read_bytes(), name, settings, "cubin")
        entry = Cache(store).get(key, "cubin")
        if entry is None and full and expected != FAILED:
            yield f"{name}: not in the cache"
        if entry is not None and digest(entry.cubin) != expected:
            yield f"{name}: the cache has another cubin"
    print(f"{compared} results of {len(reported)} modules compared with fresh compilations")


def reports(folder: Path) -> dict[str, list[str]]:
    """Return the digests that the processes recorded for each module."""
    digests: dict[str, list[str]] = {name: [] for name in os.listdir(folder / "modules")}
    for path in (folder / "reports").iterdir():
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            digests[name].append(value)
    return digests


def prepare(folder: Path, count: int) -> None:
    """Write modules of the corpus to a folder, spread evenly over the corpus."""
    for name in ("modules", "reports", "scratch"):
        (folder / name).mkdir()
    modules = load_modules()
    for module in modules[:: max(len(modules) // count, 1)][:count]:
        (folder / "modules" / f"{module.name}.tileirbc").write_bytes(module.data)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--modules", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=32, help="number of processes to kill")
    parser.add_argument("--size", default="", help="limit of the cache, to see it evict")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=processors(), help="for comparison")
    return parser.parse_args(words)


def main() -> int:
    """Run everything; the exit code says whether all invariants hold."""
    if sys.argv[1:2] == ["--work"]:
        folder, arch, seed, dies_at = sys.argv[2:]
        return work(Path(folder), arch, int(seed), int(dies_at))
    options = arguments(sys.argv[1:])
    with TemporaryDirectory(prefix="cache-stress-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        prepare(folder, options.modules)
        # A killed process leaves ptxas's input files; they are deleted with the folder.
        os.environ["TMPDIR"] = str(folder / "scratch")
        os.environ["TILEWRIGHT_CACHE"] = "1"
        os.environ["TILEWRIGHT_CACHE_DIR"] = str(folder / "cache")
        os.environ["TILEWRIGHT_CACHE_SIZE"] = options.size
        began = time.monotonic()
        herd = Herd(options, folder)
        herd.run()
        seconds = time.monotonic() - began
        print(f"{options.processes} processes at a time, {herd.killed} of {herd.started} killed: "
              f"{options.modules} modules in {seconds:.0f} s")  # fmt: skip
        messages = list(problems(options, folder, herd))
    print("\n".join(messages[:20] or ["no damaged entry, no wrong cubin, no leftover files"]))
    return int(bool(messages))


if __name__ == "__main__":
    sys.exit(main())
