"""Check that the working tree generates the same PTX as another commit, byte for byte.

    python tools/ptx_identity.py --baseline COMMIT [--whole] [NAME ...]
    python tools/ptx_identity.py --baseline COMMIT --diff LABEL

Compiles the rows and variants of the benchmarks (`benchmarks/programs/`), the corpus, and the
programs of `tests/run` with the sources of both commits, without the compilation cache: for sm_90,
sm_80, sm_100 and sm_120 at -O3, samples at -O0 and -O1, the rows and variants also under forced
schedules; and compares the remarks of passes on them. Without `--whole` it takes a part, for
frequent runs: all rows and variants for sm_90, samples of the others. NAME selects programs by a
part of their names, with all of their compilations.

Results are kept under `build/ptx-identity` by the content of `src`, so that a commit is compiled
once. Prints the compilations that differ; `--diff` prints what differs in those whose label, as it
is printed, contains a text.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from identity_compile import Job, Result
from identity_jobs import selected_jobs

ROOT: Final = Path(__file__).parent.parent
KEPT: Final = ROOT / "build" / "ptx-identity"
COMPILE: Final = Path(__file__).with_name("identity_compile.py")
DIGEST_LENGTH: Final = 64
"""Shorter outcomes are classes of errors."""
WRITTEN_EVERY: Final = 100
"""Results, so that a run that is interrupted can go on where it was."""

Digests = dict[str, str]


def git(*arguments: str) -> str:
    """The output of a git command in this checkout."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def results_of(tree: Path, jobs: Sequence[Job], *options: str) -> Iterator[Result]:
    """Compile jobs in a process that imports the sources of a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "TILEWRIGHT_CACHE": "0"}
    with (
        tempfile.TemporaryFile() as given,
        subprocess.Popen(
            [sys.executable, str(COMPILE), *options],
            env=environment,
            stdin=given,
            stdout=subprocess.PIPE,
        ) as process,
    ):
        pickle.dump(list(jobs), given)
        given.seek(0)
        assert process.stdout is not None
        try:
            for _ in jobs:
                yield pickle.load(process.stdout)
        except EOFError:
            sys.exit(f"expected {len(jobs)} results, but the process that compiles ended before")


@contextmanager
def tree_of(commit: str) -> Generator[Path]:
    """The files of a commit in a worktree of its own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


class KeptDigests:
    """The outcomes of compilations by the sources of one content, kept in a file."""

    def __init__(self, sources: str | None) -> None:
        self._path = None if sources is None else KEPT / f"{sources}.json"
        self._by_key: Digests = {}
        if self._path is not None and self._path.exists():
            self._by_key = json.loads(self._path.read_text())

    def missing(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that were not compiled yet, equal ones once."""
        by_key = {job.key: job for job in jobs if job.key not in self._by_key}
        return list(by_key.values())

    def compile(self, tree: Path, jobs: Sequence[Job]) -> None:
        """Compile the jobs; what is ready when the run is interrupted is kept."""
        for count, (index, outcome, _) in enumerate(results_of(tree, jobs), 1):
            self._by_key[jobs[index].key] = outcome
            if count % WRITTEN_EVERY == 0 or count == len(jobs):
                self._write()

    def _write(self) -> None:
        """Write the file, if there is one."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            written = self._path.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(self._by_key))
            written.replace(self._path)

    def of(self, jobs: Sequence[Job]) -> Digests:
        """The outcome of each job by its label."""
        return {job.label: self._by_key[job.key] for job in jobs}


def baseline_digests(commit: str, jobs: Sequence[Job]) -> Digests:
    """The outcomes of a commit."""
    kept = KeptDigests(git("rev-parse", "--verify", f"{commit}:src"))
    if missing := kept.missing(jobs):
        with tree_of(commit) as tree:
            kept.compile(tree, missing)
    return kept.of(jobs)


def working_digests(jobs: Sequence[Job]) -> Digests:
    """The outcomes of the working tree, kept if its sources are committed."""
    is_committed = not git("status", "--porcelain", "src")
    kept = KeptDigests(git("rev-parse", "HEAD:src") if is_committed else None)
    if missing := kept.missing(jobs):
        kept.compile(ROOT, missing)
    return kept.of(jobs)


def report(before: Digests, after: Digests) -> int:
    """Print the differences; return 1 if there are any."""
    changed = [label for label in before if before[label] != after[label]]
    for label in changed:
        print(f"differs: {label}{outcomes(before[label], after[label])}")
    errors = sum(len(outcome) < DIGEST_LENGTH for outcome in before.values())
    print(f"{len(before)} compilations compared, {errors} of them errors: {len(changed)} differ")
    if changed:
        print("see what differs with --diff LABEL")
    return int(bool(changed))


def outcomes(before: str, after: str) -> str:
    """How the outcomes of a compilation differ, if one is an error."""
    kinds = [each if len(each) < DIGEST_LENGTH else "compiled" for each in (before, after)]
    return "" if kinds[0] == kinds[1] else f" ({kinds[0]} before, {kinds[1]} now)"


def labelled(jobs: Sequence[Job], text: str) -> list[Job]:
    """The job of a label; if there is none, those whose label contains the text."""
    exact = [job for job in jobs if job.label == text]
    chosen = exact or [job for job in jobs if text in job.label]
    if not chosen:
        sys.exit(f"expected a part of a label, found '{text}', which no compilation has")
    return chosen


def show_differences(commit: str, jobs: Sequence[Job]) -> int:
    """Print the differences of texts in the form of `diff -u`; return 1 if there are any."""
    with tree_of(commit) as tree:
        before = {index: text for index, _, text in results_of(tree, jobs, "--texts")}
    after = {index: text for index, _, text in results_of(ROOT, jobs, "--texts")}
    is_different = False
    for index, job in enumerate(jobs):
        old, new = (each[index].splitlines(keepends=True) for each in (before, after))
        names = (f"{commit}: {job.label}", f"working tree: {job.label}")
        for line in difflib.unified_diff(old, new, *names):
            is_different = True
            sys.stdout.write(line)
    if not is_different:
        print(f"{len(jobs)} compilations: no difference")
    return int(is_different)


def main() -> int:
    """Compare the working tree with the baseline."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument("--baseline", metavar="COMMIT", required=True, help="compare with it")
    parser.add_argument("--whole", action="store_true", help="compile all, not a part")
    parser.add_argument("--diff", metavar="LABEL", help="print what differs")
    options = parser.parse_args()
    commit = git("rev-parse", "--verify", f"{options.baseline}^{{commit}}")
    if options.diff is not None:
        every = selected_jobs(options.names, whole=True)
        return show_differences(commit, labelled(every, options.diff))
    jobs = selected_jobs(options.names, whole=options.whole)
    return report(baseline_digests(commit, jobs), working_digests(jobs))


if __name__ == "__main__":
    sys.exit(main())
