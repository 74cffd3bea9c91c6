"""Chains of aliases that double with each link cost as much as their text, in every command."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from command_line import Run
from shared_chains import ALIASES, LOCATIONS, aliased, located
from work import count_calls

import tilewright
from tilewright.driver.registry import context
from tilewright.support.diagnostics import Error
from tilewright.support.location import (
    MAX_CALL_SITES,
    UNKNOWN,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    Location,
)
from tilewright.support.source_location import call_sites, source_location
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

COMMANDS = {
    "verify": ["verify"],
    "print": ["opt", "-g"],
    "passes": ["opt", "-g", "--pass", "cse,canonicalize,synthesize-debug-info-scopes"],
    "assemble": ["as", "-o", "out.tileirbc"],
    "line info": ["compile", "-g", "--no-cache", "--emit", "llvm", "-o", "out.ll"],
    "debug info": ["compile", "--device-debug", "--no-cache", "--emit", "llvm", "-o", "out.ll"],
}
CASES = [
    *[(command, *case) for command in COMMANDS if "info" not in command for case in LOCATIONS],
    ("line info", "scoped", "call sites"),
    ("line info", "unknown", "fused"),
    ("debug info", "file", "call sites"),
    ("debug info", "scoped", "named"),
]
# A chain of 24 links has 2**24 leaves, and is close to the limit of nesting.
SHORT, LONG = 12, 24


def work(run: Run, folder: Path, command: list[str], text: str, limit: int) -> int:
    """Count the calls of a command, which must not report a bug."""
    (folder / "chain.mlir").write_text(text)
    codes: list[int] = []
    count = count_calls(lambda: codes.append(run(*command, "chain.mlir").code), limit)
    assert codes[0] in (0, 1)
    return count


@pytest.mark.parametrize(("command", "leaf", "link"), CASES)
def test_work_is_linear(run: Run, folder: Path, command: str, leaf: str, link: str) -> None:
    def count(length: int, limit: int = 10_000_000) -> int:
        return work(run, folder, COMMANDS[command], located(length, leaf, link), limit)

    count(SHORT)  # what is loaded and cached on first use
    short = count(SHORT)
    assert count(LONG, 2 * short) <= 2 * short


@pytest.mark.parametrize(("leaf", "link"), LOCATIONS)
def test_an_error_at_a_chain_is_rendered(leaf: str, link: str) -> None:
    text = located(LONG, leaf, link, op="addf")

    def render() -> None:
        with pytest.raises(Error) as caught:
            tilewright.read(text)
        lines[:] = caught.value.render().splitlines()

    lines: list[str] = []
    count_calls(render, 1_000_000)
    expected = "error: 'cuda_tile.addf' op operand #0 must be tile of"
    assert expected in lines[0]
    assert lines[0].startswith("<input>:" if leaf == "unknown" else "f.py:1:2: error")


@pytest.mark.parametrize("kind", ALIASES)
def test_aliases_that_double_are_printed_up_to_a_limit(kind: str) -> None:
    def read(length: int) -> str:
        return print_op(parse_text(aliased(length, kind), context(allow_unregistered=True)))

    assert len(read(9)) > 1 << 9
    tracemalloc.start()
    with pytest.raises(Error, match=r"alias '[#!]a1[0-9]': expected at most 4096 nested"):
        count_calls(lambda: read(LONG), 100_000)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_long_definition_may_be_large() -> None:
    text = f'#a = [{"1, " * 9999}1]\n"x.y"() {{a = #a}} : () -> ()'
    assert parse_text(text, context(allow_unregistered=True)) is not None


@pytest.mark.parametrize(
    ("links", "message"),
    [(10, ""), (11, f"expected at most {MAX_CALL_SITES} nested call sites, found 2048")],
)
def test_assembler_and_disassembler_have_the_same_limit(
    run: Run, folder: Path, links: int, message: str
) -> None:
    (folder / "sites.mlir").write_text(located(links, "scoped"))
    result = run("as", "sites.mlir", "-o", "sites.tileirbc")
    assert message in result.err
    assert (folder / "sites.tileirbc").exists() == (not message)
    if not message:
        assert run("dis", "-g", "sites.tileirbc").out.count("callsite(") == links


def nested(levels: int) -> Location:
    """A location that was inlined so often, each time into another line."""
    location: Location = FileLoc("f.py", 1, 1)
    for line in range(levels):
        location = CallSiteLoc(FileLoc("f.py", line, 2), location)
    return location


def chain(levels: int, leaf: Location) -> Location:
    for _ in range(levels):
        leaf = FusedLoc((CallSiteLoc(leaf, leaf), leaf))
    return leaf


def test_locations_that_are_equal_but_not_the_same() -> None:
    one, other = chain(200, FileLoc("f", 1, 1)), chain(200, FileLoc("f", 1, 1))
    assert count_calls(lambda: one == other and hash(one) == hash(other), 10_000) < 10_000
    assert one == other
    assert one != chain(200, FileLoc("f", 1, 2))
    assert one != chain(199, FileLoc("f", 1, 1))


def test_the_search_for_a_file_visits_each_location_once() -> None:
    nowhere = chain(200, UNKNOWN)
    assert count_calls(lambda: source_location(nowhere), 10_000) < 10_000
    assert source_location(nowhere) is None
    assert str(nowhere) == ""
    assert nowhere.excerpt() is None


def test_call_sites_are_the_innermost_ones() -> None:
    sites = call_sites(nested(3000))
    lines = [source_location(site.callee) for site in sites]
    expected = [FileLoc("f.py", line, 2) for line in range(3000 - MAX_CALL_SITES, 3000)]
    assert lines == expected
    doubled: Location = FileLoc("f.py", 1, 1)
    for _ in range(100):
        doubled = CallSiteLoc(doubled, doubled)
    assert len(call_sites(doubled)) == MAX_CALL_SITES
