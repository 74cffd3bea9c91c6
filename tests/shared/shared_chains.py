"""Programs whose locations, attributes or types double in size with each alias."""

from __future__ import annotations

from typing import Final

SCOPE: Final = (
    '#file = #cuda_tile.di_file<"f.py" in "/src">\n'
    "#unit = #cuda_tile.di_compile_unit<file = #file>\n"
    '#scope = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", '
    "compileUnit = #unit>\n"
    '#l0 = loc(#cuda_tile.di_loc<loc("f.py":1:1) in #scope>)\n'
)
LEAVES: Final = {
    "scoped": SCOPE,
    "file": '#l0 = loc("f.py":1:1)\n',
    "unknown": "#l0 = loc(unknown)\n",
}
LINKS: Final = {
    "call sites": "callsite(#l{0} at #l{0})",
    "fused": "fused[#l{0}, #l{0}]",
    "named": 'fused["x"(#l{0}), #l{0}]',
}
LOCATIONS: Final = [(leaf, link) for leaf in LEAVES for link in LINKS]


def located(length: int, leaf: str = "file", link: str = "call sites", op: str = "addi") -> str:
    """A kernel whose operations are at a location of 2**length leaves."""
    links = "".join(f"#l{i + 1} = loc({LINKS[link].format(i)})\n" for i in range(length))
    return (
        f"{LEAVES[leaf]}{links}entry @k(%n: tile<i32>, %p: tile<ptr<i32>>) {{\n"
        f"  %x = {op} %n, %n : tile<i32> loc(#l{length})\n"
        f"  %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token loc(#l{length})\n"
        f"  return loc(#l{length})\n}} loc(#l0)\n"
    )


ALIASES: Final = {
    "arrays": ("#a0 = [1, 2]\n", "#a{1} = [#a{0}, #a{0}]\n", '"x.y"() {{a = #a{0}}} : () -> ()\n'),
    "dictionaries": (
        "#a0 = {a = 1}\n",
        "#a{1} = {{a = #a{0}, b = #a{0}}}\n",
        '"x.y"() {{a = #a{0}}} : () -> ()\n',
    ),
    "tuples": ("!a0 = i32\n", "!a{1} = tuple<!a{0}, !a{0}>\n", '%x = "x.y"() : () -> !a{0}\n'),
    "functions": ("!a0 = i32\n", "!a{1} = (!a{0}) -> !a{0}\n", '%x = "x.y"() : () -> !a{0}\n'),
    "arrays in structs": (
        "!a0 = i32\n",
        "!a{1} = !llvm.struct<(array<2 x !a{0}>, array<3 x !a{0}>)>\n",
        '%x = "x.y"() : () -> !a{0}\n',
    ),
    "structs": (
        "!a0 = i32\n",
        "!a{1} = !llvm.struct<(!a{0}, !a{0})>\n",
        '%x = "x.y"() : () -> !a{0}\n',
    ),
}


def aliased(length: int, kind: str) -> str:
    """An operation with an attribute or a type of 2**length parts."""
    head, link, use = ALIASES[kind]
    links = "".join(link.format(i, i + 1) for i in range(length))
    return f"{head}{links}{use.format(length)}"
