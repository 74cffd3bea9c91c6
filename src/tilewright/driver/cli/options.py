"""Declarative command-line options of subcommands. argparse would cost a tenth of start-up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn

from tilewright.bytecode import versions

HELP_NAMES: Final = ("-h", "--help")
COLUMN: Final = 26
WIDTH: Final = 100


class UsageError(Exception):
    """The command line is wrong."""


class Option:
    """An option with a value named `metavar`; without it, a flag.

    The value of an option with `implied` is optional, and follows an equals sign.
    """

    __slots__ = ("choices", "default", "help", "implied", "key", "metavar", "names")

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str = "",
        choices: Sequence[str] = (),
        default: str = "",
        implied: str = "",
    ) -> None:
        self.names = names
        self.key = names[-1].lstrip("-")
        self.help = help
        self.metavar = f"{{{','.join(choices)}}}" if choices else metavar
        self.choices = choices
        self.default = default
        self.implied = implied
        """The value of the option if it is given without one."""

    @property
    def usage(self) -> str:
        """The names and the value in the text of `--help`."""
        names = ", ".join(self.names)
        if self.implied:
            return f"{names}[={self.metavar}]"
        return f"{names} {self.metavar}".rstrip()


class Arguments:
    """A parsed command line; keys are long option names without dashes."""

    __slots__ = ("_defaults", "_given", "files")

    def __init__(self, options: Sequence[Option]) -> None:
        self._defaults = {option.key: option.default for option in options}
        self._given: dict[str, list[str]] = {}
        self.files: list[str] = []

    @property
    def file(self) -> str:
        """The operand of a command that takes one."""
        return self.files[0]

    def __getitem__(self, key: str) -> str:
        """The value of an option: the last one given, or the default."""
        return self._given[key][-1] if key in self._given else self._defaults[key]

    def all(self, key: str) -> list[str]:
        """Every value of an option that may be repeated."""
        return self._given.get(key, [])

    def flag(self, key: str) -> bool:
        """Whether a flag is given."""
        return key in self._given

    def add(self, option: Option, value: str) -> None:
        """Record a value or a flag."""
        self._given.setdefault(option.key, []).append(value)


class Command:
    """A subcommand: its summary, operand and options."""

    __slots__ = ("_by_name", "default", "description", "epilog", "help_names", "many", "name",
                 "operand", "options", "source", "topic", "words")  # fmt: skip

    def __init__(
        self,
        name: str,
        description: str,
        source: str,
        options: Sequence[Option],
        epilog: str,
        *,
        many: bool = False,
        operand: str = "FILE",
        default: str = "-",
        topic: Callable[[str], str | None] | None = None,
        help_names: Sequence[str] = HELP_NAMES,
        words: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.description = description
        self.source = source
        self.options = options
        self.epilog = epilog
        self.many = many
        """Whether it takes several files."""
        self.operand = operand
        self.default = default
        """The default operand."""
        self.topic = topic
        """The text of `--help WORD`, if there is one for the word."""
        self.help_names = help_names
        """The options that print help instead of running the command."""
        self.words = words
        """The operands, if they are a known set: shells complete them."""
        self._by_name = {spelling: option for option in options for spelling in option.names}

    def wants_help(self, arguments: Sequence[str]) -> bool:
        """Whether the command line asks for the text of `--help`."""
        return not set(self.help_names).isdisjoint(arguments)

    def parse(self, arguments: Sequence[str]) -> Arguments:
        """Parse the command line; raises `UsageError`."""
        parsed = Arguments(self.options)
        files: list[str] = []
        words = iter(arguments)
        for word in words:
            if word == "--":
                files += words
            elif word == "-" or not word.startswith("-"):
                files.append(word)
            else:
                self._option(word, words, parsed)
        if len(files) > 1 and not self.many:
            self.fail(f"expected one {self.operand}, found {len(files)}: {' '.join(files)}")
        if not files and self.default == "-" and sys.stdin.isatty():
            self.fail("expected a FILE, and standard input is a terminal (`-` reads it anyway)")
        parsed.files = files or [self.default]
        return parsed

    def _unknown(self, name: str) -> NoReturn:
        # Loaded only to report an error.
        from tilewright.support.suggestions import did_you_mean  # noqa: PLC0415

        self.fail(f"unknown option '{name}'{did_you_mean(name, self._by_name)}")

    def _option(self, word: str, words: Iterator[str], parsed: Arguments) -> None:
        name, value = self._split(word)
        option = self._by_name.get(name)
        if option is None:
            self._unknown(name)
        if not option.metavar:
            if value is not None:
                self.fail(f"option '{name}' takes no value, found '{value}'")
            return parsed.add(option, "")
        if value is None:
            value = option.implied or next(words, None)
        if value is None:
            self.fail(f"option '{name}' needs a value: {option.metavar}")
        if option.choices and value not in option.choices:
            expected = ", ".join(option.choices)
            self.fail(f"option '{name}': expected one of {expected}, found '{value}'")
        return parsed.add(option, value)

    def _split(self, word: str) -> tuple[str, str | None]:
        """Split `--name=value` or `-nvalue` into name and value."""
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            return name, value if equals else None
        return word[:2], word[2:] or None

    def fail(self, message: str) -> NoReturn:
        """Raise a usage error."""
        # Loaded only to report something.
        from tilewright.support.quoting import one_line  # noqa: PLC0415

        raise UsageError(
            f"tilewright {self.name}: error: {one_line(message)}\n"
            f"`tilewright {self.name} --help` lists the options"
        )

    def help(self, arguments: Sequence[str] = ()) -> str:
        """Return the text of `--help`, or of the topics that follow it."""
        words = [word for word in arguments if word not in HELP_NAMES]
        topics = [self.topic(word) for word in words] if self.topic is not None else []
        chosen = [text for text in topics if text is not None]
        return "\n\n".join(chosen) if chosen else self._overview()

    def _overview(self) -> str:
        rows = [
            _row("-h, --help", "show this text and exit"),
            _row("--version", "show the version and exit"),
        ]
        rows += [_row(option.usage, option.help) for option in self.options]
        listed = "\n".join(rows)
        operand = f"{self.operand}..." if self.many else self.operand
        default = "standard input" if self.default == "-" else self.default
        return (
            f"usage: tilewright {self.name} [options] [{operand}]\n\n{self.description}\n\n"
            f"{_row(self.operand, f'{self.source} (default: {default})')}\n\n"
            f"options:\n{listed}\n\n{self.epilog}"
        )


def _row(left: str, right: str) -> str:
    # Loaded only to print help.
    from textwrap import wrap  # noqa: PLC0415

    left = f"  {left}"
    indent = "\n" + " " * COLUMN
    gap = " " * (COLUMN - len(left)) if len(left) < COLUMN - 1 else indent
    lines = wrap(right, WIDTH - COLUMN, break_long_words=False, break_on_hyphens=False)
    return f"{left}{gap}{indent.join(lines)}"


def columns(names: Sequence[str]) -> str:
    """Format names in three columns, row by row."""
    rows = [names[start : start + 3] for start in range(0, len(names), 3)]
    return "\n".join("  " + "".join(f"{name:<32}" for name in row).rstrip() for row in rows)


def output(what: str) -> Option:
    """The output file."""
    help = f"where to write {what} (default: standard output); untouched if anything fails"
    return Option("-o", "--output", metavar="FILE", default="-", help=help)


def parse_timeout(command: Command, arguments: Arguments) -> float | None:
    """The seconds of `--timeout`; None if it is not given."""
    text = arguments["timeout"]
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        command.fail(f"option '--timeout': expected seconds above 0, found '{text}'")
    return seconds


VERSIONS: Final = tuple(map(versions.spell, versions.KNOWN))
_WRITTEN: Final = versions.spell(versions.NEWEST)

BYTECODE_VERSION: Final = Option(
    "--bytecode-version",
    choices=VERSIONS,
    default=_WRITTEN,
    help=f"version of the bytecode (default: {_WRITTEN}); older ones lack newer operations",
)

TEXT_OPTIONS: Final = (
    Option("-g", "--print-debug-info", help="print the location of every operation"),
    Option(
        "--asm-style",
        choices=("public", "tileiras"),
        default="public",
        help="spellings of NVIDIA's public tools (default), or those of tileiras",
    ),
    Option("--generic", help="print MLIR's generic form of every operation"),
)
"""Options of the printer."""

INSTRUMENT_OPTIONS: Final = (
    Option("--verify-each", help="verify after every pass"),
    Option(
        "--print-before",
        metavar="PASSES",
        help="print the IR before these passes, such as `cse,licm`, to standard error",
    ),
    Option("--print-before-all", help="print before every pass"),
    Option("--print-after", metavar="PASSES", help="print the IR after these passes"),
    Option("--print-after-all", help="print after every pass"),
    Option(
        "--print-changed",
        choices=("ir", "diff"),
        implied="ir",
        help="print after every pass that changes the IR: all of it, or a unified diff",
    ),
    Option("--timing", help="print how long each step took, to standard error"),
    Option(
        "--statistics",
        help="print the operations before and after each pass, and what passes count",
    ),
    Option("--dump-pass-pipeline", help="print the passes and their options, before they run"),
    Option(
        "--opt-bisect-limit",
        metavar="N",
        help="run only the first N of the passes that may be skipped, and print which; -1: all",
    ),
)
"""Options of pass instrumentation."""

SANITIZE: Final = Option(
    "--sanitize",
    choices=("memcheck",),
    help="check every access of global memory against its view while the kernel runs",
)
"""An option of `compile` and `run`."""

SCHEDULE: Final = Option(
    "--schedule",
    metavar="OPTIONS",
    help="force schedules instead of choosing them: any of stages=3, in-flight=0, k-parts=2, "
    "agents=1, multicast=0, tma-stores=1, evict-first=0, rotate=0, kept-tiles=8, single-trip=0, "
    "prefetch=0 and warps=8, separated by commas",
)
"""An option of `compile`."""

OPT_LEVELS: Final = ("0", "1", "2", "3")
