"""Random programs with chains of aliases and with print formats, for fuzzing.

Each alias of a chain refers to earlier ones, most often twice to the one before, so that the tree
that it stands for doubles with each link.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from tilewright import Error
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_unverified
from tilewright.ir.verifier import verify

LENGTHS: Final = (1, 2, 3, 5, 8, 12, 24, 60, 120, 300)
HEAD: Final = """\
#file = #cuda_tile.di_file<"f.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#s0 = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", \
compileUnit = #unit>
"""
FUNCTION: Final = 'loc(#cuda_tile.di_loc<loc("f.py":1:1) in #s0>)'
LEAVES: Final = (
    FUNCTION,
    FUNCTION,
    FUNCTION,
    'loc("f.py":1:1)',
    "loc(unknown)",
)
LOCATIONS: Final = (
    "loc(callsite(#l{0} at #l{1}))",
    "loc(callsite(#l{0} at #l{1}))",
    "loc(fused[#l{0}, #l{1}])",
    'loc(fused<"tag">[#l{0}, #l{1}, #l{0}])',
    'loc(fused["x"(#l{0}), #l{1}])',
    'loc("x"(#l{0}))',
    "loc(callsite(fused[#l{0}, #l{1}] at callsite(#l{1} at #l{0})))",
)
SCOPE: Final = "#cuda_tile.di_lexical_block<scope = #s{0}, file = #file, line = 4, column = 2>"
SCOPED: Final = 'loc(#cuda_tile.di_loc<loc("f.py":{0}:1) in #s{0}>)'
ATTRIBUTES: Final = (
    ("[1, 2]", "[#a{0}, #a{1}]"),
    ("{a = 1}", "{{a = #a{0}, b = #a{1}}}"),
    ("{a = 1}", "{{a = #a{0}, b = #a{1}}}"),
    ("[i32, i64]", "[#a{0}, [#a{1}, {{x = #a{0}}}]]"),
)
TYPES: Final = (
    ("i32", "tuple<!t{0}, !t{1}>"),
    ("i32", "(!t{0}) -> !t{1}"),
    ("i32", "!llvm.struct<(!t{0}, !t{1})>"),
    ("i32", "!llvm.struct<(array<2 x !t{0}>, array<3 x !t{1}>)>"),
    ("!cuda_tile.tile<4xi32>", "tuple<!t{0}, !cuda_tile.tile<2x2xf32>, !t{1}>"),
)
FORMATS: Final = (
    "%d", "%i", "%u", "%x", "%5.2f", "%e", "%g", "%a", "%c", "%s", "%p", "%n", "%lld", "%hhd",
    "%99999999d", "%.99999999f", "%4095d", "%4096d", "%*d", "%.*f", "%-+ #0d", "%1$d", "%%", "%",
    "% ", "%ll", "\\00", "\\0A", "text", "é",
)  # fmt: skip
INTEGERS: Final = ("%d", "n = %i, ", "%5u", "%-8x ", "%4095d", "%.3d")


def random_chain(rng: random.Random) -> str:
    """A program with one or two kinds of chains, and a print at the end of them."""
    makers: tuple[Callable[[random.Random], tuple[str, str]], ...] = (
        locations, scopes, attributes, types,
    )  # fmt: skip
    chosen = rng.sample(makers, rng.choice((1, 1, 2)), counts=(3, 2, 2, 1))
    chains = [maker(rng) for maker in dict.fromkeys(chosen)]
    at_end = next((use for _, use in chains if use.startswith("loc")), "")
    hints = next((use for _, use in chains if use.startswith("optimization_hints")), "")
    others = [use for _, use in chains if "x.y" in use]
    head = HEAD + "".join(definitions for definitions, _ in chains)
    return head + "\n".join([body(at_end, hints, rng), *others])


def previous(at: int, rng: random.Random) -> tuple[int, int]:
    """The earlier aliases that a link refers to."""
    last = at - 1
    return last, rng.choice((last, last, last, rng.randrange(at)))


def locations(rng: random.Random) -> tuple[str, str]:
    """A chain of locations."""
    length, links = rng.choice(LENGTHS), rng.sample(LOCATIONS, rng.choice((1, 1, 3)))
    lines = [f"#l0 = {rng.choice(LEAVES)}"]
    for at in range(1, length + 1):
        lines.append(f"#l{at} = {rng.choice(links).format(*previous(at, rng))}")
    return "\n".join(lines) + "\n", f"loc(#l{length})"


def scopes(rng: random.Random) -> tuple[str, str]:
    """A chain of lexical blocks."""
    length = rng.choice(LENGTHS)
    lines = [f"#s{at} = {SCOPE.format(at - 1)}" for at in range(1, length + 1)]
    return "\n".join(lines) + "\n", SCOPED.format(length)


def attributes(rng: random.Random) -> tuple[str, str]:
    """A chain of attributes."""
    uses = ('"x.y"() {{a = {0}}} : () -> ()', "optimization_hints=<default = {0}> ")
    return _aliases(rng, "#a", rng.choice(ATTRIBUTES), rng.choice(uses))


def types(rng: random.Random) -> tuple[str, str]:
    """A chain of types."""
    return _aliases(rng, "!t", rng.choice(TYPES), '%y = "x.y"() : () -> {0}')


def _aliases(rng: random.Random, sigil: str, links: tuple[str, str], use: str) -> tuple[str, str]:
    length = rng.choice(LENGTHS)
    lines = [f"{sigil}0 = {links[0]}"]
    for at in range(1, length + 1):
        lines.append(f"{sigil}{at} = {links[1].format(*previous(at, rng))}")
    return "\n".join(lines) + "\n", use.format(f"{sigil}{length}")


def body(at_end: str, hints: str, rng: random.Random) -> str:
    """A kernel with a print, at a location."""
    lines = (
        f"entry @k(%n: tile<i32>) {hints}{{",
        f"  %x = addi %n, %n : tile<i32> {at_end}",
        f"  %t = print_tko {printed(rng)} -> token {at_end}",
        f"  return {at_end}",
        # A call site is no location of a function.
        f"}} {rng.choice((at_end, FUNCTION, FUNCTION, FUNCTION, ''))}",
    )
    return "\n".join(lines)


def printed(rng: random.Random) -> str:
    """A format and the values of a print; more often than not they fit."""
    if rng.random() < 0.4:
        text = "".join(rng.choices(FORMATS, k=rng.choice((1, 1, 2, 5))))
        count = rng.randrange(3)
    else:
        count = rng.randrange(4)
        text = "".join(rng.choices(INTEGERS, k=count)) + rng.choice(("", "%%", "\\0A"))
    if not count:
        return f'"{text}"'
    return f'"{text}", {", ".join(["%n"] * count)} : {", ".join(["tile<i32>"] * count)}'


def chain_texts(count: int) -> list[str]:
    """Programs with chains, the same for each count; some of them are invalid."""
    rng = random.Random(count)
    return [random_chain(rng) for _ in range(count)]


def chain_bytecode(texts: list[str], version: tuple[int, int]) -> Iterator[bytes]:
    """The bytecode of those texts that are valid programs of Tile IR."""
    for text in texts:
        try:
            module = read_unverified(text, "seed")
            verify(module)
            yield write_bytecode(module, version)
        except Error:
            continue
