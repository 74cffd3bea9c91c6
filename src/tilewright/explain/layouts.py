"""The layouts of a function, with the names that the text of the level gives them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import LayoutAttr, maybe_layout_of
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, ProducerCopyOp
from tilewright.dialects.nv_tileas.types import pipeline, register_bytes
from tilewright.explain.figures import counted
from tilewright.explain.report import Layout
from tilewright.ir.types import TensorType
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP
from tilewright.layout.swizzle import SPANS, row_major, swizzled
from tilewright.text.attribute_printer import AttributePrinter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.layout import linear

MATRIX_RANK: Final = 2
_ALIAS: Final = re.compile(r"^(#\w+) = #nv_tileas\.layout(<.*>)$")


def alias_names(lines: Sequence[str]) -> dict[str, str]:
    """The aliases of layouts in the text of a level, by what they stand for."""
    matches = [match for match in map(_ALIAS.match, lines) if match]
    return {match[2]: match[1] for match in matches}


def layouts_of(function: FuncOp, aliases: dict[str, str], positions: Positions) -> list[Layout]:
    """Every layout of the tiles of a function, of the first tile that has it.

    Banks of shared memory depend on the size of an element: there, each size has a row.
    """
    types: dict[tuple[linear.Layout, int], TensorType] = {}
    users: dict[tuple[linear.Layout, int], dict[int, None]] = {}
    for op in function.walk():
        for type in _tiles(op):
            layout = maybe_layout_of(type)
            if layout is not None:
                is_shared = layout.names == (OFFSET,)
                key = layout, register_bytes(element_of(type)) if is_shared else 0
                types.setdefault(key, type)
                users.setdefault(key, {}).update(dict.fromkeys(positions.of(op.location)))
    return [_layout(key[0], type, aliases, sorted(users[key])) for key, type in types.items()]


def _tiles(op: Operation) -> Iterator[TensorType]:
    types: list[Type] = [result.type for result in op.results]
    if isinstance(op, CreatePipelineOp):
        types += pipeline(op.result).elements
    elif isinstance(op, ProducerCopyOp) and op.tile is not None:
        types.append(op.tile)
    return (type for type in types if isinstance(type, TensorType))


def _layout(
    layout: linear.Layout, type: TensorType, aliases: dict[str, str], positions: list[int]
) -> Layout:
    element = element_of(type)
    bytes = register_bytes(element)
    is_shared = layout.names == (OFFSET,)
    text = LayoutAttr(layout).print(AttributePrinter())
    return Layout(
        aliases.get(text, "#layout"),
        layout.shape,
        str(element),
        bytes,
        "shared" if is_shared else "registers",
        layout.inputs,
        _placement(layout, bytes) if is_shared else _ownership(layout),
        positions,
    )


def _placement(layout: linear.Layout, bytes: int) -> str:
    """Whether a tile in shared memory is row-major, column-major or swizzled."""
    if layout == row_major(layout.shape):
        return "row-major"
    if len(layout.shape) != MATRIX_RANK:
        return "permuted"
    flipped = layout.shape[::-1]
    orders = ((layout, layout.shape, "rows"), (layout.permute((1, 0)), flipped, "columns"))
    for ordered, shape, name in orders:
        for span in SPANS:
            if span >= bytes and ordered == swizzled(shape, bytes, span):
                kind = f"swizzled by {span} bytes" if span > SPANS[-1] else "in chunks of 16 bytes"
                return f"{kind}, {name} contiguous"
        if ordered == row_major(shape):
            return f"{name} contiguous"
    return "permuted"


def _ownership(layout: linear.Layout) -> str:
    """How a tile is distributed over registers, lanes and warps."""
    parts = [counted(layout.extent(name), name) for name in (REGISTER, LANE, WARP)]
    run = 1
    for vector in layout.vectors(REGISTER):
        if vector != run:
            break
        run *= 2
    text = f"{' x '.join(parts)}; {run} consecutive a thread"
    replicas = layout.replicas()
    copies = 1 << sum(mask.bit_count() for mask in replicas.values())
    return f"{text}; each element {copies} times" if copies > 1 else text
