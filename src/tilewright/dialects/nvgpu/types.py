"""The types of nvgpu: barriers, tokens, tensor maps, and wgmma descriptors and accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.nvgpu.attributes import Interleave, L2Promotion, OutOfBounds, Swizzle
from tilewright.dialects.type_syntax import read_parameters
from tilewright.ir.attributes import Attribute, Type
from tilewright.ir.types import MemRefType, VectorType, spell_space

if TYPE_CHECKING:
    from tilewright.text.parser import Parser


def _memref(parser: Parser) -> MemRefType:
    at = parser.at
    type = parser.type()
    if not isinstance(type, MemRefType):
        parser.error(f"expected a memref, got '{type}'", at)
    return type


class DeviceAsyncTokenType(Type):
    """`!nvgpu.device.async.token`: a pending copy, or a group of them."""

    __slots__ = ()
    mnemonic = "nvgpu.device.async.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "device.async.token"


class MBarrierTokenType(Type):
    """`!nvgpu.mbarrier.token`: the phase of a barrier at the time of an arrival."""

    __slots__ = ()
    mnemonic = "nvgpu.mbarrier.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "mbarrier.token"


class MBarrierGroupType(Type):
    """`!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>`."""

    __slots__ = ("memory_space", "num_barriers")
    mnemonic = "nvgpu.mbarrier.group"

    memory_space: Attribute
    num_barriers: int

    def __new__(cls, memory_space: Attribute, num_barriers: int = 1) -> Self:
        return cls.unique(memory_space, num_barriers)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        count = cast("int", parameters[1])
        return None if count > 0 else f"expected a positive number of barriers, got {count}"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the parameters."""
        readers = {"memorySpace": parser.attribute, "num_barriers": parser.integer}
        parameters = read_parameters(parser, readers, {"num_barriers": 1})
        return cls(
            cast("Attribute", parameters["memorySpace"]), cast("int", parameters["num_barriers"])
        )

    def spell(self) -> str:
        count = "" if self.num_barriers == 1 else f", num_barriers = {self.num_barriers}"
        return f"mbarrier.group<memorySpace = {spell_space(self.memory_space)}{count}>"


class TensorMapDescriptorType(Type):
    """`!nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, ...>`.

    The tensor is the box of a copy, as it is laid out in shared memory.
    """

    __slots__ = ("interleave", "l2promo", "oob", "swizzle", "tensor")
    mnemonic = "nvgpu.tensormap.descriptor"

    tensor: MemRefType
    swizzle: Swizzle
    l2promo: L2Promotion
    oob: OutOfBounds
    interleave: Interleave

    def __new__(
        cls,
        tensor: MemRefType,
        swizzle: Swizzle = Swizzle.NONE,
        l2promo: L2Promotion = L2Promotion.NONE,
        oob: OutOfBounds = OutOfBounds.ZERO,
        interleave: Interleave = Interleave.NONE,
    ) -> Self:
        return cls.unique(interleave, l2promo, oob, swizzle, tensor)

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.tensor, self.swizzle, self.l2promo, self.oob, self.interleave)
        return TensorMapDescriptorType, parts

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the parameters."""
        parameters = read_parameters(
            parser,
            {
                "tensor": lambda: _memref(parser),
                "swizzle": lambda: parser.member(Swizzle),
                "l2promo": lambda: parser.member(L2Promotion),
                "oob": lambda: parser.member(OutOfBounds),
                "interleave": lambda: parser.member(Interleave),
            },
        )
        return cls(
            cast("MemRefType", parameters["tensor"]),
            cast("Swizzle", parameters["swizzle"]),
            cast("L2Promotion", parameters["l2promo"]),
            cast("OutOfBounds", parameters["oob"]),
            cast("Interleave", parameters["interleave"]),
        )

    def spell(self) -> str:
        modes = [
            f"{name} = {member.keyword}"
            for name, member in (
                ("swizzle", self.swizzle),
                ("l2promo", self.l2promo),
                ("oob", self.oob),
                ("interleave", self.interleave),
            )
        ]
        return f"tensormap.descriptor<tensor = {self.tensor}, {', '.join(modes)}>"


class WarpgroupDescriptorType(Type):
    """`!nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>`: a matrix in shared memory."""

    __slots__ = ("tensor",)
    mnemonic = "nvgpu.warpgroup.descriptor"

    tensor: MemRefType

    def __new__(cls, tensor: MemRefType) -> Self:
        return cls.unique(tensor)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the parameters."""
        parameters = read_parameters(parser, {"tensor": lambda: _memref(parser)})
        return cls(cast("MemRefType", parameters["tensor"]))

    def spell(self) -> str:
        return f"warpgroup.descriptor<tensor = {self.tensor}>"


class WarpgroupAccumulatorType(Type):
    """`!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>`: a matrix in registers."""

    __slots__ = ("fragmented",)
    mnemonic = "nvgpu.warpgroup.accumulator"

    fragmented: VectorType

    def __new__(cls, fragmented: VectorType) -> Self:
        return cls.unique(fragmented)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the parameters."""
        at = parser.at
        parameters = read_parameters(parser, {"fragmented": parser.type})
        type = parameters["fragmented"]
        if not isinstance(type, VectorType):
            parser.error(f"expected a vector, got '{type}'", at)
        return cls(type)

    def spell(self) -> str:
        return f"warpgroup.accumulator<fragmented = {self.fragmented}>"


DEVICE_ASYNC_TOKEN: Final = DeviceAsyncTokenType()
MBARRIER_TOKEN: Final = MBarrierTokenType()
