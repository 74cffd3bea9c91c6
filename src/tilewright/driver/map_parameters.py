"""Tensor maps that are parameters of compiled kernels: read from the program, bound at a launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cute_nvgpu.map_parameters import map_parameters
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.llvm.types import PTR
from tilewright.ir.types import I32, I64, IntegerType
from tilewright.support.diagnostics import fail
from tilewright.support.tensor_map_parameters import (
    ALIGNMENT,
    ELEMENTS,
    PARAMETERS_PER_MAP,
    Argument,
    BoundTensor,
    TensorMapParameter,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.cute_nvgpu.map_parameters import MapParameterAttr
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.runtime.signature import Signature

Maps = dict[str, tuple[TensorMapParameter, ...]]
Encode = Callable[[TensorMapParameter, BoundTensor], bytes]
KEPT: Final = 64
"""Launches of a kernel, by their arguments, whose maps are kept."""


def read_map_parameters(module: Operation) -> Maps:
    """The tensor maps that are parameters, by kernel, of a program of the llvm dialect."""
    maps: Maps = {}
    for op in module.members():
        if isinstance(op, FuncOp):
            described = map_parameters(op)
            if described:
                _check(op, described)
                maps[op.sym_name] = tuple(map(_parameter, described))
        elif op.regions:
            maps |= read_map_parameters(op)
    return maps


def _check(function: FuncOp, maps: Sequence[MapParameterAttr]) -> None:
    """Check maps, which may be hand-written, against the arguments of their kernel."""
    types = list(function.function_type.inputs)
    own = len(types) - PARAMETERS_PER_MAP * len(maps)
    if own < 0 or types[own:] != [PTR, I32] * len(maps):
        wanted = f"a tensor map and an i32 as the last parameters for each of {len(maps)} maps"
        fail(f"'@{function.sym_name}': expected {wanted}", function.location)
    for map in maps:
        for scalar in (map.address, *map.sizes, *map.strides):
            if isinstance(scalar, Argument):
                _check_argument(function, types[:own], scalar.number)
        if types[map.address.number] not in (I64, PTR):
            actual = f"argument {map.address.number}, of type '{types[map.address.number]}'"
            fail(f"'@{function.sym_name}': expected an address, got {actual}", function.location)


def _check_argument(function: FuncOp, own: Sequence[Type], index: int) -> None:
    if index >= len(own) or not (isinstance(own[index], IntegerType) or own[index] is PTR):
        wanted = f"an integer as argument {index}, which a tensor map is of"
        fail(f"'@{function.sym_name}': expected {wanted}", function.location)


def _parameter(map: MapParameterAttr) -> TensorMapParameter:
    # Programs of the llvm dialect, most of which have no maps, do not load the conversion.
    from tilewright.conversion.nvgpu_to_nvvm.tensormap import ptx_number  # noqa: PLC0415

    type = map.map
    number = ptx_number(type.tensor.element)
    if number is None:
        fail(f"expected a tensor map of integers or floats, got '{type}'")
    return TensorMapParameter(
        ELEMENTS[number],
        tuple(reversed(type.tensor.shape or ())),
        map.address,
        tuple(reversed(map.sizes)),
        tuple(reversed(map.strides)),
        type.swizzle.span or 0,
        16 * type.interleave.value,
        nan=bool(type.oob.value),
        l2_promotion=32 << type.l2promo.value if type.l2promo.value else 0,
    )


def bind_maps(
    maps: Sequence[TensorMapParameter], signature: Signature, arguments: Sequence[bytes]
) -> Iterator[BoundTensor]:
    """The tensors of a launch, for arguments as they are passed; rejects what TMA cannot copy."""
    for map in maps:
        tensor = map.bind(arguments)
        subject = signature.parameters[map.address.number]
        if tensor.address % ALIGNMENT:
            wanted = f"an address divisible by {ALIGNMENT}, since TMA copies from there"
            subject.fail(f"expected {wanted}, got {tensor.address:#x}")
        for stride in tensor.strides:
            if stride % ALIGNMENT:
                wanted = f"strides divisible by {ALIGNMENT} bytes, since TMA copies rows"
                subject.fail(f"expected {wanted}, got {stride}")
        yield tensor


class MapArguments:
    """What a launcher passes for the tensor maps of a kernel, after its own arguments."""

    __slots__ = ("_encode", "_signature", "maps", "of")

    def __init__(
        self, maps: Sequence[TensorMapParameter], signature: Signature, encode: Encode
    ) -> None:
        """`encode` writes a map in the layout of the device."""
        self.maps, self._signature, self._encode = maps, signature, encode
        # Most launches have the arguments of an earlier one.
        self.of = lru_cache(KEPT)(self._bind)
        """The parameters for arguments as they are passed."""

    def _bind(self, arguments: tuple[bytes, ...]) -> tuple[bytes, ...]:
        tensors = list(bind_maps(self.maps, self._signature, arguments))
        parameters: list[bytes] = []
        for map, tensor in zip(self.maps, tensors, strict=True):
            parameters += [self._encode(map, tensor), tensor.offset.to_bytes(4, "little")]
        return tuple(parameters)
