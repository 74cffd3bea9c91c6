"""wgmma descriptors, recognised from a memory layout: the strides that the instruction assumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.layout.linear import log2, pack
from tilewright.layout.swizzle import CHUNK, SPANS, swizzle
from tilewright.target.tensor_cores import WGMMA_K_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.layout.linear import Layout

GROUP: Final = 8
"""Rows of a core matrix."""


class Refusal(ValueError):
    """Why a memory layout cannot be an operand of wgmma."""


class Descriptor(NamedTuple):
    """What a descriptor says besides where the matrix begins."""

    span: int
    leading: int
    """Bytes: see `_expected`."""
    stride: int
    across: bool
    """Whether rows (M or N) lie side by side in memory, and not K: the transposed form."""


def describe(memory: Layout, element: int) -> Descriptor:
    """The descriptor of an operand, rows (M or N) by K, in that memory; or a `Refusal`.

    >>> from tilewright.layout.swizzle import swizzled
    >>> describe(swizzled((64, 64), element=2, span=128), element=2)
    Descriptor(span=128, leading=16, stride=1024, across=False)
    """
    rows, depth = memory.shape
    if depth * element < WGMMA_K_BYTES:
        message = f"expected at least {WGMMA_K_BYTES} bytes of k, got {depth * element}"
        raise Refusal(message)
    if rows < GROUP:
        message = f"expected at least {GROUP} rows, got {rows}"
        raise Refusal(message)
    places = memory.inverse().vectors("element")
    for across in (False, True):
        for span in SPANS:
            found = _fit(memory, places, element, span, across=across)
            if found is not None:
                return found
    message = f"expected memory in core matrices, swizzled or not, got {memory}"
    raise Refusal(message)


def _fit(
    memory: Layout, places: tuple[int, ...], element: int, span: int, *, across: bool
) -> Descriptor | None:
    """The strides under which every bit of a coordinate lies where the instruction looks."""

    def offset(row: int, column: int) -> int:
        vector = pack((row, column), memory.shape)
        return swizzle(places[log2(vector)] * element, span)

    rows, _ = memory.shape
    depth = WGMMA_K_BYTES // element
    far: dict[str, int] = {}
    for row, column, place in _expected(rows, depth, element, span, across=across):
        actual = offset(row, column)
        if isinstance(place, int):
            if actual != place:
                return None
            continue
        name, times = place
        if actual % (CHUNK * times) or far.setdefault(name, actual // times) * times != actual:
            return None
    return Descriptor(span, far.get("leading", CHUNK), far.get("stride", CHUNK), across)


def _expected(
    rows: int, depth: int, element: int, span: int, *, across: bool
) -> Iterator[tuple[int, int, int | tuple[str, int]]]:
    """For each bit of row and column, its byte offset, or a stride and how often it is taken.

    Along K: rows of a group of 8 lie `span` bytes apart, groups a `stride`; without a swizzle
    the second chunk of K lies a `leading` away. Across: K's groups of 8 lie a `stride` apart and
    boxes of `span` bytes of rows a `leading`; without a swizzle it is the other way round.
    """
    plain = span == CHUNK
    if not across:
        for bit in range(log2(rows)):
            row = 1 << bit
            yield row, 0, row * span if row < GROUP else ("stride", row // GROUP)
        for bit in range(log2(depth)):
            byte = element << bit
            yield 0, 1 << bit, ("leading", 1) if plain and byte >= CHUNK else byte
        return
    for bit in range(log2(rows)):
        byte = element << bit
        beyond = ("stride" if plain else "leading", byte // span)
        yield 1 << bit, 0, byte if byte < span else beyond
    for bit in range(log2(depth)):
        k = 1 << bit
        beyond = ("leading" if plain else "stride", k // GROUP)
        yield 0, k, k * span if k < GROUP else beyond
