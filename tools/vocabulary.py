"""Count retired words, and check that each one left over is protected or has a reason.

    python tools/vocabulary.py [--before COMMIT] [--list] [PATH ...]

`tools/vocabulary.toml` names the retired words, the terms to use instead, and the uses that stay.
Identifiers count by their parts: `load_ahead` and `loadAhead` are hits of `ahead`.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
TABLE: Final = Path(__file__).with_suffix(".toml")

WORD: Final = re.compile("[A-Z]?[a-z]+")
LITERAL: Final = re.compile(
    r""""{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*""",
    re.DOTALL,
)
"""A string or a comment in Python."""


class Use(NamedTuple):
    """A use of a retired word that stays."""

    pattern: re.Pattern[str]
    files: str
    reason: str

    def covers(self, hit: Hit) -> bool:
        """Return whether this use explains a hit."""
        return fnmatch(hit.path, self.files) and self.covers_column(hit)

    def covers_column(self, hit: Hit) -> bool:
        """Whether one of the matches in the line contains the hit."""
        matches = self.pattern.finditer(hit.line)
        return any(match.start() <= hit.column < match.end() for match in matches)


class Word:
    """A retired word."""

    def __init__(self, entry: dict[str, object], shared: Sequence[Use]) -> None:
        self.name = str(entry["word"])
        self.instead = str(entry["instead"])
        self.kind = str(entry.get("kind", "word"))
        uses = entry.get("stays", [])
        assert isinstance(uses, list)
        self.stays = [*map(read_use, uses), *shared]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression of a hit."""
        if self.kind != "word":
            return re.compile(rf"\b(?:{self.name})\b")
        capitalized = self.name.capitalize()
        part = rf"(?<![A-Za-z])(?:{self.name}|{capitalized})(?![a-z])"
        return re.compile(rf"{part}|(?<=[a-z]){capitalized}(?![a-z])")

    def hits(self, file: File) -> Iterator[Hit]:
        """The hits in a file."""
        # Most words do not occur in most files.
        first = self.name.partition(" ")[0]
        if file.words.isdisjoint((first, first.capitalize())):
            return
        for match in self.pattern.finditer(file.text):
            number = bisect_right(file.starts, match.start())
            column = match.start() - file.starts[number - 1]
            if self.kind == "identifier" and not file.is_code(match.start()):
                continue
            yield Hit(self.name, file.path, number, column, file.lines[number - 1])

    def reason(self, hit: Hit) -> str | None:
        """Return the reason for which a hit stays, or `None`."""
        return next((use.reason for use in self.stays if use.covers(hit)), None)


class Hit(NamedTuple):
    """A retired word in a file."""

    word: str
    path: str
    number: int
    column: int
    line: str


class File:
    """A file whose words are counted."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        ends = accumulate(map(len, text.splitlines(keepends=True)))
        self.starts = [0, *ends]
        """Where each line begins in the text."""

    @cached_property
    def words(self) -> set[str]:
        """The words of the text, also those within identifiers."""
        return set(WORD.findall(self.text))

    @cached_property
    def literals(self) -> list[int]:
        """Where each string and comment of a Python file begins and ends, in the order of the file.

        Python's tokenizer takes five seconds for all files.
        """
        return [offset for match in LITERAL.finditer(self.text) for offset in match.span()]

    def is_code(self, offset: int) -> bool:
        """Whether an offset is in Python code, outside of strings and comments."""
        return self.path.endswith(".py") and bisect_right(self.literals, offset) % 2 == 0


def read_use(entry: dict[str, str]) -> Use:
    """A use that stays, as the table has it."""
    return Use(re.compile(entry["match"]), entry.get("files", "*"), entry["reason"])


def read_table() -> tuple[list[Word], list[str], list[str]]:
    """The retired words, the files they are counted in, and those left out."""
    table = tomllib.loads(TABLE.read_text())
    shared = [read_use(entry) for entry in table["stays"]]
    return [Word(entry, shared) for entry in table["words"]], table["files"], table["except"]


def chosen_files(paths: Iterable[str], kept: list[str], dropped: list[str]) -> Iterator[str]:
    """The files whose words are counted."""
    for path in paths:
        wanted = any(fnmatch(path, pattern) for pattern in kept)
        if wanted and not any(fnmatch(path, pattern) for pattern in dropped):
            yield path


def git(*arguments: str) -> bytes:
    """Run a git command and return its output."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def sources(commit: str | None) -> dict[str, str]:
    """The tracked files with their texts, of a commit or of the working tree."""
    _, kept, dropped = read_table()
    if commit is None:
        paths = git("ls-files").decode().splitlines()
        existing = (path for path in paths if (ROOT / path).is_file())
        return {path: (ROOT / path).read_text() for path in chosen_files(existing, kept, dropped)}
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit))) as archive:
        paths = [member.name for member in archive if member.isfile()]
        files = {path: archive.extractfile(path) for path in chosen_files(paths, kept, dropped)}
        return {path: file.read().decode() for path, file in files.items() if file is not None}


def count(texts: dict[str, str], paths: Sequence[str]) -> Iterator[tuple[Hit, str | None]]:
    """Every hit, with the reason why it stays."""
    words, _, _ = read_table()
    for path, text in texts.items():
        if paths and not any(path.startswith(prefix) for prefix in paths):
            continue
        file = File(path, text)
        for word in words:
            yield from ((hit, word.reason(hit)) for hit in word.hits(file))


def report(now: list[tuple[Hit, str | None]], before: Counter[str] | None) -> None:
    """Print a line for each word."""
    words, _, _ = read_table()
    totals = Counter(hit.word for hit, _ in now)
    left = Counter(hit.word for hit, reason in now if reason is None)
    print(f"{'word':<14}{'before':>8}{'now':>8}{'open':>8}  instead")
    for word in words:
        earlier = "" if before is None else str(before[word.name])
        counts = f"{earlier:>8}{totals[word.name]:>8}{left[word.name]:>8}"
        print(f"{word.name:<14}{counts}  {word.instead}")
    earlier = "" if before is None else str(before.total())
    print(f"{'all':<14}{earlier:>8}{totals.total():>8}{left.total():>8}")
    print("\nuses that stay, by reason:")
    for reason, number in Counter(reason for _, reason in now if reason).most_common():
        print(f"{number:8}  {reason}")


def main() -> int:
    """Count; the exit code says whether a use is neither protected nor explained."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", help="only files whose paths start with one of these")
    parser.add_argument("--before", metavar="COMMIT", help="count in this commit too")
    parser.add_argument("--list", action="store_true", help="print every open use")
    parser.add_argument("--quiet", action="store_true", help="print open uses and nothing else")
    options = parser.parse_args()
    before = None
    if options.before is not None:
        before = Counter(hit.word for hit, _ in count(sources(options.before), options.paths))
    now = list(count(sources(None), options.paths))
    unexplained = [hit for hit, reason in now if reason is None]
    if options.list or options.quiet:
        for hit in unexplained:
            print(f"{hit.path}:{hit.number}: {hit.word}: {hit.line.strip()}")
    if not options.quiet:
        report(now, before)
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())
