"""Pages of the documentation: their code blocks, and how each kind of block is run.

| block     | is run                                                                             |
|-----------|------------------------------------------------------------------------------------|
| `sh`      | line by line: our tools, and `python -m tilewright...`; `make` and `pip` are checked |
| `console` | each line `$ command`; the output must be what the page shows                       |
| `python`  | if it uses the package; excerpts of its source must parse                           |
| `mlir`    | parsed and verified                                                                 |
| `json`    | parsed                                                                              |
| `text`    | not: it is no code                                                                  |

A block that begins with the comment `# name.py` or `// name.mlir` is a file for the commands after
it. The comment `<!-- not run: REASON -->` before a block says why it is not run. In an output, `…`
stands for text within a line, and a line `...` for any lines.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("docs", "benchmarks", "tests")
PAGES: Final = [
    *ROOT.glob("*.md"),
    *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md")),
]
RUN: Final = ("sh", "console", "python", "mlir", "json")
SHOWN: Final = ("text", "yaml")
TOOLS: Final = ("tilewright ", "tileiras ", "tileirdisasm ")
IN_SHELL: Final = re.compile(r"python -m tilewright")

_BLOCK: Final = re.compile(
    r"^(?:<!-- not run: ([^\n]+) -->\n)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
_FILE: Final = re.compile(r"(?:#|//) ([\w-]+\.(?:py|mlir))\n")


class Block(NamedTuple):
    """A code block of a page."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str
    """Why the block is not run; empty if it is."""

    @property
    def is_run(self) -> bool:
        """Whether a test runs or parses the block."""
        return self.language in RUN and not self.not_run

    @property
    def file(self) -> str:
        """The name of the file that the block is; empty if it is none."""
        match = _FILE.match(self.text)
        return match[1] if match else ""

    def commands(self) -> list[tuple[str, str]]:
        """The commands of a console, each with the output that the page shows."""
        commands = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        pairs = (each.partition("\n") for each in commands)
        return [(command, output) for command, _, output in pairs]


def name_of(page: Path) -> str:
    """The path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[Block]:
    """The code blocks of a page, of all languages or of some."""
    text = page.read_text("utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[2], match[3], match[1] or "")
        for match in _BLOCK.finditer(text)
        if not languages or match[2] in languages
    ]


def shell_lines(block: Block) -> list[str]:
    """The commands of a block of `sh`, without comments."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def agrees(shown: str, output: str) -> bool:
    """Whether an output is what a page shows, but for what the page leaves out."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else _line_pattern(line) + r"\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, output) is not None


def _line_pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("…")))


def count() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """By language: blocks that are run, that say why they are not, and that are no code."""
    run, left, shown = dict[str, int](), dict[str, int](), dict[str, int]()
    for page in PAGES:
        for block in blocks(page):
            counts = run if block.is_run else left if block.not_run else shown
            counts[block.language] = counts.get(block.language, 0) + 1
    return run, left, shown
