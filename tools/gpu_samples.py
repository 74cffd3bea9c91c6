"""Run the samples of cuTile Python on a GPU, unmodified, with kernels compiled by Tilewright.

    python tools/gpu_samples.py FOLDER [--door run|path] [--only NAME...] [--jobs N]

FOLDER holds the samples of a checkout of cuTile Python. Each is a program that checks its own
results. It runs through `python -m tilewright.cutile`, and with our `tileiras` on the PATH, each
time with an empty cache of cuTile. The note of every cubin that is there afterwards must name this
compiler.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tilewright.emit.note import own_note, read_note

CHECK: Final = "--correctness-check"
PASSED: Final = ("Correctness check passed", "passed!")
FAILED: Final = ("Correctness check failed", "An unexpected error occurred")
SKIPPED: Final = "Skipped test"
NO_PROGRAMS: Final = ("__init__.py", "test_samples.py")
NEEDS: Final = {"VectorAdd_quickstart.py": "cupy"}
TIME_LIMIT: Final = 280
DOORS: Final = ("run", "path")
TOOLS: Final = ("tileiras", "tileirdisasm")


class Outcome(NamedTuple):
    """The outcome of a sample: verdict, our cubins, seconds, and the last output if it failed."""

    verdict: str
    cubins: int = 0
    seconds: float = 0.0
    words: str = ""


def samples(folder: Path) -> list[Path]:
    """The programs; `templates` holds their sources."""
    paths = [*folder.glob("*.py"), *folder.glob("quickstart/*.py")]
    return sorted(path for path in paths if path.name not in NO_PROGRAMS)


def environment(door: str, scratch: Path) -> dict[str, str]:
    """Variables with an empty cache, and for the PATH with our tools first on it."""
    path = os.environ.get("PATH", "")
    # The samples run in a folder of their own.
    entries = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, entries)),
        "CUDA_TILE_CACHE_DIR": str(scratch / "cutile"),
        "TILEWRIGHT_CACHE_DIR": str(scratch / "tilewright"),
    }
    if door == "path":
        for tool in TOOLS:
            script = scratch / tool
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tilewright.{tool} "$@"\n')
            script.chmod(0o755)
        variables["PATH"] = os.pathsep.join([str(scratch), path])
    return variables


def kept(cache: Path) -> list[bytes]:
    """All cubins in a cache of cuTile."""
    file = cache / "cache.db"
    if not file.exists():
        return []
    with closing(sqlite3.connect(file)) as database:
        return [row[0] for row in database.execute("SELECT blob FROM cache")]


def judge(code: int, output: str, cubins: list[bytes]) -> str:
    """Return the verdict that the sample prints, if all its cubins are ours."""
    if code or any(text in output for text in FAILED):
        return "failed"
    if any(read_note(cubin) != own_note() for cubin in cubins):
        return "not ours"
    if SKIPPED in output:
        return "skipped itself"
    if not cubins:
        return "no proof"
    return "passed" if any(text in output for text in PASSED) else "unchecked"


def run(sample: Path, door: str) -> Outcome:
    """Run a sample through a door."""
    missing = NEEDS.get(sample.name)
    if missing and find_spec(missing) is None:
        return Outcome(f"needs {missing}")
    runner = ["-m", "tilewright.cutile"] if door == "run" else []
    command = [sys.executable, *runner, str(sample.resolve()), *([] if missing else [CHECK])]
    start = time.monotonic()
    with TemporaryDirectory() as name:
        scratch = Path(name)
        try:
            done = subprocess.run(
                command,
                env=environment(door, scratch),
                cwd=scratch,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome("too long", seconds=time.monotonic() - start)
        cubins = kept(scratch / "cutile")
    seconds = time.monotonic() - start
    verdict = judge(done.returncode, done.stdout, cubins)
    return Outcome(verdict, len(cubins), seconds, done.stdout)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--door", choices=DOORS, help="one door instead of both")
    parser.add_argument("--only", nargs="+", default=[], help="names of samples, without .py")
    parser.add_argument("--jobs", type=int, default=4, help="samples at once")
    return parser.parse_args()


def main() -> int:
    """Run all samples, print a table and the last output of those that failed."""
    options = arguments()
    programs = [
        path for path in samples(options.folder) if not options.only or path.stem in options.only
    ]
    if not programs:
        print(f"error: no samples in '{options.folder}'", file=sys.stderr)
        return 2
    doors = [options.door] if options.door else DOORS
    cases = [(path, door) for path in programs for door in doors]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda case: run(*case), cases))
    print(f"{'sample':24} {'door':5} {'verdict':15} {'cubins':>6} {'seconds':>8}")
    for (path, door), outcome in zip(cases, outcomes, strict=True):
        counts = f"{outcome.cubins:6} {outcome.seconds:8.1f}"
        print(f"{path.stem:24} {door:5} {outcome.verdict:15} {counts}")
    accepted = ("passed", "skipped itself", *(f"needs {name}" for name in NEEDS.values()))
    wrong = [each for each in zip(cases, outcomes, strict=True) if each[1].verdict not in accepted]
    for (path, door), outcome in wrong:
        print(f"\n{path.stem} ({door}): {outcome.verdict}\n{outcome.words[-3000:]}")
    passed = sum(outcome.verdict == "passed" for outcome in outcomes)
    print(f"{passed} of {len(cases)} passed, {len(wrong)} wrong; compiled by {own_note()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
