"""The types of nv_tileaa: addresses, tensors in memory, tiles of them, tokens, queues."""

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
"""The address space of what kernels get and share; the text leaves it out."""


class PtrType(Type):
    """`!nv_tileaa.ptr<f32>`: the address of a number, perhaps in a space other than global."""

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
        """Read what `spell` writes."""
        parser.expect("<")
        pointee = parser.type()
        space = parser.integer() if parser.accept(",") else GLOBAL
        parser.expect(">")
        return cls(pointee, space)


class MemrefType(Type):
    """`!nv_tileaa.memref<?x64xf32, strides = [?, 1]>`: a tensor in memory.

    Memory of different alias scopes never overlaps; without a scope nothing is known.
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
        """Read what `spell` writes."""
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
    """`!nv_tileaa.tiled_view<tile = [16, 32], source = !nv_tileaa.memref<...>>`: tiles in memory.

    Tile dimension `i` runs along dimension `dims[i]` of the source, and neighbouring tiles start
    `steps[i]` elements apart: side by side unless said otherwise. Along dimension `sparse`, if
    there is one, the rows of a tile are picked one by one.
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
        along = tuple(range(len(tile))) if dims is None else dims
        return cls.unique(along, padding, source, sparse, tile if steps is None else steps, tile)

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
        """How many elements each index counts; those of a sparse view count single ones."""
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
        """Read what `spell` writes."""

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
        found = read_parameters(parser, readers, dict.fromkeys(optional))
        return cls(
            cast("Shape", found["tile"]),
            cast("MemrefType", found["source"]),
            cast("Shape | None", found["steps"]),
            cast("Shape | None", found["dims"]),
            cast("int | None", found["sparse"]),
            cast("PaddingValue | None", found["padding"]),
        )


def _memref(parser: Parser) -> MemrefType:
    at = parser.at
    type = parser.type()
    if not isinstance(type, MemrefType):
        parser.error(f"expected a memref of nv_tileaa, got '{type}'", at)
    return type


class QueueType(Type):
    """`!nv_tileaa.queue<[f32, i32], isolated>`: values on their way from one agent to another.

    The regions that fill and empty an isolated queue use nothing else from outside.
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
        """Read what `spell` writes."""
        parser.expect("<")
        elements = tuple(parser.listed(parser.type, "[", "]"))
        isolated = parser.accept(",")
        if isolated:
            parser.expect("isolated")
        parser.expect(">")
        return cls(elements, isolated)


class ProgramIdType(Type):
    """`!nv_tileaa.program_id`: a place in the grid that a block may take over, or none."""

    __slots__ = ()
    mnemonic = "nv_tileaa.program_id"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "program_id"


class MemTokenType(Type):
    """`!nv_tileaa.mem_token`: an order between memory operations, and no data at all."""

    __slots__ = ()
    mnemonic = "nv_tileaa.mem_token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "mem_token"


PROGRAM_ID: Final = ProgramIdType()
MEM_TOKEN: Final = MemTokenType()
"""The one object of its type, for the life of the process."""
