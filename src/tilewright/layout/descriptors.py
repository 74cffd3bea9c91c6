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
    """The fields of a matrix descriptor, without the start address."""

    span: int
    leading: int
    """Bytes: see `_expected`."""
    stride: int
    across: bool
    """Whether the operand is M- or N-major instead of K-major: the transposed form."""


def describe(memory: Layout, element: int) -> Descriptor:
    """The descriptor of an operand, rows (M or N) by K, in that memory; or a `Refusal`.

    >>> from tilewright.layout.swizzle import swizzled
    >>> describe(swizzled((64, 64), element=2, span=128), element=2)
    Descriptor(span=128, leading=16, stride=1024, across=False)
    """
    rows, k = memory.shape
    if k * element < WGMMA_K_BYTES:
        message = f"expected at least {WGMMA_K_BYTES} bytes of k, got {k * element}"
        raise Refusal(message)
    if rows < GROUP:
        message = f"expected at least {GROUP} rows, got {rows}"
        raise Refusal(message)
    offsets = memory.inverse().vectors("element")
    for across in (False, True):
        for span in SPANS:
            descriptor = _fit(memory, offsets, element, span, across=across)
            if descriptor is not None:
                return descriptor
    message = f"expected memory in core matrices, swizzled or not, got {memory}"
    raise Refusal(message)


def _fit(
    memory: Layout, offsets: tuple[int, ...], element: int, span: int, *, across: bool
) -> Descriptor | None:
    """The strides under which every bit of a coordinate lies where the instruction looks."""

    def offset(row: int, column: int) -> int:
        vector = pack((row, column), memory.shape)
        return swizzle(offsets[log2(vector)] * element, span)

    rows, _ = memory.shape
    k = WGMMA_K_BYTES // element
    far: dict[str, int] = {}
    for row, column, expected in _expected(rows, k, element, span, across=across):
        actual = offset(row, column)
        if isinstance(expected, int):
            if actual != expected:
                return None
            continue
        name, times = expected
        if actual % (CHUNK * times) or far.setdefault(name, actual // times) * times != actual:
            return None
    return Descriptor(span, far.get("leading", CHUNK), far.get("stride", CHUNK), across)


def _expected(
    rows: int, k: int, element: int, span: int, *, across: bool
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
        for bit in range(log2(k)):
            byte = element << bit
            yield 0, 1 << bit, ("leading", 1) if plain and byte >= CHUNK else byte
        return
    for bit in range(log2(rows)):
        byte = element << bit
        beyond = ("stride" if plain else "leading", byte // span)
        yield 1 << bit, 0, byte if byte < span else beyond
    for bit in range(log2(k)):
        column = 1 << bit
        beyond = ("leading" if plain else "stride", column // GROUP)
        yield 0, column, column * span if column < GROUP else beyond
