"""Cases of views, against a walk over every element of a tile that computes its coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from op_cases.kernel import Case, Kernel, deferred, stored, tile
from op_cases.layout import KINDS, Layout, layouts
from op_cases.memory import LOADS, STORES
from op_cases.numbers import elements, from_integers, ruler
from op_cases.values import INTEGERS, NUMBERS, Effort, some_tile
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    F4E2M1FN,
    F8E4M3FN,
    F8E8M0FNU,
    F32,
    FNV8E5M3FNU,
    I1,
    I8,
    I32,
    FloatType,
    IntegerType,
)
from tilewright.reference.tile import Array

PADDINGS = (None, *PaddingValue)


def padding_element(padding: PaddingValue, element: Type) -> Array:
    """The padding elements; undefined for types without infinity or NaN."""
    if not isinstance(element, FloatType):
        assert isinstance(element, IntegerType)
        return from_integers([0], element)
    last = ruler(element).last
    sign = 1 << (element.width - 1) if ruler(element).signed else 0
    pattern = {
        PaddingValue.ZERO: 0,
        PaddingValue.NEG_ZERO: sign,
        PaddingValue.NAN: last + 1 + (element not in (F8E4M3FN, F8E8M0FNU, FNV8E5M3FNU)),
        PaddingValue.POS_INF: last + 1,
        PaddingValue.NEG_INF: sign | (last + 1),
    }[padding]
    return elements([pattern], element)


def has_padding(padding: PaddingValue | None, element: Type) -> bool:
    """Whether a type has such an element."""
    if padding is None or padding is PaddingValue.ZERO:
        return True
    if not isinstance(element, FloatType):
        return False
    infinite = padding in (PaddingValue.POS_INF, PaddingValue.NEG_INF)
    if infinite and element in (F8E4M3FN, F8E8M0FNU, FNV8E5M3FNU):
        return False
    return element is not F4E2M1FN or padding is PaddingValue.NEG_ZERO


@deferred
def load_case(
    effort: Effort, kind: str, element: Type, padding: PaddingValue | None, *about: object,
    ordering: str = "weak", index: IntegerType = I32, dynamic: IntegerType | None = None,
    inbounds: bool = False, rank: int = 2, token: bool = False,
    op: str = "load_view_tko", reduction: str = "",
) -> Case:  # fmt: skip
    """Load a tile, and compare it with a walk over its elements."""
    layout = layouts(effort, kind, element, padding, *about, index=index, rank=rank)
    while inbounds and any(offset is None for _, offset in layout.offsets()):
        about = (*about, "again")
        layout = layouts(effort, kind, element, padding, *about, index=index, rank=rank)
    rng = effort.rng(op, kind, element, padding, *about)
    memory = some_tile(element, (layout.size + layout.size % 2,), rng)
    kernel = Kernel(op)
    view, type = layout.write_view(kernel, stored(memory, element), padding, dynamic)
    names, types = layout.write_index(kernel, index)
    flags = f" inbounds = [{', '.join(['true'] * rank)}]" if inbounds else ""
    before = f" token = {kernel.emit('make_token : token')}" if token else ""
    result = tile(layout.tile_shape, element)
    kernel.add(
        f"%tile, %done = {op} {ordering} {view}[{names}]{reduction}{before}{flags} : "
        f"{type}, {types} -> {result}, token"
    )
    if padding is None or not has_padding(padding, element):
        return _checked_inside(kernel, layout, memory, "%tile")
    expected = np.empty(layout.tile_shape, memory.dtype)
    for position, offset in layout.offsets():
        filler = padding_element(padding, element)[0]
        expected[position] = filler if offset is None else memory[offset]
    kernel.store("%tile", expected, element)
    return kernel.case()


def _checked_inside(kernel: Kernel, layout: Layout, memory: Array, value: str) -> Case:
    """Elements out of bounds are unspecified: store the tile back through the same kind of view."""
    before = some_tile(layout.element, memory.shape, np.random.default_rng(1))
    target = stored(before, layout.element)
    view, type = layout.write_view(kernel, target, None)
    names, types = layout.write_index(kernel, I32)
    tile_type = tile(layout.tile_shape, layout.element)
    kernel.emit(
        f"store_view_tko weak {value}, {view}[{names}] : {tile_type}, {type}, {types} -> token"
    )
    expected = before.copy()
    for _, offset in layout.offsets():
        if offset is not None:
            expected[offset] = memory[offset]
    kernel.expect(target, layout.element, expected)
    return kernel.case()


@deferred
def store_case(
    effort: Effort, kind: str, element: Type, *about: object, ordering: str = "weak",
    index: IntegerType = I32, dynamic: IntegerType | None = None, rank: int = 2,
    token: bool = False, padding: PaddingValue | None = None, inbounds: bool = False,
    op: str = "store_view_tko",
) -> Case:  # fmt: skip
    """Store a tile, and compare memory with a walk over its elements."""
    layout = layouts(effort, kind, element, *about, index=index, unique=True, rank=rank)
    while inbounds and any(offset is None for _, offset in layout.offsets()):
        about = (*about, "again")
        layout = layouts(effort, kind, element, *about, index=index, unique=True, rank=rank)
    rng = effort.rng(op, kind, element, *about)
    before = some_tile(element, (layout.size + layout.size % 2,), rng)
    memory, values = stored(before, element), some_tile(element, layout.tile_shape, rng)
    kernel = Kernel(op)
    value = kernel.load(values, element)
    view, type = layout.write_view(kernel, memory, padding, dynamic)
    names, types = layout.write_index(kernel, index)
    tile_type = tile(layout.tile_shape, element)
    flags = f" inbounds = [{', '.join(['true'] * rank)}]" if inbounds else ""
    end = f" token = {kernel.emit('make_token : token')}" if token else ""
    kernel.emit(
        f"{op} {ordering} {value}, {view}[{names}]{end}{flags} : "
        f"{tile_type}, {type}, {types} -> token"
    )
    expected = before.copy()
    for position, offset in layout.offsets():
        if offset is not None:
            expected[offset] = values[position]
    kernel.expect(memory, element, expected)
    return kernel.case()


def variants(element: Type, orderings: Sequence[str]) -> Iterator[dict[str, Any]]:
    """All orderings, combined with all paddings, index types, tokens and `inbounds`."""
    paddings = _paddings(element)
    for turn, ordering in enumerate(orderings):
        yield {
            "ordering": ordering,
            "padding": paddings[turn % len(paddings)],
            "index": INTEGERS[turn % len(INTEGERS)],
            "token": turn % 2 == 1,
            "inbounds": turn % 4 == 3,
        }


def loads(effort: Effort) -> Iterator[Case]:
    """`load_view_tko`: elements and padding, orderings, types of indices and extents, ranks."""
    for kind in KINDS:
        for element in NUMBERS:
            for variant in variants(element, LOADS):
                yield load_case(effort, kind, element, variant.pop("padding"), variant, **variant)
        for rank, dynamic in product((1, 2, 3), (None, *INTEGERS[1:])):
            for turn in range(2):
                about = rank, dynamic, turn
                yield load_case(
                    effort, kind, F32, PaddingValue.NAN, *about, dynamic=dynamic, rank=rank
                )


def stores(effort: Effort) -> Iterator[Case]:
    """`store_view_tko`."""
    for kind in KINDS:
        for element in NUMBERS:
            for variant in variants(element, STORES):
                yield store_case(effort, kind, element, variant, **variant)
        for rank, dynamic in product((1, 2, 3), (None, *INTEGERS[1:])):
            for turn in range(2):
                about = rank, dynamic, turn
                yield store_case(effort, kind, F32, *about, dynamic=dynamic, rank=rank)


def constructors(effort: Effort) -> Iterator[Case]:
    """Tensors and views of every element type, static and dynamic, used by a load."""
    for element in NUMBERS:
        for dynamic in (None, *INTEGERS[1:]):
            yield _renamed("make_tensor_view", load_case(
                effort, "partition_view", element, PaddingValue.ZERO, "make", dynamic=dynamic
            ))  # fmt: skip
        yield _renamed("make_tensor_view", _boolean_extents(element))
        for kind in KINDS:
            for padding in _paddings(element):
                case = load_case(effort, kind, element, padding, "make")
                yield _renamed(f"make_{kind}", case)


def _boolean_extents(element: Type) -> Case:
    """Extents of i1 can only be one; the tensor has a single element."""
    kernel = Kernel("make_tensor_view")
    memory = some_tile(element, (2,), np.random.default_rng(3))
    base = kernel.pointer(stored(memory, element), element)
    one = kernel.constant("true", I1)
    tensor = f"tensor_view<?x{element}, strides=[?]>"
    lists = f"shape = [{one}], strides = [{one}]"
    whole = kernel.emit(f"make_tensor_view {base}, {lists} : tile<i1> -> {tensor}")
    type = f"partition_view<tile=(2), padding_value = zero, {tensor}>"
    view = kernel.emit(f"make_partition_view {whole} : {type}")
    result = f"{tile((2,), element)}, token"
    kernel.add(
        f"%tile, %t = load_view_tko weak {view}[{kernel.zero()}] : {type}, tile<i32> -> {result}"
    )
    expected = memory.copy()
    expected[1] = padding_element(PaddingValue.ZERO, element)[0]
    kernel.store("%tile", expected, element)
    return kernel.case()


def _renamed(op: str, case: Case) -> Case:
    case.op = op
    return case


def extents(effort: Effort) -> Iterator[Case]:
    """The extents of tensors and of index spaces, in every integer type."""
    for element in NUMBERS:
        for integer in INTEGERS:
            yield _extents(effort, "get_tensor_shape", "partition_view", element, integer)
        for kind in KINDS:
            for turn, padding in enumerate((_paddings(element) * 3)[:6]):
                integer = INTEGERS[turn % len(INTEGERS)]
                yield _extents(effort, "get_index_space_shape", kind, element, integer, padding)


def _paddings(element: Type) -> tuple[PaddingValue | None, ...]:
    return PADDINGS if isinstance(element, FloatType) else PADDINGS[:2]


@deferred
def _extents(
    effort: Effort, name: str, kind: str, element: Type, result: IntegerType,
    padding: PaddingValue | None = None,
) -> Case:  # fmt: skip
    layout = layouts(effort, kind, element, name, result)
    kernel = Kernel(name)
    dynamic = I8 if kind == "strided_view" else None
    memory = stored(some_tile(element, (layout.size + 1,), np.random.default_rng(2)), element)
    if name == "get_tensor_shape":
        source = layout.write_tensor(kernel, memory, dynamic)
        type, expected = layout.tensor_type(dynamic is not None), layout.shape
    else:
        source, type = layout.write_view(kernel, memory, padding, dynamic)
        expected = layout.index_space
    kernel.add(f"%x, %y = {name} {source} : {type} -> tile<{result}>")
    for value, extent in zip(("%x", "%y"), expected, strict=True):
        kernel.store(value, from_integers([extent], result).reshape(()), result)
    return kernel.case()


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (loads, stores, constructors, extents):
        yield from group(effort)
