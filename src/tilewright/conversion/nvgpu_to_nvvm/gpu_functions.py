"""gpu functions to LLVM: kernels, their own buffers, dynamic shared memory, printing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.func import (
    argument_attributes,
    carry_over,
    function_type,
    leave,
)
from tilewright.conversion.nvgpu_to_nvvm.memref import array_type, memref_type, stack_memory
from tilewright.conversion.symbols import SHARED, Symbols
from tilewright.dialects.gpu.structure import KERNEL as GPU_KERNEL
from tilewright.dialects.gpu.structure import GPUFuncOp, ReturnOp
from tilewright.dialects.gpu.threads import DynamicSharedMemoryOp, PrintfOp
from tilewright.dialects.llvm.attribute_names import ALIGN, BYVAL
from tilewright.dialects.llvm.calls import CallIntrinsicOp
from tilewright.dialects.llvm.control_flow import BrOp
from tilewright.dialects.llvm.conversion import FPExtOp, ZExtOp
from tilewright.dialects.llvm.functions import KERNEL, FuncOp
from tilewright.dialects.llvm.globals import GlobalOp
from tilewright.dialects.llvm.memory import GEPOp, StoreOp, alignment_problems
from tilewright.dialects.llvm.types import ArrayType, StructType
from tilewright.dialects.nvgpu.types import TensorMapDescriptorType
from tilewright.dialects.nvvm.attribute_names import CLUSTER_DIM, GRID_CONSTANT, REQNTID
from tilewright.ir.attributes import (
    UNIT,
    Attribute,
    DenseArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    TypeAttr,
)
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import F64, I8, I32, I64, FloatType, IntegerType
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.values import Value

_SPELLED: Final = frozenset(
    (
        "sym_name", "function_type", "arg_attrs", "res_attrs", GPU_KERNEL, "known_block_size",
        "known_grid_size", "known_cluster_size", "workgroup_attributions",
        "workgroup_attrib_attrs", "private_attrib_attrs",
    )
)  # fmt: skip
ALIGNMENT: Final = 16
"""Buffers start where the widest accesses may."""
NOTHING: Final = DictionaryAttr(())
MAP_PARAMETER: Final[dict[str, Attribute]] = {
    ALIGN: IntegerAttr(64, I64),
    BYVAL: TypeAttr(ArrayType(128, I8)),
    GRID_CONSTANT: UNIT,
}
"""A tensor map among the parameters of a kernel: copies read it where the host has put it."""
DYNAMIC_SHARED: Final = "__dynamic_shmem__"
DYNAMIC_SIZE: Final = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"


@converts(GPUFuncOp)
def function(op: GPUFuncOp, new: GPUFuncOp, build: ConversionBuilder) -> Result:
    """A function; those that the host starts are marked so."""
    type = function_type(op.signature, build)
    if type is None:
        return build.reject(f"expected types that LLVM has, got '{op.signature}'")
    if op.kernel and not _has_whole_warps(op.known_block_size):
        return build.reject(f"expected blocks of whole warps, got {op.known_block_size} threads")
    if any(problem for number in _alignments(op) for problem in alignment_problems(number)):
        return build.reject("expected alignments of buffers that are powers of two up to 2**30")
    start = None
    if op.workgroup_buffers or op.private_buffers:
        start = Block(type.inputs, [op.location] * len(type.inputs))
    made = build.create(
        FuncOp,
        sym_name=op.sym_name,
        type_attr=TypeAttr(type),
        arg_attrs=argument_attributes(_given(op), op.signature.inputs, build),
        body=start,
    )
    _mark_kernel(op, made)
    if start is None:
        build.convert_region(op.body, made.body)
        return made
    # The buffers are made in a block of their own, in front of the one that takes them.
    with build.at(InsertPoint.at_end(start)):
        buffers = _buffers(op, build)
    body = build.convert_region(op.body, made.body)
    with build.at(InsertPoint.at_end(start)):
        build.create(BrOp, arguments=[*start.args, *buffers], successors=[body[0]])
    return made


def _has_whole_warps(size: Sequence[int] | None) -> bool:
    """Whether warps come whole to a barrier, as its aligned form wants it."""
    if size is None:
        return True
    x, y, z = size
    return x * y * z % WARP_SIZE == 0


def _given(op: GPUFuncOp) -> Sequence[Attribute] | None:
    """What is said of the arguments; tensor maps come to a kernel by value, and stay there."""
    maps = [isinstance(type, TensorMapDescriptorType) for type in op.signature.inputs]
    if not op.kernel or not any(maps):
        return op.arg_attrs
    given = op.arg_attrs or [NOTHING] * len(maps)
    return [_in_place(each) if is_map else each for each, is_map in zip(given, maps, strict=True)]


def _in_place(given: Attribute) -> DictionaryAttr:
    said = dict(given.entries) if isinstance(given, DictionaryAttr) else {}
    return DictionaryAttr(MAP_PARAMETER | said)


def _mark_kernel(op: GPUFuncOp, made: FuncOp) -> None:
    carry_over(op, made, _SPELLED)
    if not op.kernel:
        return
    made.attributes[KERNEL] = UNIT
    if op.known_block_size is not None:
        made.attributes[REQNTID] = DenseArrayAttr(I32, op.known_block_size)
    if op.known_cluster_size is not None:
        made.attributes[CLUSTER_DIM] = DenseArrayAttr(I32, op.known_cluster_size)


def _buffers(op: GPUFuncOp, build: ConversionBuilder) -> list[Value]:
    """The addresses of the buffers of a function: in shared memory, then of the thread."""
    symbols = Symbols(op, build)
    addresses: list[Value] = []
    pairs = zip(op.workgroup_buffers, _alignments(op), strict=True)
    for number, (buffer, alignment) in enumerate(pairs):
        array = array_type(memref_type(buffer))
        addresses.append(symbols.shared(f"__wg_{op.sym_name}_{number}", array, alignment))
    for buffer in op.private_buffers:
        array = array_type(memref_type(buffer))
        addresses.append(stack_memory(build, array.extent, array.element))
    return addresses


def _alignments(op: GPUFuncOp) -> list[int]:
    """Where each buffer may start; `llvm.align` asks for more than the rest gets."""
    said = op.workgroup_attrib_attrs or [NOTHING] * len(op.workgroup_buffers)
    wishes = [each.get(ALIGN) if isinstance(each, DictionaryAttr) else None for each in said]
    return [
        max(ALIGNMENT, wish.value) if isinstance(wish, IntegerAttr) else ALIGNMENT
        for wish in wishes
    ]


@converts(ReturnOp)
def return_(op: ReturnOp, new: ReturnOp, build: ConversionBuilder) -> Result:
    """The end of a function."""
    return leave(new.values, build)


@converts(DynamicSharedMemoryOp)
def dynamic_shared(
    op: DynamicSharedMemoryOp, new: DynamicSharedMemoryOp, build: ConversionBuilder
) -> Result:
    """The shared memory that the host asks for at launch; there is one of it."""
    symbols = Symbols(op, build)
    if symbols.find(DYNAMIC_SHARED) is None:
        with build.at(symbols.start):
            build.create(
                GlobalOp,
                sym_name=DYNAMIC_SHARED,
                type=ArrayType(0, I8),
                address_space=SHARED,
                alignment=ALIGNMENT,
            )
    address = symbols.address(DYNAMIC_SHARED, SHARED)
    size = build.create(CallIntrinsicOp, intrin=DYNAMIC_SIZE, types=[I32]).results[0]
    return [[address, build.create(ZExtOp, arg=size, types=[I64]).res]]


@converts(PrintfOp)
def printf(op: PrintfOp, new: PrintfOp, build: ConversionBuilder) -> Result:
    """`vprintf` takes the format and the address of the arguments, as C would pass them."""
    symbols = Symbols(op, build)
    text = symbols.text("printf_format", op.format)
    arguments = [_promoted(build, value) for value in new.args]
    packed = StructType(tuple([value.type for value in arguments]))
    room = stack_memory(build, 1, packed)
    for place, value in enumerate(arguments):
        at = build.create(GEPOp, base=room, constants=[0, place], element=packed).res
        build.create(StoreOp, value=value, addr=at)
    symbols.call("vprintf", [text, room], I32)
    return ()


def _promoted(build: ConversionBuilder, value: Value) -> Value:
    """An argument of a function that takes any: floats are doubles."""
    if isinstance(value.type, FloatType) and value.type is not F64:
        return build.create(FPExtOp, arg=value, types=[F64]).res
    if isinstance(value.type, IntegerType) and value.type.width < I32.width:
        return build.create(ZExtOp, arg=value, types=[I32]).res
    return value


PATTERNS: Final[Patterns] = (function, return_, dynamic_shared, printf)
