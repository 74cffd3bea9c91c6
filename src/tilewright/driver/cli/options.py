"""Options that several subcommands share."""

from __future__ import annotations

import argparse
from typing import Final

VERSIONS: Final = ("13.1", "13.2", "13.3", "13.4")
STYLES: Final = ("public", "tileiras")


def command_parser(name: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    """A parser that says what a command does; its errors exit with code 2."""
    return argparse.ArgumentParser(
        prog=f"tilewright {name}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_input(parser: argparse.ArgumentParser, what: str) -> None:
    """The positional input file."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help=f"{what} (default: standard input)"
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """The output file."""
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help=f"where to write {what} (default: standard output); untouched if anything fails",
    )


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """How text is printed."""
    parser.add_argument(
        "-g",
        "--print-debug-info",
        action="store_true",
        dest="debug",
        help="print the location of every operation",
    )
    parser.add_argument(
        "--asm-style",
        choices=STYLES,
        default="public",
        help="spellings of NVIDIA's public tools (default), or those of tileiras",
    )
    parser.add_argument(
        "--generic", action="store_true", help="print MLIR's generic form of every operation"
    )
