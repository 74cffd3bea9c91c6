"""Tensor maps as parameters: the launcher encodes the maps of a kernel, in place of a warp of it.

A map can be a parameter if the launcher knows its tensor: if the address is an argument of the
kernel, and each size and stride is an argument or a constant. These are recorded in
`cute_nvgpu.map_parameters`. If one map of a kernel cannot, the kernel encodes all of them: it needs
a slot in global memory then anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.cute_nvgpu.map_parameters import MAP_PARAMETERS, MapParameterAttr
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.dialects.nv_tileaa.view import BlockTileOp, MakeMemrefOp, memref
from tilewright.dialects.nv_tileas.pipeline import ProducerWriteOp
from tilewright.dialects.nv_tileas.tensor_map import (
    CreateTensorMapsOp,
    PrefetchTensorMapsOp,
    ReleaseTensorMapsOp,
    memory_order,
)
from tilewright.dialects.nv_tileas.types import tensor_map
from tilewright.ir.attributes import ArrayAttr, DictionaryAttr, IntegerAttr, TypeAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.types import DYNAMIC, FloatType, FunctionType, IntegerType
from tilewright.ir.values import BlockArgument
from tilewright.plans.tensor_maps import descriptor_type
from tilewright.support.remark_catalogue import TENSOR_MAPS_ENCODED
from tilewright.support.remarks import Remark
from tilewright.support.tensor_map_parameters import Argument, Scalar
from tilewright.target.engines import TMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class TensorMapsToParameters(Pass):
    """Let the launcher encode the tensor maps of a kernel, and pass them as parameters."""

    name = "tensor-maps-to-parameters"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            creations = [each for each in function.walk() if isinstance(each, CreateTensorMapsOp)]
            if not creations or not function.is_kernel:
                continue
            try:
                tensors = {each: list(_tensors(function, each)) for each in creations}
            except _NotDescribed as reason:
                text, location = "The kernel encodes its tensor maps", reason.op.location
                name = function.sym_name
                sink.remark(
                    Remark(TENSOR_MAPS_ENCODED, text, self.name, name, location, str(reason))
                )
                continue
            for creation, parameters in tensors.items():
                _pass_maps(function, creation, parameters)


class _NotDescribed(Exception):
    """Why the launcher cannot encode a map, and the operation that makes it so."""

    def __init__(self, reason: str, op: Operation) -> None:
        self.op = op
        super().__init__(reason)


def _tensors(function: FuncOp, creation: CreateTensorMapsOp) -> Iterator[MapParameterAttr]:
    """The parameter for each map of a creation."""
    if not all(isinstance(type, _SCALARS) for type in function.signature.inputs):
        raise _NotDescribed("the kernel has arguments that are not scalars", creation)
    for view, map in zip(creation.views, creation.maps, strict=True):
        if any(isinstance(user, ProducerWriteOp) for user in map.users):
            raise _NotDescribed("another agent gets a map through a pipeline", creation)
        tiled = view.defined_by(BlockTileOp)
        made = None if tiled is None else tiled.source.defined_by(MakeMemrefOp)
        if made is None:
            raise _NotDescribed("a view is not of an argument", creation)
        yield _parameter(function, descriptor_type(tensor_map(map)), made)


_SCALARS: Final = (IntegerType, FloatType, PtrType)


def _parameter(
    function: FuncOp, descriptor: TensorMapDescriptorType, made: MakeMemrefOp
) -> MapParameterAttr:
    """The parameter for a map of a memref, if that consists of arguments and constants."""
    type = memref(made.result)
    address = _scalar(function, made.base)
    if not isinstance(address, Argument):
        raise _NotDescribed("an address is not an argument", made)
    lists: list[list[Scalar]] = []
    for extents, operands in ((type.shape, made.sizes), (type.strides, made.strides)):
        dynamic = iter(operands)
        lists.append([])
        for extent in extents:
            scalar = _scalar(function, next(dynamic)) if extent == DYNAMIC else extent
            if scalar is None:
                text = "a size or stride is neither an argument nor a constant"
                raise _NotDescribed(text, made)
            lists[-1].append(scalar)
    sizes, strides = lists
    # The stride along an extent of 1 is never taken, but must be one that the hardware takes.
    unit = TMA.alignment // pointee_bytes(type.element)
    order = memory_order(type)
    return MapParameterAttr(
        descriptor,
        address,
        [sizes[dimension] for dimension in order],
        [unit if type.shape[each] == 1 else strides[each] for each in order[:-1]],
    )


def _scalar(function: FuncOp, value: Value) -> Scalar | None:
    """The argument or constant that a value is; None if it is computed."""
    while (assumption := value.defined_by(AssumeOp)) is not None:
        value = assumption.value
    if isinstance(value, BlockArgument):
        return Argument(value.index) if value.parent_block is function.body.block else None
    constant, type = value.defined_by(ConstantOp), value.type
    if constant is None or not isinstance(constant.value, IntegerAttr):
        return None
    # Sizes and strides are unsigned.
    return constant.value.value % (1 << type.width) if isinstance(type, IntegerType) else None


def _pass_maps(
    function: FuncOp, creation: CreateTensorMapsOp, tensors: Sequence[MapParameterAttr]
) -> None:
    """Replace the maps of a creation by arguments of the function."""
    block, inputs = function.body.block, list(function.signature.inputs)
    maps = [block.add_argument(map.type, creation.location) for map in creation.maps]
    inputs += [map.type for map in creation.maps]
    function.attributes["function_type"] = TypeAttr(FunctionType(tuple(inputs)))
    if function.arg_attrs is not None:
        empty = [DictionaryAttr(())] * len(maps)
        function.attributes["arg_attrs"] = ArrayAttr((*function.arg_attrs, *empty))
    before = function.attributes.get(MAP_PARAMETERS)
    known = before.elements if isinstance(before, ArrayAttr) else ()
    function.attributes[MAP_PARAMETERS] = ArrayAttr((*known, *tensors))
    build = Builder(InsertPoint.before(creation), creation.location)
    build.create(PrefetchTensorMapsOp, maps=maps)
    for old, new in zip(creation.maps, maps, strict=True):
        for release in [user for user in old.users if isinstance(user, ReleaseTensorMapsOp)]:
            release.erase()
        old.replace_all_uses_with(new)
    creation.erase()
