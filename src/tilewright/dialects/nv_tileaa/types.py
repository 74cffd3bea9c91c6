"""The types of nv_tileaa: pointers, memrefs, tiled views, tokens and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.nv_tileaa.attributes import PaddingValue
from tilewright.dialects.type_syntax import read_parameters
from tilewright.ir.attributes import Type
from tilewright.ir.types import DYNAMIC, FloatType, IntegerType, TensorType, spell_shape

if TYPE_CHECKING:
    from tilewright.text.parser import Parser

Shape = tuple[int, ...]

GLOBAL: Final = 1
"""The default address space, global memory; the text omits it."""


class PtrType(Type):
    """`!nv_tileaa.ptr<f32>`: a pointer to a scalar, with an address space unless global."""

    __slots__ = ("pointee", "space")
    mnemonic = "nv_tileaa.ptr"

    pointee: Type
    space: int

    def __new__(cls, pointee: Type, space: int = GLOBAL) -> Self:
        return cls.unique(pointee, space)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        if isinstance(parameters[0], IntegerType | FloatType):
            return None
        return f"pointee must be a number, got '{parameters[0]}'"

    def spell(self) -> str:
        return f"ptr<{self.pointee}{'' if self.space == GLOBAL else f', {self.space}'}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        pointee = parser.type()
        space = parser.integer() if parser.accept(",") else GLOBAL
        parser.expect(">")
        return cls(pointee, space)


class MemrefType(Type):
    """`!nv_tileaa.memref<?x64xf32, strides = [?, 1]>`: a tensor in memory.

    Memrefs of different alias scopes never alias; one without a scope may alias any other.
    """

    __slots__ = ("alias_scope", "element", "shape", "space", "strides")
    mnemonic = "nv_tileaa.memref"

    alias_scope: str | None
    element: Type
    shape: Shape
    space: int
    strides: Shape

    def __new__(
        cls,
        shape: Shape,
        element: Type,
        strides: Shape,
        space: int = GLOBAL,
        alias_scope: str | None = None,
    ) -> Self:
        return cls.unique(alias_scope, element, shape, space, strides)

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.shape, self.element, self.strides, self.space, self.alias_scope)
        return MemrefType, parts

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        _, element, shape, _, strides = cast("tuple[object, Type, Shape, int, Shape]", parameters)
        if len(shape) != len(strides):
            return f"memref must have {len(shape)} strides like extents, got {len(strides)}"
        if any(number < 1 and number != DYNAMIC for number in (*shape, *strides)):
            return "static extents and strides of a memref must be positive"
        if not isinstance(element, IntegerType | FloatType):
            return f"memref elements must be numbers, got '{element}'"
        return None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def spell(self) -> str:
        strides = ", ".join("?" if stride == DYNAMIC else str(stride) for stride in self.strides)
        tail = f", strides = [{strides}]" if self.shape else ""
        if self.space != GLOBAL:
            tail += f", space = {self.space}"
        if self.alias_scope is not None:
            tail += f", scope = {self.alias_scope}"
        return f"memref<{spell_shape(self.shape)}{self.element}{tail}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        shape, element = parser.shaped()
        parts: dict[str, object] = {}
        while parser.accept(","):
            name = parser.keyword()
            parser.expect("=")
            match name:
                case "strides":
                    parts[name] = tuple(parser.listed(lambda: _stride(parser), "[", "]"))
                case "space":
                    parts[name] = parser.integer()
                case _:
                    parts[name] = parser.keyword()
        parser.expect(">")
        return cls(
            shape,
            element,
            cast("Shape", parts.get("strides", ())),
            cast("int", parts.get("space", GLOBAL)),
            cast("str | None", parts.get("scope")),
        )


def _stride(parser: Parser) -> int:
    return DYNAMIC if parser.accept("?") else parser.integer()


class TiledViewType(Type):
    """`!nv_tileaa.tiled_view<tile = [16, 32], source = !nv_tileaa.memref<...>>`: a tiled memref.

    Tile dimension `i` maps to dimension `dims[i]` of the source. Adjacent tiles start `steps[i]`
    elements apart, by default the extent of the tile. Along dimension `sparse`, if any, each row
    of a tile has an index of its own (gather and scatter).
    """

    __slots__ = ("dims", "padding", "source", "sparse", "steps", "tile")
    mnemonic = "nv_tileaa.tiled_view"

    dims: Shape
    padding: PaddingValue | None
    source: MemrefType
    sparse: int | None
    steps: Shape
    tile: Shape

    def __new__(
        cls,
        tile: Shape,
        source: MemrefType,
        steps: Shape | None = None,
        dims: Shape | None = None,
        sparse: int | None = None,
        padding: PaddingValue | None = None,
    ) -> Self:
        dims = tuple(range(len(tile))) if dims is None else dims
        return cls.unique(dims, padding, source, sparse, tile if steps is None else steps, tile)

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.tile, self.source, self.steps, self.dims, self.sparse, self.padding)
        return TiledViewType, parts

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        dims, padding, source, sparse, steps, tile = cast(
            "tuple[Shape, PaddingValue | None, MemrefType, int | None, Shape, Shape]", parameters
        )
        rank = source.rank
        if not rank or not len(tile) == len(steps) == rank or sorted(dims) != list(range(rank)):
            return "tile, steps and dims must have one number for each dimension of the source"
        if min(*tile, *steps, 1) < 1:
            return "tile extents and steps must be positive"
        if sparse is not None and not 0 <= sparse < rank:
            return f"sparse dimension must be below the rank {rank}, got {sparse}"
        if padding not in (None, PaddingValue.ZERO) and not isinstance(source.element, FloatType):
            return "special padding values require a floating-point element type"
        return None

    @property
    def rank(self) -> int:
        """The number of dimensions, of a tile and of the grid of tiles."""
        return len(self.tile)

    @property
    def tile_type(self) -> TensorType:
        """The type of one tile."""
        return TensorType(self.tile, self.source.element)

    @property
    def counted(self) -> Shape:
        """The number of elements that one step of each index spans; 1 for a sparse view."""
        return self.steps if self.sparse is None else (1,) * self.rank

    def spell(self) -> str:
        parts = [f"tile = {list(self.tile)}", f"source = {self.source}"]
        if self.steps != self.tile:
            parts.append(f"steps = {list(self.steps)}")
        if self.dims != tuple(range(self.rank)):
            parts.append(f"dims = {list(self.dims)}")
        if self.sparse is not None:
            parts.append(f"sparse = {self.sparse}")
        if self.padding is not None:
            parts.append(f"padding = {self.padding.keyword}")
        return f"tiled_view<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""

        def numbers() -> Shape:
            return tuple(parser.listed(parser.integer, "[", "]"))

        readers = {
            "tile": numbers,
            "source": lambda: _memref(parser),
            "steps": numbers,
            "dims": numbers,
            "sparse": parser.integer,
            "padding": lambda: parser.member(PaddingValue),
        }
        optional = ("steps", "dims", "sparse", "padding")
        parameters = read_parameters(parser, readers, dict.fromkeys(optional))
        return cls(
            cast("Shape", parameters["tile"]),
            cast("MemrefType", parameters["source"]),
            cast("Shape | None", parameters["steps"]),
            cast("Shape | None", parameters["dims"]),
            cast("int | None", parameters["sparse"]),
            cast("PaddingValue | None", parameters["padding"]),
        )


def _memref(parser: Parser) -> MemrefType:
    at = parser.at
    type = parser.type()
    if not isinstance(type, MemrefType):
        parser.error(f"expected a memref of nv_tileaa, got '{type}'", at)
    return type


class QueueType(Type):
    """`!nv_tileaa.queue<[f32, i32], isolated>`: a producer-consumer queue of value tuples.

    The put and get regions of an isolated queue capture no other value from outside.
    """

    __slots__ = ("elements", "isolated")
    mnemonic = "nv_tileaa.queue"

    elements: tuple[Type, ...]
    isolated: bool

    def __new__(cls, elements: tuple[Type, ...], isolated: bool = False) -> Self:
        return cls.unique(elements, isolated)

    def spell(self) -> str:
        elements = ", ".join(map(str, self.elements))
        return f"queue<[{elements}]{', isolated' if self.isolated else ''}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        elements = tuple(parser.listed(parser.type, "[", "]"))
        isolated = parser.accept(",")
        if isolated:
            parser.expect("isolated")
        parser.expect(">")
        return cls(elements, isolated)


class ProgramIdType(Type):
    """`!nv_tileaa.program_id`: the program id of a canceled block, or none."""

    __slots__ = ()
    mnemonic = "nv_tileaa.program_id"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "program_id"


class MemTokenType(Type):
    """`!nv_tileaa.mem_token`: a dependence between memory operations; carries no data."""

    __slots__ = ()
    mnemonic = "nv_tileaa.mem_token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "mem_token"


MEM_TOKEN: Final = MemTokenType()
"""The unique instance of `MemTokenType`."""
