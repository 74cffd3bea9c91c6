"""Run the tests that the change since `main` can affect: `make check`.

    python tools/check.py [--base COMMIT] [--seconds N] [--list] [--record]

The first run records which functions each test of `make test` calls (several times the time of
`make test`), in `build/check`; `--record` does it again. Later runs compare the working tree with
the commit where it left the base, and run the tests that call a changed function, read a changed
file, or stand in a changed test file: the most specific ones first, up to a limit of recorded
seconds. What is left out is counted; `make test` runs all.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from affected_tests import (
    Definition,
    Mentions,
    Record,
    affected_tests,
    changed_nodes,
    reached_nodes,
)

ROOT: Final = Path(__file__).parent.parent
RECORD: Final = ROOT / "build" / "check" / "record.json"
SECONDS: Final = 150
"""Of one core, as recorded: two cores run them in less than two minutes, collection included."""
PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal")


def main(arguments: Sequence[str] | None = None) -> int:
    """Record if asked or necessary, then select and run tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", default="main", help="compare with the fork point of this commit")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests, as recorded")
    parser.add_argument("--list", action="store_true", help="print the tests, run none")
    parser.add_argument("--record", action="store_true", help="record all tests again")
    options = parser.parse_args(arguments)
    if options.record or not RECORD.exists():
        print("check: record what each test calls, once; takes several times as long as make test")
        record_tests()
        if options.record:
            return 0
    record = Record.read(RECORD)
    base = git("merge-base", "HEAD", options.base).strip()
    paths = changed_paths(base)
    files = [path for path in paths if is_test_file(path) and (ROOT / path).exists()]
    files += [name for path in paths for name in functions_of_new_case(record, path)]
    nodes: dict[str, Definition] = {}
    for path in paths:
        nodes |= changed_nodes_of(base, path)
    affected = affected_tests(record, reached_nodes(nodes, Mentions(ROOT)))
    tests = within(options.seconds, record, [n for n in affected if not in_files(record, n, files)])
    print(
        f"check: {len(paths)} files changed since {base[:12]}, {len(affected)} tests are affected; "
        f"{len(tests)} of them run, and all of {', '.join(files) or 'no test file'}"
    )
    names = [*files, *(record.tests[number][0] for number in tests)]
    if options.list:
        print("\n".join(names))
        return 0
    return run(names) if names else 0


def git(*arguments: str) -> str:
    """The output of a git command in the checkout."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def record_tests() -> None:
    """Run the tests of `make test`, and record what each of them reaches."""
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # Without the equals sign, pytest would look for its configuration in the folder.
        options = ["-p", "call_records", f"--call-records={folder}", "-m", "not exhaustive"]
        # pytest imports plugins before it extends the module search path.
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tools'}:{ROOT / 'tests/shared'}"}
        # Tests that count loaded modules or time fail while they are recorded.
        subprocess.run([*PYTEST, *options], cwd=ROOT, check=False, env=environment)
        Record.merge(git("rev-parse", "HEAD").strip(), Path(folder)).write(RECORD)


def changed_paths(base: str) -> list[str]:
    """The files that differ from a commit, new ones included."""
    tracked = git("diff", "--name-only", base).splitlines()
    return sorted({*tracked, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def is_test_file(path: str) -> bool:
    """Whether pytest collects tests from a file."""
    return path.startswith("tests/") and Path(path).match("test_*.py")


def changed_nodes_of(base: str, path: str) -> dict[str, Definition]:
    """The nodes that a changed file affects."""
    if not path.endswith(".py"):
        return {f"file:{path}": Definition("", is_recorded=True)}
    show = subprocess.run(
        ["git", "show", f"{base}:{path}"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    file = ROOT / path
    new = file.read_text(encoding="utf-8") if file.exists() else ""
    try:
        return changed_nodes(path, show.stdout, new)
    except SyntaxError as error:
        sys.exit(f"check: {path}:{error.lineno}: {error.msg}")


def functions_of_new_case(record: Record, path: str) -> list[str]:
    """The test functions that take a new file as a case, as those beside it: all their cases."""
    if path.endswith(".py") or f"file:{path}" in record.nodes:
        return []
    folder = f"file:{path.rpartition('/')[0]}/"
    bits = 0
    for node, tests in record.nodes.items():
        bits |= tests if node.startswith(folder) and "/" not in node[len(folder) :] else 0
    names = (name for number, (name, _) in enumerate(record.tests) if bits >> number & 1)
    return sorted({name.partition("[")[0] for name in names if "[" in name})


def in_files(record: Record, number: int, files: Sequence[str]) -> bool:
    """Whether a test is one of a file or function all of whose tests run."""
    name = record.tests[number][0]
    return name.partition("::")[0] in files or name.partition("[")[0] in files


def within(seconds: float, record: Record, numbers: Iterable[int]) -> list[int]:
    """The first tests that together take at most this long."""
    chosen: list[int] = []
    for number in numbers:
        seconds -= record.tests[number][1]
        if seconds < 0:
            break
        chosen.append(number)
    return chosen


def run(names: Sequence[str]) -> int:
    """Run tests by name."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(names))
        file.flush()
        return subprocess.run(
            [*PYTEST, "-m", "not exhaustive", f"@{file.name}"], cwd=ROOT
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
