"""Check that the working tree generates the same PTX as another commit, byte for byte.

    python tools/ptx_identity.py --baseline COMMIT [--every N] [NAME ...]

Compiles the corpus for sm_90 and sm_80 at -O3, a tenth of it at -O0, and the programs of
`tests/run`, with the sources of both commits and without the compilation cache. The digests of a
commit are kept under `build/ptx-identity`, so that a baseline is compiled once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import tilewright

ROOT: Final = Path(__file__).parent.parent
ARCHIVE: Final = ROOT.parent / "shared" / "corpus" / "cutile-tests.tar.xz"
KEPT: Final = ROOT / "build" / "ptx-identity"
ARCHES: Final = ("sm_90", "sm_80")
UNOPTIMIZED_EVERY: Final = 10
"""One corpus module in this many is compiled at -O0 too."""

Digests = dict[str, str]


class Job(NamedTuple):
    """One compilation."""

    name: str
    source: bytes
    arch: str
    opt_level: int


def corpus_jobs(every: int) -> Iterator[Job]:
    """The compilations of the corpus."""
    with tarfile.open(ARCHIVE, "r|xz") as archive:
        members = ((Path(each.name).stem, archive.extractfile(each)) for each in archive)
        modules = sorted((name, file.read()) for name, file in members if file is not None)
    for arch in ARCHES:
        yield from (Job(name, data, arch, 3) for name, data in modules[::every])
        yield from (
            Job(name, data, arch, 0) for name, data in modules[:: every * UNOPTIMIZED_EVERY]
        )


def program_jobs(tree: Path) -> Iterator[Job]:
    """The compilations of the test programs of a tree."""
    for path in sorted((tree / "tests" / "run").rglob("*.mlir")):
        name = path.relative_to(tree).as_posix()
        yield from (Job(name, path.read_bytes(), arch, 3) for arch in ARCHES)


def digest(job: Job) -> tuple[str, str]:
    """The name of a compilation, and a digest of its PTX or the class of its error."""
    key = f"{job.name} {job.arch} -O{job.opt_level}"
    try:
        ptx = tilewright.compile(job.source, job.arch, job.opt_level, emit="ptx").ptx
    except tilewright.Error as error:
        return key, type(error).__name__
    return key, hashlib.sha256(ptx.encode()).hexdigest()


def compile_jobs(jobs: Iterable[Job], names: Sequence[str]) -> Digests:
    """Compile on all cores, with the sources that this process imported."""
    chosen = [job for job in jobs if not names or any(name in job.name for name in names)]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        return dict(pool.imap_unordered(digest, chosen, chunksize=8))


def digests_of(tree: Path, options: argparse.Namespace) -> Digests:
    """The digests of a tree, compiled by a process that imports its sources."""
    arguments = [*options.names, "--every", str(options.every), "--tree", str(tree)]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "TILEWRIGHT_CACHE": "0"}
    command = [sys.executable, __file__, *arguments]
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(process.stdout)


def baseline_digests(commit: str, options: argparse.Namespace) -> Digests:
    """The digests of a commit: those kept, or compiled in a worktree of its own."""
    selection = hashlib.sha256(json.dumps([options.every, options.names]).encode()).hexdigest()[:8]
    kept = KEPT / f"{commit}-{selection}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            digests = digests_of(tree, options)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(digests))
    return digests


def report(before: Digests, after: Digests) -> int:
    """Print the differences; return 1 if there are any."""
    changed = sorted(key for key in before if key in after and before[key] != after[key])
    for key in changed:
        print(f"differs: {key}")
    for key in sorted(before.keys() - after.keys()):
        print(f"only in the baseline: {key}")
    for key in sorted(after.keys() - before.keys()):
        print(f"only in the working tree: {key}")
    common = before.keys() & after.keys()
    errors = sum(len(before[key]) < 64 for key in common)
    print(f"{len(common)} compilations compared, {errors} of them errors: {len(changed)} differ")
    return int(bool(changed))


def main() -> int:
    """Compare the working tree with the baseline."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument("--baseline", metavar="COMMIT", help="the commit to compare with")
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    parser.add_argument("--tree", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tree is not None:
        jobs = [*corpus_jobs(options.every), *program_jobs(options.tree)]
        json.dump(compile_jobs(jobs, options.names), sys.stdout)
        return 0
    if options.baseline is None:
        parser.error("expected --baseline COMMIT")
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", f"{options.baseline}^{{commit}}"]
    revision = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    before = baseline_digests(revision.stdout.strip(), options)
    return report(before, digests_of(ROOT, options))


if __name__ == "__main__":
    sys.exit(main())
