"""The sizes and indices of the views of `random_pipelines`: small ones, or near 2**31 and 2**32.

No memory has that many rows. A view with tiles that are skipped starts as far before its memory, so
that the tiles that are accessed are in it.
"""

from __future__ import annotations

import random
from typing import Final, NamedTuple

LIMITS: Final = {
    "i32": (1 << 30, 1 << 31, 1 << 31, 1 << 32),
    "i64": (1 << 30, 1 << 31, 1 << 32, 1 << 32, 1 << 33),
}
"""Coordinates near which tiles are accessed, by the type of indices."""
BOUNDS: Final = (1 << 31, 1 << 32, 1 << 40)


class Views(NamedTuple):
    """The type of sizes, strides and indices, the tiles that are skipped, and assumptions."""

    type: str = "i32"
    rows: int = 0
    """Tiles along M before those that exist."""
    k: int = 0
    """Tiles along K."""
    bounds_sizes: bool = True
    """Whether the program assumes upper bounds of sizes, as cuTile does of those of i32."""
    bounds_indices: bool = False

    @property
    def is_large(self) -> bool:
        """Whether coordinates are near a limit."""
        return bool(self.rows or self.k)

    def cast(self, name: str, value: str) -> str:
        """Convert an i32 to the type of indices."""
        kind = "reshape {}" if self.type == "i32" else "exti {} unsigned"
        return f"%{name} = {kind.format(value)} : tile<i32> -> tile<{self.type}>"

    def size(self, name: str, value: str, skipped: int, extent: int) -> str:
        """The size of a view: what is skipped of it, and an extent with an assumption, if any."""
        largest = skipped + extent
        bound = next(each for each in BOUNDS if largest <= each)
        if self.type == "i32":
            bound = None if largest < 1 << 31 else 0
        is_bounded = self.bounds_sizes and bound != 0
        return self._sum(name, value, skipped, bound if is_bounded else 0)

    def tile_index(self, name: str, value: str, skipped: int, largest: int) -> str:
        """The index of a tile: an index of those that exist, of which the largest is known."""
        is_bounded = self.bounds_indices and skipped + largest < 1 << 31
        return self._sum(name, value, skipped, skipped + largest if is_bounded else 0)

    def _sum(self, name: str, value: str, skipped: int, bound: int | None) -> str:
        """Add a number to an i32, and assume a bound; None: only that it is not negative."""
        number = skipped - (1 << 32) if self.type == "i32" and skipped >> 31 else skipped
        type, lines = f"tile<{self.type}>", [self.cast(f"{name}_cast", value)]
        last = f"%{name}_cast"
        if skipped:
            lines.append(f"%{name}_skipped = constant <{self.type}: {number}> : {type}")
            lines.append(f"%{name}_sum = addi {last}, %{name}_skipped : {type}")
            last = f"%{name}_sum"
        if bound != 0:
            assumption = f"bounded<0, {'?' if bound is None else bound}>"
            lines.append(f"%{name}_bounded = assume {assumption}, {last} : {type}")
            last = f"%{name}_bounded"
        return "\n        ".join([*lines, f"%{name} = reshape {last} : {type} -> {type}"])

    def base(self, name: str, value: str, element: str, skipped: list[tuple[int, str]]) -> str:
        """The address that a view starts at, by elements that are skipped and their strides.

        `value` is the address of its memory, after the assumption about that.
        """
        lines: list[str] = []
        type = f"tile<ptr<{element}>>"
        assumption, _, pointer = value.rpartition(" ")
        for number, (count, stride) in enumerate(skipped):
            if not count:
                continue
            step = f"%{name}{number}"
            lines += [
                f"{step}_stride = exti {stride} unsigned : tile<i32> -> tile<i64>",
                f"{step}_count = constant <i64: {-count}> : tile<i64>",
                f"{step}_distance = muli {step}_stride, {step}_count : tile<i64>",
                f"{step} = offset {pointer}, {step}_distance : {type}, tile<i64> -> {type}",
            ]
            pointer = step
        # Tiles have 16 rows and columns at least, so that it is as aligned as the memory.
        return "\n    ".join([*lines, f"%{name} = {assumption} {pointer} : {type}"])


def random_views(
    pick: random.Random, tile: tuple[int, int, int], tiles: int, *, is_large: bool = False
) -> Views:
    """Small views in most programs, unless large ones are wanted; with bounds in most of them."""
    views = Views(bounds_sizes=pick.random() < 0.8, bounds_indices=pick.random() < 0.5)
    if not is_large and pick.random() < 0.65:
        return views
    views = views._replace(type=pick.choice(("i32", "i64")))
    chosen = pick.choice(("rows", "rows", "k", "both"))
    rows, k = (_skipped(pick, views.type, extent, tiles) for extent in (tile[0], tile[2]))
    return views._replace(rows=0 if chosen == "k" else rows, k=0 if chosen == "rows" else k)


def _skipped(pick: random.Random, type: str, extent: int, tiles: int) -> int:
    """How many tiles are skipped, so that a limit is near the first of those that are accessed."""
    limit = pick.choice(LIMITS[type])
    # No extent is above five tiles, and none is to have more than its type.
    fewest = 6 if limit == 1 << 32 and type == "i32" else 0
    return limit // extent - max(pick.randrange(tiles + 2), fewest)
