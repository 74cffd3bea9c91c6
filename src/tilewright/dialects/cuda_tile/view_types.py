"""View types: tilings of a tensor view."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, cast

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.tile_types import (
    Shape,
    TensorViewType,
    TileType,
    tile_problem,
)
from tilewright.ir.attributes import Type
from tilewright.ir.types import FloatType
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.text.parser import Parser


class ViewType(Type):
    """Base of the views: tilings of a tensor view."""

    __slots__ = ()

    tile_shape: Shape
    tensor_view: TensorViewType
    padding: PaddingValue | None
    noun: ClassVar[str] = "view"
    """The name of the view in diagnostics."""

    @property
    def tile_type(self) -> TileType:
        """The type of one tile."""
        return TileType(self.tile_shape, self.tensor_view.element)

    @property
    def index_rank(self) -> int:
        """The number of indices of a tile."""
        return len(self.tile_shape)

    def spell_tile(self) -> str:
        """Spell the tile shape, the first parameter of all views."""
        return f"tile=({'x'.join(map(str, self.tile_shape))}), "

    def spell_tensor(self) -> str:
        """Spell the padding, if any, and the tensor view."""
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
    """Check the tile shape and dimension map of a partition or strided view."""
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
    """Check the tile size and the padding of a view."""
    problem = tile_problem(tile_shape, tensor.element)
    if problem is not None:
        return problem
    special = padding is not None and padding is not PaddingValue.ZERO
    if special and not isinstance(tensor.element, FloatType):
        return "special padding values require a floating-point element type"
    return None


def _parse_tile(parser: Parser) -> tuple[int, ...]:
    """Parse `<tile=(16x32), `."""
    for token in ("<", "tile", "=", "("):
        parser.expect(token)
    at = parser.at
    shape = () if parser.peek() == ")" else parser.shape()
    if any(extent >> 31 > 0 for extent in shape):
        parser.error("tile dimensions of a view must fit 32 bits", at)
    for token in (")", ","):
        parser.expect(token)
    return shape


def _parse_tensor(parser: Parser) -> tuple[PaddingValue | None, TensorViewType]:
    """Parse `padding_value = zero, tensor_view<...>` with optional padding."""
    padding: PaddingValue | None = None
    if parser.accept("padding_value"):
        parser.expect("=")
        padding = parser.member(PaddingValue)
        parser.expect(",")
    at = parser.at
    tensor = parser.type("cuda_tile")
    if not isinstance(tensor, TensorViewType):
        parser.error(f"expected a tensor_view, got '{tensor}'", at)
    return padding, tensor


def _parse_dim_map(parser: Parser, rank: int) -> tuple[int, ...]:
    """Parse `, dim_map=[1, 0]`, by default the identity."""
    if not parser.accept(","):
        return tuple(range(rank))
    for token in ("dim_map", "="):
        parser.expect(token)
    return tuple(parser.listed(parser.integer, "[", "]"))


def _spell_dim_map(dim_map: Shape) -> str:
    if dim_map == tuple(range(len(dim_map))):
        return ""
    return f", dim_map=[{', '.join(map(str, dim_map))}]"


class PartitionViewType(ViewType):
    """`partition_view<tile=(16x32), tensor_view<...>>`: disjoint tiles."""

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

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        tile_shape = _parse_tile(parser)
        padding, tensor = _parse_tensor(parser)
        dim_map = _parse_dim_map(parser, len(tile_shape))
        parser.expect(">")
        return cls(tile_shape, tensor, dim_map, padding)


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

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        tile_shape = _parse_tile(parser)
        for token in ("traversal_strides", "="):
            parser.expect(token)
        strides = tuple(parser.listed(parser.integer, "[", "]"))
        parser.expect(",")
        padding, tensor = _parse_tensor(parser)
        dim_map = _parse_dim_map(parser, len(tile_shape))
        parser.expect(">")
        return cls(tile_shape, strides, tensor, dim_map, padding)


class GatherScatterViewType(ViewType):
    """`gather_scatter_view<...>`: a tile of indices selects the rows along `sparse_dim`."""

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
        problems = (_extent_problem(cls.noun, extent) for extent in tile_shape)
        problem = next(filter(None, problems), None)
        if problem is not None:
            return problem
        if not 0 <= sparse_dim < tensor.rank:
            return "sparse_dim must be inside the tensor rank"
        return _content_problem(tile_shape, tensor, padding)

    def spell(self) -> str:
        sparse = f", sparse_dim={self.sparse_dim}"
        return f"gather_scatter_view<{self.spell_tile()}{self.spell_tensor()}{sparse}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        tile_shape = _parse_tile(parser)
        padding, tensor = _parse_tensor(parser)
        for token in (",", "sparse_dim", "="):
            parser.expect(token)
        sparse_dim = parser.integer()
        parser.expect(">")
        return cls(tile_shape, tensor, sparse_dim, padding)
