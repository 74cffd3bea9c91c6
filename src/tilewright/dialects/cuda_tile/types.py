"""The types of Tile IR: tiles, pointers, tensor views, views that cut them into tiles, tokens."""

from __future__ import annotations

from typing import ClassVar, Final, Self, cast

from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.ir.attributes import Type
from tilewright.ir.declare import Version
from tilewright.ir.types import (
    BF16,
    DYNAMIC,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    FloatType,
    spell_shape,
)
from tilewright.support.bits import is_power_of_two

Shape = tuple[int, ...]

MAX_ELEMENTS: Final = 16 * 1024 * 1024
"""How many elements a tile may have."""

FNV8E5M3FNU: Final = FloatType("fnv8E5M3FNU", 8)

ELEMENT_SINCE: Final[dict[Type, Version]] = {
    **dict.fromkeys((I1, I8, I16, I32, I64, F16, BF16, F32, TF32, F64), (13, 1)),
    **dict.fromkeys((F8E4M3FN, F8E5M2), (13, 1)),
    F8E8M0FNU: (13, 2),
    F4E2M1FN: (13, 3),
    I4: (13, 3),
    FNV8E5M3FNU: (13, 4),
}
"""The element types, and the version that added each."""


def _is_number(element: Type) -> bool:
    """Whether memory can hold such elements: i4 exists in tiles alone."""
    return element in ELEMENT_SINCE and element is not I4


def _elided(type: Type) -> str:
    """A type inside another: types of this dialect go without prefix."""
    return type.spell() if type.mnemonic.startswith("cuda_tile.") else str(type)


class PtrType(Type):
    """`ptr<f32>`: the address of a number in global memory."""

    __slots__ = ("pointee", "attr")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.ptr"

    pointee: Type
    attr: PtrAttr | None

    def __new__(cls, pointee: Type, attr: PtrAttr | None = None) -> Self:
        return cls.unique(pointee, attr)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        pointee = cast("Type", parameters[0])
        if isinstance(pointee, PtrType):
            return "pointers to pointers are not allowed"
        return None if _is_number(pointee) else f"pointee must be a number, got '{pointee}'"

    def spell(self) -> str:
        attr = "" if self.attr is None else f", <{self.attr.keyword}>"
        return f"ptr<{self.pointee}{attr}>"


class TileType(Type):
    """`tile<4x8xf32>`: a value of many elements; rank 0 is a scalar."""

    __slots__ = ("shape", "element")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.tile"

    shape: Shape
    element: Type

    def __new__(cls, shape: Shape, element: Type) -> Self:
        return cls.unique(shape, element)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        shape, element = cast("tuple[Shape, Type]", parameters)
        if element not in ELEMENT_SINCE and not isinstance(element, PtrType):
            return f"tile elements must be numbers or pointers, got '{element}'"
        return tile_problem(shape, element)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    def with_shape(self, shape: Shape) -> TileType:
        """A tile of the same elements in another shape."""
        return TileType(shape, self.element)

    def with_element(self, element: Type) -> TileType:
        """A tile of the same shape with other elements."""
        return TileType(self.shape, element)

    def spell(self) -> str:
        return f"tile<{spell_shape(self.shape)}{_elided(self.element)}>"


def element_count(shape: Shape) -> int:
    """The number of elements in a shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def tile_problem(shape: Shape, element: Type) -> str | None:
    """Why no tile can have this shape, or nothing."""
    elements = 1
    for extent in shape:
        if extent <= 0:
            return "tile dimensions must be positive"
        if not is_power_of_two(extent):
            return "tile dimensions must be powers of two"
        if elements > MAX_ELEMENTS // extent:
            return "tile would exceed the maximum element count"
        elements *= extent
    # Two of these share a byte, and no byte may be half full.
    if element is F4E2M1FN and elements == 1:
        return "tiles of f4E2M1FN must have an even number of elements"
    return None


class TensorViewType(Type):
    """`tensor_view<?x64xf32, strides=[?,1]>`: a tensor in memory."""

    __slots__ = ("shape", "element", "strides", "attr")  # noqa: RUF023 - parameter order
    mnemonic = "cuda_tile.tensor_view"

    shape: Shape
    element: Type
    strides: Shape
    attr: PtrAttr | None

    def __new__(
        cls,
        shape: Shape,
        element: Type,
        strides: Shape,
        attr: PtrAttr | None = None,
    ) -> Self:
        return cls.unique(shape, element, strides, attr)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        shape, element, strides = cast("tuple[Shape, Type, Shape]", parameters[:3])
        if len(shape) != len(strides):
            return "tensor_view shape and stride must have the same rank"
        if any(extent <= 0 and extent != DYNAMIC for extent in shape):
            return "static tensor_view dimensions must be positive"
        if any(stride <= 0 and stride != DYNAMIC for stride in strides):
            return "static tensor_view strides must be positive"
        if not _is_number(element):
            return f"tensor_view elements must be numbers, got '{element}'"
        return None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def spell(self) -> str:
        strides = ",".join("?" if stride == DYNAMIC else str(stride) for stride in self.strides)
        tail = f", strides=[{strides}]" if self.shape else ""
        if self.attr is not None:
            tail += f", #{self.attr.mnemonic}<{self.attr.keyword}>"
        return f"tensor_view<{spell_shape(self.shape)}{self.element}{tail}>"


class ViewType(Type):
    """Base of the views: a tensor seen as a grid of tiles."""

    __slots__ = ()

    tile_shape: Shape
    tensor_view: TensorViewType
    padding: PaddingValue | None
    noun: ClassVar[str] = "view"
    """What diagnostics call the tiles of such a view."""

    @property
    def tile_type(self) -> TileType:
        """The type of one tile."""
        return TileType(self.tile_shape, self.tensor_view.element)

    @property
    def index_rank(self) -> int:
        """How many indices name a tile."""
        return len(self.tile_shape)

    def spell_tile(self) -> str:
        """The first parameter, which all views share."""
        return f"tile=({'x'.join(map(str, self.tile_shape))}), "

    def spell_tensor(self) -> str:
        """The padding, where there is one, and the tensor."""
        if self.padding is None:
            return self.tensor_view.spell()
        return f"padding_value = {self.padding.keyword}, {self.tensor_view.spell()}"


def _rank_problem(noun: str, tile_shape: Shape, tensor: TensorViewType) -> str | None:
    if not tile_shape:
        return f"{noun} tiles must have rank"
    if len(tile_shape) != tensor.rank:
        return f"{noun} tile rank must match tensor rank"
    return None


def _extent_problem(noun: str, extent: int) -> str | None:
    if extent <= 0:
        return f"{noun} tile dimensions must be positive"
    if not is_power_of_two(extent):
        return f"{noun} tile dimensions must be powers of two"
    return None


def _grid_problem(
    noun: str, tile_shape: Shape, tensor: TensorViewType, dim_map: Shape
) -> str | None:
    """What partition and strided views may have wrong: tile shape and dimension map."""
    problem = _rank_problem(noun, tile_shape, tensor)
    if problem is not None:
        return problem
    if len(dim_map) != len(tile_shape):
        return "dim_map must cover every tile dimension"
    used: set[int] = set()
    for extent, target in zip(tile_shape, dim_map, strict=True):
        problem = _extent_problem(noun, extent)
        if problem is not None:
            return problem
        if not 0 <= target < tensor.rank:
            return "dim_map target must be inside the tensor rank"
        if target in used:
            return "dim_map must not map two tile dimensions to one tensor dimension"
        used.add(target)
    return None


def _content_problem(
    tile_shape: Shape, tensor: TensorViewType, padding: PaddingValue | None
) -> str | None:
    """What any view may have wrong in the end: too large a tile, padding of the wrong kind."""
    problem = tile_problem(tile_shape, tensor.element)
    if problem is not None:
        return problem
    special = padding is not None and padding is not PaddingValue.ZERO
    if special and not isinstance(tensor.element, FloatType):
        return "special padding values require a floating-point element type"
    return None


def _spell_dim_map(dim_map: Shape) -> str:
    if dim_map == tuple(range(len(dim_map))):
        return ""
    return f", dim_map=[{', '.join(map(str, dim_map))}]"


class PartitionViewType(ViewType):
    """`partition_view<tile=(16x32), tensor_view<...>>`: disjoint tiles, side by side."""

    __slots__ = ("tile_shape", "tensor_view", "dim_map", "padding")  # noqa: RUF023 - in order
    mnemonic = "cuda_tile.partition_view"
    noun = "partition"

    dim_map: Shape

    def __new__(
        cls,
        tile_shape: Shape,
        tensor_view: TensorViewType,
        dim_map: Shape,
        padding: PaddingValue | None = None,
    ) -> Self:
        return cls.unique(tile_shape, tensor_view, dim_map, padding)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        tile_shape, tensor, dim_map, padding = cast(
            "tuple[Shape, TensorViewType, Shape, PaddingValue | None]",
            parameters,
        )
        problem = _grid_problem(cls.noun, tile_shape, tensor, dim_map)
        return problem or _content_problem(tile_shape, tensor, padding)

    def spell(self) -> str:
        body = f"{self.spell_tile()}{self.spell_tensor()}{_spell_dim_map(self.dim_map)}"
        return f"partition_view<{body}>"


class StridedViewType(ViewType):
    """`strided_view<...>`: tiles that start `traversal_strides` elements apart."""

    __slots__ = (  # noqa: RUF023 - the order of the parameters
        "tile_shape",
        "traversal_strides",
        "tensor_view",
        "dim_map",
        "padding",
    )
    mnemonic = "cuda_tile.strided_view"
    noun = "strided"

    traversal_strides: Shape
    dim_map: Shape

    def __new__(
        cls,
        tile_shape: Shape,
        traversal_strides: Shape,
        tensor_view: TensorViewType,
        dim_map: Shape,
        padding: PaddingValue | None = None,
    ) -> Self:
        return cls.unique(tile_shape, traversal_strides, tensor_view, dim_map, padding)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        tile_shape, strides, tensor, dim_map, padding = cast(
            "tuple[Shape, Shape, TensorViewType, Shape, PaddingValue | None]", parameters
        )
        problem = _grid_problem(cls.noun, tile_shape, tensor, dim_map)
        if problem is not None:
            return problem
        if len(strides) != len(tile_shape):
            return "traversal_strides must cover every tile dimension"
        if any(stride <= 0 for stride in strides):
            return "traversal strides must be positive"
        return _content_problem(tile_shape, tensor, padding)

    def spell(self) -> str:
        strides = f"traversal_strides=[{','.join(map(str, self.traversal_strides))}], "
        tail = f"{self.spell_tensor()}{_spell_dim_map(self.dim_map)}"
        return f"strided_view<{self.spell_tile()}{strides}{tail}>"


class GatherScatterViewType(ViewType):
    """`gather_scatter_view<...>`: rows along `sparse_dim` are picked by a tile of indices."""

    __slots__ = ("tile_shape", "tensor_view", "sparse_dim", "padding")  # noqa: RUF023 - in order
    mnemonic = "cuda_tile.gather_scatter_view"
    noun = "gather_scatter"

    sparse_dim: int

    def __new__(
        cls,
        tile_shape: Shape,
        tensor_view: TensorViewType,
        sparse_dim: int,
        padding: PaddingValue | None = None,
    ) -> Self:
        return cls.unique(tile_shape, tensor_view, sparse_dim, padding)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        tile_shape, tensor, sparse_dim, padding = cast(
            "tuple[Shape, TensorViewType, int, PaddingValue | None]", parameters
        )
        problem = _rank_problem(cls.noun, tile_shape, tensor)
        if problem is not None:
            return problem
        found = (_extent_problem(cls.noun, extent) for extent in tile_shape)
        problem = next(filter(None, found), None)
        if problem is not None:
            return problem
        if not 0 <= sparse_dim < tensor.rank:
            return "sparse_dim must be inside the tensor rank"
        return _content_problem(tile_shape, tensor, padding)

    def spell(self) -> str:
        sparse = f", sparse_dim={self.sparse_dim}"
        return f"gather_scatter_view<{self.spell_tile()}{self.spell_tensor()}{sparse}>"


class TokenType(Type):
    """`token`: an order between memory operations, and nothing at run time."""

    __slots__ = ()
    mnemonic = "cuda_tile.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "token"


class StringType(Type):
    """`string`: a handle that NVIDIA's compiler knows and no operation here makes."""

    __slots__ = ()
    mnemonic = "cuda_tile.string"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "string"


TOKEN: Final = TokenType()

TYPE_SINCE: Final[dict[type[Type], Version]] = {
    StridedViewType: (13, 3),
    GatherScatterViewType: (13, 3),
}
"""The version that added a kind of type, where that was not the first."""
