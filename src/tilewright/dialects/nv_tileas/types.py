"""The types of nv_tileas: buffers, pipelines and their iterators, tensor maps, tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import TOKEN, count
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN, PtrType, TiledViewType
from tilewright.dialects.nv_tileas.attributes import Residency, in_shared_memory
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import exactly, instance_of
from tilewright.ir.types import (
    DYNAMIC,
    F32,
    TF32,
    FloatType,
    IntegerType,
    TensorType,
    spell_shape,
)

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser


class BufferType(Type):
    """`!nv_tileas.buffer<shared, 2, 64x32xf16>`: a buffer of several stages, one tile each."""

    __slots__ = ("element", "residency", "shape", "stages")
    mnemonic = "nv_tileas.buffer"

    element: Type
    residency: Residency
    shape: tuple[int, ...]
    stages: int

    def __new__(
        cls, residency: Residency, stages: int, shape: tuple[int, ...], element: Type
    ) -> Self:
        return cls.unique(element, residency, shape, stages)

    def __reduce__(self) -> tuple[object, ...]:
        return BufferType, (self.residency, self.stages, self.shape, self.element)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        element, _, shape, stages = cast("tuple[Type, object, tuple[int, ...], int]", parameters)
        if stages < 1:
            return f"a buffer has one stage or more, got {stages}"
        if not shape or DYNAMIC in shape:
            return "the extents of a buffer must be known"
        if not isinstance(element, IntegerType | FloatType):
            return f"a buffer holds numbers, got '{element}'"
        return None

    @property
    def stage_bytes(self) -> int:
        """Bytes of one tile; sub-byte elements take a whole byte."""
        return stored_bytes(TensorType(self.shape, self.element))

    def spell(self) -> str:
        tile = f"{spell_shape(self.shape)}{self.element}"
        return f"buffer<{self.residency.keyword}, {self.stages}, {tile}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        residency = parser.member(Residency)
        parser.expect(",")
        stages = parser.integer()
        parser.expect(",")
        shape, element = parser.shaped()
        parser.expect(">")
        return cls(residency, stages, shape, element)


class PipelineType(Type):
    """`!nv_tileas.pipeline<2, [tensor<64xf32>, i32]>`: a ring of stages that hold these values.

    The layout of a tile is its placement in the stage; a tile without one is row-major.
    """

    __slots__ = ("elements", "stages")
    mnemonic = "nv_tileas.pipeline"

    elements: tuple[Type, ...]
    stages: int

    def __new__(cls, stages: int, elements: tuple[Type, ...]) -> Self:
        return cls.unique(elements, stages)

    def __reduce__(self) -> tuple[object, ...]:
        return PipelineType, (self.stages, self.elements)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        stages = cast("int", parameters[1])
        return None if stages > 0 else f"a pipeline has one stage or more, got {stages}"

    def spell(self) -> str:
        return f"pipeline<{self.stages}, [{', '.join(map(str, self.elements))}]>"

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<{self.stages}, [{', '.join(map(printer.type, self.elements))}]>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        stages = parser.integer()
        parser.expect(",")
        elements = tuple(parser.listed(parser.type, "[", "]"))
        parser.expect(">")
        return cls(stages, elements)


class IteratorType(Type):
    """`!nv_tileas.pipeline_iterator<2>`: the stage index and phase of a pipeline."""

    __slots__ = ("stages",)
    mnemonic = "nv_tileas.pipeline_iterator"

    stages: int

    def __new__(cls, stages: int) -> Self:
        return cls.unique(stages)

    def spell(self) -> str:
        return f"pipeline_iterator<{self.stages}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        stages = parser.integer()
        parser.expect(">")
        return cls(stages)


class TensorMapType(Type):
    """`!nv_tileas.tensor_map<VIEW, TILE>`: a tensor map by which TMA copies tiles of a view.

    The layout of the tile is its placement in shared memory. A tile of tf32 is rounded on the way
    from memory with f32. With `parts = 2`, as the third parameter, a tile has at least two boxes,
    so that each of two CTAs can copy a part of it.
    """

    __slots__ = ("parts", "tile", "view")
    mnemonic = "nv_tileas.tensor_map"

    parts: int
    tile: TensorType
    view: TiledViewType

    def __new__(cls, view: TiledViewType, tile: TensorType, parts: int = 1) -> Self:
        return cls.unique(parts, tile, view)

    def __reduce__(self) -> tuple[object, ...]:
        return TensorMapType, (self.view, self.tile, self.parts)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        parts, tile, view = cast("tuple[int, Type, Type]", parameters)
        if parts < 1 or parts & (parts - 1):
            return f"expected a power of two of parts, got {parts}"
        if not isinstance(view, TiledViewType):
            return f"expected a tiled view of nv_tileaa, got '{view}'"
        if not isinstance(tile, TensorType) or not in_shared_memory(tile):
            return f"expected a tile with a placement in shared memory, got '{tile}'"
        rounded = TensorType(view.tile, TF32) if view.source.element is F32 else None
        if without_layout(tile) not in (view.tile_type, rounded):
            return f"expected a tile of type '{view.tile_type}', got '{without_layout(tile)}'"
        return None

    def spell(self) -> str:
        return f"tensor_map<{self.view}, {self.tile}{self._spell_parts()}>"

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        return f"<{printer.type(self.view)}, {printer.type(self.tile)}{self._spell_parts()}>"

    def _spell_parts(self) -> str:
        return f", parts = {self.parts}" if self.parts > 1 else ""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        view = parser.type()
        parser.expect(",")
        tile = parser.type()
        parts = 1
        if parser.accept(","):
            parser.expect("parts")
            parser.expect("=")
            parts = parser.integer()
        parser.expect(">")
        return cls(cast("TiledViewType", view), cast("TensorType", tile), parts)


class AsyncTokenType(Type):
    """`!nv_tileas.async.token`: a phase of the mbarrier of asynchronous copies."""

    __slots__ = ()
    mnemonic = "nv_tileas.async.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "async.token"


class ProducerTokenType(Type):
    """`!nv_tileas.producer_token`: an acquired stage."""

    __slots__ = ()
    mnemonic = "nv_tileas.producer_token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "producer_token"


class ConsumerTokenType(Type):
    """`!nv_tileas.consumer_token`: a full stage."""

    __slots__ = ()
    mnemonic = "nv_tileas.consumer_token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "consumer_token"


ASYNC_TOKEN: Final = AsyncTokenType()
PRODUCER_TOKEN: Final = ProducerTokenType()
CONSUMER_TOKEN: Final = ConsumerTokenType()

BUFFER: Final = instance_of(BufferType, "buffer")
PIPELINE: Final = instance_of(PipelineType, "pipeline")
ITERATOR: Final = instance_of(IteratorType, "iterator of a pipeline")
TENSOR_MAP: Final = instance_of(TensorMapType, "tensor map")
SLOT_BYTES: Final = 8
"""Of a tensor map in a stage: the number of its slot, and what is added to a coordinate."""
PHASE: Final = exactly(ASYNC_TOKEN, "async token")
ANY_TOKEN: Final = TOKEN | PHASE
ACQUIRED: Final = exactly(PRODUCER_TOKEN, "producer token")
AWAITED: Final = exactly(CONSUMER_TOKEN, "consumer token")


def buffer(value: Value) -> BufferType:
    """The type of a value that is a buffer."""
    assert isinstance(value.type, BufferType)
    return value.type


def pipeline(value: Value) -> PipelineType:
    """The type of a value that is a pipeline."""
    assert isinstance(value.type, PipelineType)
    return value.type


def tensor_map(value: Value) -> TensorMapType:
    """The type of a value that is a tensor map."""
    assert isinstance(value.type, TensorMapType)
    return value.type


def without_layout(type: Type) -> Type:
    """The type of a tile without its layout."""
    return TensorType(type.shape, type.element) if isinstance(type, TensorType) else type


def register_bytes(element: Type) -> int:
    """Bytes of an element in shared memory: one for i1, eight for a pointer."""
    return 8 if isinstance(element, PtrType) else pointee_bytes(element)


def stored_bytes(type: Type) -> int:
    """Bytes of a value in shared memory; tokens take none, of a tensor map it is the slot."""
    if type is MEM_TOKEN:
        return 0
    if isinstance(type, TensorMapType):
        return SLOT_BYTES
    return count(type) * register_bytes(element_of(type))
