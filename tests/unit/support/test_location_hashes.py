"""Hashes of locations: none walks the locations inside."""

from __future__ import annotations

from collections.abc import Callable

from each_case import each_case
from work import count_calls

from tilewright.dialects.cuda_tile.debug_info import DICompileUnit, DIFile, DILoc, DISubprogram
from tilewright.support.location import CallSiteLoc, FileLoc, FusedLoc, Location, NameLoc

FILE = DIFile("f.py", "/src")
SCOPE = DISubprogram(FILE, 1, "k", "k", DICompileUnit(FILE))
LINKS: dict[str, Callable[[Location], Location]] = {
    "named": lambda inner: NameLoc("x", inner),
    "call site": lambda inner: CallSiteLoc(inner, inner),
    "fused": lambda inner: FusedLoc((inner,)),
    "scoped": lambda inner: DILoc(inner, SCOPE),
}


def chain(link: str, length: int) -> Location:
    location: Location = FileLoc("f.py", 1, 1)
    for _ in range(length):
        location = LINKS[link](location)
    return location


@each_case("link", LINKS)
def test_a_hash_costs_the_same_for_every_length(link: str) -> None:
    short, long = chain(link, 3), chain(link, 100)
    assert count_calls(lambda: hash(short)) == count_calls(lambda: hash(long))
    assert hash(long) == hash(chain(link, 100))
    assert hash(long) != hash(chain(link, 99))
