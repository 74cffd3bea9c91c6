"""Tensors and views at random, and where in memory the elements of one of their tiles lie."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from op_cases.core import Shape
from op_cases.kernel import Kernel, tile
from op_cases.values import Effort
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, I1, I32, IntegerType
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
        """The distance of adjacent tiles along each dimension."""
        if self.kind == "strided_view":
            return self.steps
        return self.tile_shape if self.kind == "partition_view" else (1,) * self.rank

    @property
    def index_space(self) -> Shape:
        """The number of tiles along each dimension."""
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
        """The number of elements of memory that the tensor covers."""
        reach = zip(self.shape, self.strides, strict=True)
        return 1 + sum((extent - 1) * stride for extent, stride in reach)

    def offset(self, position: Shape) -> int | None:
        """The offset in memory of an element of the tile, or `None` if out of bounds."""
        address = 0
        for dim, (inner, target) in enumerate(zip(position, self.dim_map, strict=True)):
            index = self.index[dim]
            if self.kind == "gather_scatter_view" and dim == self.sparse_dim:
                coordinate = int(index[inner])
            else:
                coordinate = index * self.starts[dim] + inner
            if not 0 <= coordinate < self.shape[target]:
                return None
            address += coordinate * self.strides[target]
        return address

    def offsets(self) -> Iterator[tuple[Shape, int | None]]:
        """The position of each element of the tile, and its offset in memory."""
        for position in product(*map(range, self.tile_shape)):
            yield position, self.offset(position)

    @property
    def repeats(self) -> bool:
        """Whether two elements of the tile have the same offset."""
        offsets = [offset for _, offset in self.offsets() if offset is not None]
        return len(set(offsets)) < len(offsets)

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
