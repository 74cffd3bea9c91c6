"""Splits of tiles: along which dimension, into how many parts, and what runs the parts."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Self, cast

from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.ir.attributes import Parametric
from tilewright.ir.tiling import Join, extents_of, tiles_of
from tilewright.ir.traits import Trait
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tilewright.ir.attributes import Attribute
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

SPLIT: Final = "nv_tileaa.split"
"""On an operation that seeds cuts: the `SplitAttr` that the pass `tile` applies."""


class SplitForm(Enum):
    """What runs the parts, in the order in which splits are applied."""

    FIRST = "first"
    """The first part replaces the whole; nothing observes the others."""
    CTA = "cta"
    """The CTAs of a cluster have a part each: bits of their rank select it."""
    LOOP = "loop"
    """A new loop, around the operations that are cut."""
    K_LOOP = "k_loop"
    """The loop around a dot along K, which has an iteration for each part then."""

    @property
    def change(self) -> Change:
        """What a split of this form does to a kernel, which may forbid it."""
        return Change.DISTRIBUTE if self is SplitForm.CTA else Change.REORDER


class Split(NamedTuple):
    """One split of the tiles of an operation, and of all that is connected with them."""

    dim: int
    """A dimension of the result, or of the tile that is written; after them K of a dot."""
    parts: int
    form: SplitForm
    bit: int = 0
    """The first bit of the CTA rank that selects the part."""

    @property
    def problem(self) -> str | None:
        """Why it is invalid, whatever the operation is, or `None`."""
        if self.parts < 2 or not is_power_of_two(self.parts):
            return f"expected a power of two above 1 as the number of parts, found {self.parts}"
        if self.dim < 0 or self.bit < 0:
            return f"expected no negative number, found {min(self.dim, self.bit)}"
        if self.bit and self.form is not SplitForm.CTA:
            return f"expected a bit of the CTA rank with the form cta only, found {self.form.value}"
        return None

    def __str__(self) -> str:
        bit = f", bit = {self.bit}" if self.form is SplitForm.CTA else ""
        return f"<{self.dim}, {self.parts}, {self.form.value}{bit}>"


class SplitAttr(Parametric):
    """`#nv_tileaa.split<[<0, 2, cta, bit = 0>, <2, 4, k_loop>]>`: dimension, parts and form."""

    __slots__ = ("splits",)
    mnemonic = SPLIT

    splits: tuple[Split, ...]

    def __new__(cls, splits: Iterable[Split]) -> Self:
        return cls.unique(tuple(splits))

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (splits,) = cast("tuple[Sequence[Split]]", parameters)
        problems = [problem for each in splits if (problem := each.problem) is not None]
        if problems:
            return problems[0]
        order = [each.value for each in SplitForm]
        ranks = [order.index(each.form.value) for each in splits]
        return None if ranks == sorted(ranks) else f"expected splits in order {', '.join(order)}"

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<[{', '.join(map(str, self.splits))}]>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        at = parser.at
        parser.expect("<")
        splits = parser.listed(lambda: _parse_split(parser), "[", "]")
        parser.expect(">")
        return parser.invalid(cls, splits, at=at)


def _parse_split(parser: Parser) -> Split:
    parser.expect("<")
    dim = parser.integer()
    parser.expect(",")
    parts = parser.integer()
    parser.expect(",")
    at, word, bit = parser.at, parser.keyword(), 0
    forms = {each.value: each for each in SplitForm}
    if word not in forms:
        parser.error(f"expected one of {', '.join(forms)}, found '{word}'", at)
    if parser.accept(","):
        parser.expect("bit")
        parser.expect("=")
        bit = parser.integer()
    parser.expect(">")
    return Split(dim, parts, forms[word], bit)


def splits_of(op: Operation) -> tuple[Split, ...]:
    """The splits that an operation seeds."""
    attribute = op.attributes.get(SPLIT)
    return attribute.splits if isinstance(attribute, SplitAttr) else ()


def set_splits(op: Operation, splits: Sequence[Split]) -> None:
    """Let an operation seed splits, and no others."""
    op.attributes.pop(SPLIT, None)
    if splits:
        op.attributes[SPLIT] = SplitAttr(splits)


def ways_by_dim(op: Operation) -> dict[int, Way]:
    """The ways to cut an operation, by what splits call the dimension."""
    tiles = [*tiles_of(op)]
    tile = next((each for each in tiles if each in op.results), tiles[0] if tiles else None)
    if tile is None:
        return {}
    rank = len(extents_of(tile))
    return {rank if way.join is Join.CHAIN else way.axes[tile]: way for way in op.ways()}


class _SplitSeed(Trait):
    """An operation may have splits, each along a dimension in which it can be cut."""

    __slots__ = ()

    def verify_context(self, op: Operation) -> Iterable[str]:
        attribute = op.attributes.get(SPLIT)
        return () if attribute is None else _split_problems(op, attribute)


SPLIT_SEED: Final = _SplitSeed("split seed")


def _split_problems(op: Operation, attribute: Attribute) -> Iterator[str]:
    if not isinstance(attribute, SplitAttr):
        yield f"expected '{SPLIT}' to be a list of splits, found '{attribute}'"
        return
    ways, parts = ways_by_dim(op), dict[int, int]()
    if not ways:
        yield f"expected no splits: {op.needs_whole}"
        return
    for split in attribute.splits:
        dim, way = split.dim, ways.get(split.dim)
        if way is None:
            expected = ", ".join(map(str, sorted(ways)))
            yield f"expected one of the dimensions {expected} to split, found {dim}"
            continue
        is_along_k = way.join is Join.CHAIN
        if is_along_k != (split.form is SplitForm.K_LOOP):
            expected = "form k_loop" if is_along_k else "another form than k_loop"
            yield f"expected {expected} along dimension {dim}, found {split.form.value}"
        parts[dim] = parts.get(dim, 1) * split.parts
        if not way.allows(parts[dim]):
            extent = min(extents_of(tile)[axis] for tile, axis in way.axes.items()) // way.granule
            yield f"expected at most {extent} parts of dimension {dim}, found {parts[dim]}"
