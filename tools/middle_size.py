"""Count lines, modules, passes, tests of the GPU and measured constants of the compiler's middle.

    python tools/middle_size.py [COMMIT] [--base COMMIT] [--list tests|constants]

Counts the packages between Tile IR and NVVM in the working tree, or in a commit; with `--base` a
cell that changed shows both counts. The row `decide and apply` is what lies between nv_tileaa and
nvgpu: schedules, plans, the transformations of tiles, and the assignment of layouts. `--list`
prints where each test or constant is.

- Lines are all lines of a file. A module is a file that is not empty.
- A pass is an entry of `PASSES` in `driver/pipelines.py`; another name of a class does not count.
- Tests of the GPU and constants: by the rules of `counted_code.py`.

Tests of the GPU and constants belong in `target`, constants in `schedule` too: the limits of each
move, the constants of the cost model and those of the resource model. The last row counts what is
elsewhere.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from counted_code import Occurrence, gpu_tests, named_constants, unnamed_constants

ROOT: Final = Path(__file__).parent.parent
SOURCES: Final = "src/tilewright/"
PACKAGES: Final = (
    "transforms",
    "plans",
    "schedule",
    "target",
    "analysis",
    "layout",
    "conversion",
)
DIVIDED: Final = ("transforms", "conversion")
"""Packages whose folders have a row each."""
OUTER: Final = ("transforms/cuda_tile", "transforms/generic")
"""Transformations above the middle."""
MIDDLE: Final = ("transforms/", "plans", "schedule", "conversion/nv_tileaa_to_nv_tileas")
PLACES: Final = ("target/", "schedule/")
"""Where tests of the GPU and constants belong."""
PIPELINES: Final = "driver/pipelines.py"
Files = Mapping[str, str]


class Counts(NamedTuple):
    """What is counted of a file or a package."""

    lines: int = 0
    modules: int = 0
    passes: int = 0
    tests: int = 0
    constants: int = 0
    unnamed: int = 0

    def plus(self, other: Counts) -> Counts:
        """The counts of both."""
        return Counts(*(one + two for one, two in zip(self, other, strict=True)))


COLUMNS: Final = ("lines", "modules", "passes", "tests of the GPU", "constants", "unnamed")


def files_of(commit: str | None) -> Files:
    """The sources of a commit, or of the working tree, by their paths in the package."""
    if commit is None:
        folder = ROOT / SOURCES
        return {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in sorted(folder.rglob("*.py"))
        }
    command = ["git", "-C", str(ROOT), "archive", commit, SOURCES]
    data = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = ((each.name, archive.extractfile(each)) for each in archive)
        return {
            name.removeprefix(SOURCES): file.read().decode()
            for name, file in members
            if file is not None and name.endswith(".py")
        }


def passes_by_file(files: Files) -> dict[str, int]:
    """How many passes each file defines, by the registry."""
    tree = ast.parse(files[PIPELINES])
    registries = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == "PASSES"
        and statement.value is not None
    ]
    counts: dict[str, int] = {}
    for path in {path for each in registries for path in ast.literal_eval(each).values()}:
        module = path.partition(":")[0].removeprefix("tilewright.").replace(".", "/")
        file = f"{module}.py" if f"{module}.py" in files else f"{module}/__init__.py"
        counts[file] = counts.get(file, 0) + 1
    return counts


class Sizes:
    """The counts of all packages, and where tests and constants are."""

    def __init__(self, files: Files) -> None:
        self.by_file: dict[str, Counts] = {}
        self.tests: list[Occurrence] = []
        self.constants: list[Occurrence] = []
        passes = passes_by_file(files)
        trees = {
            file: ast.parse(text)
            for file, text in files.items()
            if file.split("/", 1)[0] in PACKAGES and text.strip()
        }
        classes = frozenset(
            node.name
            for file, tree in trees.items()
            if file.startswith("target/")
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        )
        for file, tree in trees.items():
            tests = list(gpu_tests(file, tree, classes))
            named, unnamed = list(named_constants(file, tree)), list(unnamed_constants(file, tree))
            self.tests += tests
            self.constants += [*named, *unnamed]
            lines = len(files[file].splitlines())
            self.by_file[file] = Counts(
                lines, 1, passes.get(file, 0), len(tests), len(named), len(unnamed)
            )

    def together(self, files: Iterable[str]) -> Counts:
        """The counts of some files together."""
        counts = Counts()
        for file in files:
            counts = counts.plus(self.by_file[file])
        return counts

    def rows(self) -> dict[str, Counts]:
        """The rows of the table."""
        by_row: dict[str, list[str]] = {}
        for file in self.by_file:
            by_row.setdefault(row_of(file), []).append(file)
        rows = {row: self.together(by_row[row]) for row in sorted(by_row)}
        every = list(self.by_file)
        middle = [each for each in every if each.startswith(MIDDLE) and not each.startswith(OUTER)]
        rows["decide and apply"] = self.together(middle)
        rows["all"] = self.together(every)
        elsewhere = self.together(each for each in every if not each.startswith(PLACES))
        rows["elsewhere than target and schedule"] = elsewhere
        return rows


def row_of(file: str) -> str:
    """The package of a file, with the folder below it in large packages."""
    parts = file.split("/")
    return "/".join(parts[:2]) if parts[0] in DIVIDED and len(parts) > 2 else parts[0]


def table(rows: Mapping[str, Counts], base: Mapping[str, Counts] | None) -> str:
    """The counts in Markdown; with a base, both counts where they differ."""
    lines = [f"| package | {' | '.join(COLUMNS)} |", "|---|" + "---:|" * len(COLUMNS)]
    for row in dict.fromkeys((*rows, *(base or ()))):
        now = rows.get(row, Counts())
        before = now if base is None else base.get(row, Counts())
        cells = [
            f"{new:,}" if old == new else f"{old:,} → {new:,}"
            for old, new in zip(before, now, strict=True)
        ]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table or the list that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", nargs="?", help="the working tree if there is none")
    parser.add_argument("--base", metavar="COMMIT", help="compare with it")
    parser.add_argument("--list", choices=("tests", "constants"), help="print where each is")
    options = parser.parse_args()
    sizes = Sizes(files_of(options.commit))
    if options.list is not None:
        for each in getattr(sizes, options.list):
            print(f"{SOURCES}{each.file}:{each.line}: {each.text}")
        return 0
    base = None if options.base is None else Sizes(files_of(options.base)).rows()
    print(table(sizes.rows(), base))
    return 0


if __name__ == "__main__":
    sys.exit(main())
