"""Cases of views, against a walk over every element of a tile that computes its coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from op_cases.core import Shape
from op_cases.kernel import Case, Kernel, stored, tile
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

KINDS = ("partition_view", "strided_view", "gather_scatter_view")


class Layout:
    """A tensor, a view of it, and the index of one tile, made at random."""

    def __init__(self, kind: str, element: Type, rng: np.random.Generator, rank: int = 2) -> None:
        self.kind = kind
        self.element = element
        self.rank = rank
        self.tile_shape = tuple(int(2 ** rng.integers(0, 3)) for _ in range(rank))
        if element is F4E2M1FN:  # lies in pairs along the last dimension
            self.tile_shape = (*self.tile_shape[:-1], 4)
        self.dim_map = tuple(int(dim) for dim in rng.permutation(rank))
        if kind == "gather_scatter_view" or element is F4E2M1FN:
            self.dim_map = tuple(range(rank))
        self.sparse_dim = int(rng.integers(0, rank - (element is F4E2M1FN and rank > 1)))
        self.steps = tuple(int(rng.integers(1, 6)) for _ in range(rank))
        if element is F4E2M1FN:
            self.steps = (*self.steps[:-1], 2)
        # Not a multiple of the tile: some elements of the last tiles lie outside.
        self.shape = tuple(int(rng.integers(3, 12)) for _ in range(rank))
        if element is F4E2M1FN:
            self.shape = (*self.shape[:-1], 10)
        self.strides = self._random_strides(rng)
        self.index = self._random_index(rng)

    def _random_strides(self, rng: np.random.Generator) -> Shape:
        """Strides in a random order of dimensions, with gaps."""
        order = list(rng.permutation(self.rank))
        if self.element is F4E2M1FN:
            order = [*(dim for dim in order if dim != self.rank - 1), self.rank - 1]
        strides, size = [0] * self.rank, 1
        for dim in reversed(order):
            strides[dim] = size
            size *= self.shape[dim] + 2 * int(rng.integers(0, 2))
        return tuple(strides)

    @property
    def starts(self) -> Shape:
        """How far apart tiles are along each dimension of a tile."""
        if self.kind == "strided_view":
            return self.steps
        return self.tile_shape if self.kind == "partition_view" else (1,) * self.rank

    @property
    def index_space(self) -> Shape:
        """How many tiles there are along each dimension of a tile."""
        steps = self.tile_shape if self.kind == "gather_scatter_view" else self.starts
        pairs = zip(self.dim_map, steps, strict=True)
        return tuple(-(-self.shape[dim] // step) for dim, step in pairs)

    def _random_index(self, rng: np.random.Generator) -> list[Any]:
        index: list[Any] = [int(rng.integers(0, extent)) for extent in self.index_space]
        if self.kind != "gather_scatter_view":
            return index
        for dim, extent in enumerate(self.tile_shape):
            if dim == self.sparse_dim:  # rows that differ; the last may not exist
                index[dim] = rng.permutation(self.shape[dim] + 1)[:extent]
                index[dim] = np.resize(index[dim], extent)
            else:
                index[dim] = int(rng.integers(0, self.shape[dim]))
        return index

    @property
    def size(self) -> int:
        """How many elements of memory the tensor covers."""
        reach = zip(self.shape, self.strides, strict=True)
        return 1 + sum((extent - 1) * stride for extent, stride in reach)

    def place(self, position: Shape) -> int | None:
        """Where in memory an element of the tile is, if it is in the tensor."""
        address = 0
        for dim, (offset, target) in enumerate(zip(position, self.dim_map, strict=True)):
            index = self.index[dim]
            if self.kind == "gather_scatter_view" and dim == self.sparse_dim:
                coordinate = int(index[offset])
            else:
                coordinate = index * self.starts[dim] + offset
            if not 0 <= coordinate < self.shape[target]:
                return None
            address += coordinate * self.strides[target]
        return address

    def places(self) -> Iterator[tuple[Shape, int | None]]:
        """All elements of the tile, and where they are."""
        for position in product(*map(range, self.tile_shape)):
            yield position, self.place(position)

    @property
    def repeats(self) -> bool:
        """Whether the tile names an element of memory twice."""
        found = [place for _, place in self.places() if place is not None]
        return len(set(found)) < len(found)

    def tensor_type(self, dynamic: bool = False) -> str:
        """The text of the tensor's type; what is dynamic is left open."""
        extents = "x".join("?" if dynamic else str(extent) for extent in self.shape)
        strides = ",".join("?" if dynamic else str(stride) for stride in self.strides)
        return f"tensor_view<{extents}x{self.element}, strides=[{strides}]>"

    def view_type(self, padding: PaddingValue | None, tensor: str) -> str:
        """The text of the view's type."""
        head = f"tile=({'x'.join(map(str, self.tile_shape))})"
        if self.kind == "strided_view":
            head += f", traversal_strides=[{','.join(map(str, self.steps))}]"
        if padding is not None:
            head += f", padding_value = {padding.keyword}"
        tail = f", dim_map=[{', '.join(map(str, self.dim_map))}]"
        if self.kind == "gather_scatter_view":
            tail = f", sparse_dim={self.sparse_dim}"
        elif self.dim_map == tuple(range(self.rank)):
            tail = ""
        return f"{self.kind}<{head}, {tensor}{tail}>"

    def write_tensor(
        self, kernel: Kernel, memory: Array, dynamic: IntegerType | None = None
    ) -> str:
        """Write the tensor into a kernel; a type for dynamic extents makes all of them such."""
        base = kernel.pointer(memory, self.element)
        extents, strides = map(str, self.shape), map(str, self.strides)
        start = ""
        if dynamic is not None:
            extents, strides = (
                [kernel.load(np.array(n).astype(_dtype(dynamic)), dynamic) for n in numbers]
                for numbers in (self.shape, self.strides)
            )
            start = f"tile<{dynamic}> -> "
        lists = f"shape = [{', '.join(extents)}], strides = [{', '.join(strides)}]"
        type = self.tensor_type(dynamic is not None)
        return kernel.emit(f"make_tensor_view {base}, {lists} : {start}{type}")

    def write_view(
        self, kernel: Kernel, memory: Array, padding: PaddingValue | None,
        dynamic: IntegerType | None = None,
    ) -> tuple[str, str]:  # fmt: skip
        """Write the view into a kernel; gives its name and type."""
        tensor = self.write_tensor(kernel, memory, dynamic)
        type = self.view_type(padding, self.tensor_type(dynamic is not None))
        return kernel.emit(f"make_{self.kind} {tensor} : {type}"), type

    def write_index(self, kernel: Kernel, element: IntegerType) -> tuple[str, str]:
        """Write the index into a kernel; gives the names and the types."""
        names = ", ".join(
            kernel.load(np.array(index).astype(_dtype(element)), element) for index in self.index
        )
        types = [tile(np.array(index).shape, element) for index in self.index]
        return names, ", ".join(types) if self.kind == "gather_scatter_view" else types[0]

    def fits(self, element: IntegerType) -> bool:
        """Whether indices of a type can hold these."""
        return all(int(np.max(index)) < 1 << element.width for index in self.index)


def _dtype(element: IntegerType) -> Any:
    return np.bool_ if element is I1 else np.dtype(f"i{element.width // 8}")


def layouts(
    effort: Effort, kind: str, element: Type, *about: object, index: IntegerType = I32,
    unique: bool = False, rank: int = 2,
) -> Layout:  # fmt: skip
    """The first random layout that an access may have."""
    rng = effort.rng("layout", kind, element, *about)
    while True:
        layout = Layout(kind, element, rng, rank)
        if layout.fits(index) and not (unique and layout.repeats):
            return layout


PADDINGS = (None, *PaddingValue)


def padding_element(padding: PaddingValue, element: Type) -> Array:
    """What lies around a tensor; types without infinity or NaN have no rule for it."""
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


def _load(
    effort: Effort, kind: str, element: Type, padding: PaddingValue | None, *about: object,
    ordering: str = "weak", index: IntegerType = I32, dynamic: IntegerType | None = None,
    inbounds: bool = False, rank: int = 2, token: bool = False,
) -> Case:  # fmt: skip
    layout = layouts(effort, kind, element, padding, *about, index=index, rank=rank)
    while inbounds and any(place is None for _, place in layout.places()):
        about = (*about, "again")
        layout = layouts(effort, kind, element, padding, *about, index=index, rank=rank)
    rng = effort.rng("load_view_tko", kind, element, padding, *about)
    memory = some_tile(element, (layout.size + layout.size % 2,), rng)
    kernel = Kernel("load_view_tko")
    view, type = layout.write_view(kernel, stored(memory, element), padding, dynamic)
    names, types = layout.write_index(kernel, index)
    promise = f" inbounds = [{', '.join(['true'] * rank)}]" if inbounds else ""
    before = f" token = {kernel.emit('make_token : token')}" if token else ""
    result = tile(layout.tile_shape, element)
    kernel.add(
        f"%found, %done = load_view_tko {ordering} {view}[{names}]{before}{promise} : "
        f"{type}, {types} -> {result}, token"
    )
    if padding is None or not has_padding(padding, element):
        return _checked_inside(kernel, layout, memory, "%found")
    expected = np.empty(layout.tile_shape, memory.dtype)
    for position, place in layout.places():
        filler = padding_element(padding, element)[0]
        expected[position] = filler if place is None else memory[place]
    kernel.store("%found", expected, element)
    return kernel.case()


def _checked_inside(kernel: Kernel, layout: Layout, memory: Array, value: str) -> Case:
    """What lies outside may be anything: store the tile back through the same kind of view."""
    before = some_tile(layout.element, memory.shape, np.random.default_rng(1))
    target = stored(before, layout.element)
    view, type = layout.write_view(kernel, target, None)
    names, types = layout.write_index(kernel, I32)
    tile_type = tile(layout.tile_shape, layout.element)
    kernel.emit(
        f"store_view_tko weak {value}, {view}[{names}] : {tile_type}, {type}, {types} -> token"
    )
    expected = before.copy()
    for _, place in layout.places():
        if place is not None:
            expected[place] = memory[place]
    kernel.expect(target, layout.element, expected)
    return kernel.case()


def _store(
    effort: Effort, kind: str, element: Type, *about: object, ordering: str = "weak",
    index: IntegerType = I32, dynamic: IntegerType | None = None, rank: int = 2,
    token: bool = False, padding: PaddingValue | None = None, inbounds: bool = False,
) -> Case:  # fmt: skip
    layout = layouts(effort, kind, element, *about, index=index, unique=True, rank=rank)
    while inbounds and any(place is None for _, place in layout.places()):
        about = (*about, "again")
        layout = layouts(effort, kind, element, *about, index=index, unique=True, rank=rank)
    rng = effort.rng("store_view_tko", kind, element, *about)
    before = some_tile(element, (layout.size + layout.size % 2,), rng)
    memory, values = stored(before, element), some_tile(element, layout.tile_shape, rng)
    kernel = Kernel("store_view_tko")
    value = kernel.load(values, element)
    view, type = layout.write_view(kernel, memory, padding, dynamic)
    names, types = layout.write_index(kernel, index)
    tile_type = tile(layout.tile_shape, element)
    promise = f" inbounds = [{', '.join(['true'] * rank)}]" if inbounds else ""
    end = f" token = {kernel.emit('make_token : token')}" if token else ""
    kernel.emit(
        f"store_view_tko {ordering} {value}, {view}[{names}]{end}{promise} : "
        f"{tile_type}, {type}, {types} -> token"
    )
    expected = before.copy()
    for position, place in layout.places():
        if place is not None:
            expected[place] = values[position]
    kernel.expect(memory, element, expected)
    return kernel.case()


def _variants(element: Type, orderings: Sequence[str]) -> Iterator[dict[str, Any]]:
    """All orderings; on the way, all paddings, types of indices, tokens and promises."""
    paddings = PADDINGS if isinstance(element, FloatType) else PADDINGS[:2]
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
            for variant in _variants(element, LOADS):
                yield _load(effort, kind, element, variant.pop("padding"), variant, **variant)
        for rank, dynamic in product((1, 2, 3), (None, *INTEGERS[1:])):
            for turn in range(2):
                about = rank, dynamic, turn
                yield _load(effort, kind, F32, PaddingValue.NAN, *about, dynamic=dynamic, rank=rank)


def stores(effort: Effort) -> Iterator[Case]:
    """`store_view_tko`."""
    for kind in KINDS:
        for element in NUMBERS:
            for variant in _variants(element, STORES):
                yield _store(effort, kind, element, variant, **variant)
        for rank, dynamic in product((1, 2, 3), (None, *INTEGERS[1:])):
            for turn in range(2):
                about = rank, dynamic, turn
                yield _store(effort, kind, F32, *about, dynamic=dynamic, rank=rank)


def constructors(effort: Effort) -> Iterator[Case]:
    """Tensors and views of every element type, static and dynamic, used by a load."""
    for element in NUMBERS:
        for dynamic in (None, *INTEGERS[1:]):
            yield _renamed("make_tensor_view", _load(
                effort, "partition_view", element, PaddingValue.ZERO, "make", dynamic=dynamic
            ))  # fmt: skip
        yield _renamed("make_tensor_view", _boolean_extents(element))
        for kind in KINDS:
            for padding in PADDINGS if isinstance(element, FloatType) else PADDINGS[:2]:
                case = _load(effort, kind, element, padding, "make")
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
        f"%found, %t = load_view_tko weak {view}[{kernel.zero()}] : {type}, tile<i32> -> {result}"
    )
    expected = memory.copy()
    expected[1] = padding_element(PaddingValue.ZERO, element)[0]
    kernel.store("%found", expected, element)
    return kernel.case()


def _renamed(op: str, case: Case) -> Case:
    case.op = op
    return case


def extents(effort: Effort) -> Iterator[Case]:
    """The extents of tensors and of index spaces, in every integer type."""
    for element in NUMBERS:
        for integer in INTEGERS:
            yield _extents(effort, "get_tensor_shape", "partition_view", element, integer, None)
            for kind in KINDS[:2]:
                yield _extents(effort, "get_index_space_shape", kind, element, integer, I8)
            yield _extents(effort, "get_index_space_shape", KINDS[2], element, integer, None)


def _extents(
    effort: Effort, name: str, kind: str, element: Type, result: IntegerType,
    dynamic: IntegerType | None,
) -> Case:  # fmt: skip
    layout = layouts(effort, kind, element, name, result)
    kernel = Kernel(name)
    memory = stored(some_tile(element, (layout.size + 1,), np.random.default_rng(2)), element)
    if name == "get_tensor_shape":
        source = layout.write_tensor(kernel, memory, dynamic)
        type, expected = layout.tensor_type(dynamic is not None), layout.shape
    else:
        source, type = layout.write_view(kernel, memory, None, dynamic)
        expected = layout.index_space
    kernel.add(f"%x, %y = {name} {source} : {type} -> tile<{result}>")
    for value, extent in zip(("%x", "%y"), expected, strict=True):
        kernel.store(value, from_integers([extent], result).reshape(()), result)
    return kernel.case()


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (loads, stores, constructors, extents):
        yield from group(effort)
