"""gpu functions to LLVM: kernels, memory attributions, dynamic shared memory, printf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.func import (
    argument_attributes,
    carry_over,
    function_type,
    return_values,
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

_INHERENT: Final = frozenset(
    (
        "sym_name", "function_type", "arg_attrs", "res_attrs", GPU_KERNEL, "known_block_size",
        "known_grid_size", "known_cluster_size", "workgroup_attributions",
        "workgroup_attrib_attrs", "private_attrib_attrs",
    )
)  # fmt: skip
ALIGNMENT: Final = 16
"""The alignment of buffers, that of the widest access."""
NOTHING: Final = DictionaryAttr(())
MAP_PARAMETER: Final[dict[str, Attribute]] = {
    ALIGN: IntegerAttr(64, I64),
    BYVAL: TypeAttr(ArrayType(128, I8)),
    GRID_CONSTANT: UNIT,
}
"""Attributes of a tensor map parameter: TMA reads it from the parameter space."""
DYNAMIC_SHARED: Final = "__dynamic_shmem__"
DYNAMIC_SIZE: Final = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"


@converts(GPUFuncOp)
def function(op: GPUFuncOp, new: GPUFuncOp, build: ConversionBuilder) -> Result:
    """Lower `gpu.func` to `llvm.func`, with the kernel attributes of NVVM."""
    type = function_type(op.signature, build)
    if type is None:
        return build.reject(f"expected types that convert to LLVM, got '{op.signature}'")
    if op.kernel and not _has_whole_warps(op.known_block_size):
        return build.reject(
            f"expected a block size in multiples of {WARP_SIZE}, got {op.known_block_size}"
        )
    if any(problem for number in _alignments(op) for problem in alignment_problems(number)):
        return build.reject("expected alignments of buffers that are powers of two up to 2**30")
    start = None
    if op.workgroup_buffers or op.private_buffers:
        start = Block(type.inputs, [op.location] * len(type.inputs))
    made = build.create(
        FuncOp,
        sym_name=op.sym_name,
        type_attr=TypeAttr(type),
        arg_attrs=argument_attributes(_argument_attributes(op), op.signature.inputs, build),
        body=start,
    )
    _mark_kernel(op, made)
    if start is None:
        build.convert_region(op.body, made.body)
        return made
    # The buffers are allocated in an entry block of their own, which branches to the body.
    with build.at(InsertPoint.at_end(start)):
        buffers = _buffers(op, build)
    body = build.convert_region(op.body, made.body)
    with build.at(InsertPoint.at_end(start)):
        build.create(BrOp, arguments=[*start.args, *buffers], successors=[body[0]])
    return made


def _has_whole_warps(size: Sequence[int] | None) -> bool:
    """Return whether the block size is a multiple of the warp size, as `bar.sync` requires."""
    if size is None:
        return True
    x, y, z = size
    return x * y * z % WARP_SIZE == 0


def _argument_attributes(op: GPUFuncOp) -> Sequence[Attribute] | None:
    """Return the argument attributes; tensor maps are passed to a kernel by value."""
    maps = [isinstance(type, TensorMapDescriptorType) for type in op.signature.inputs]
    if not op.kernel or not any(maps):
        return op.arg_attrs
    attributes = op.arg_attrs or [NOTHING] * len(maps)
    return [
        _map_parameter(each) if is_map else each
        for each, is_map in zip(attributes, maps, strict=True)
    ]


def _map_parameter(attribute: Attribute) -> DictionaryAttr:
    entries = dict(attribute.entries) if isinstance(attribute, DictionaryAttr) else {}
    return DictionaryAttr(MAP_PARAMETER | entries)


def _mark_kernel(op: GPUFuncOp, made: FuncOp) -> None:
    carry_over(op, made, _INHERENT)
    if not op.kernel:
        return
    made.attributes[KERNEL] = UNIT
    if op.known_block_size is not None:
        made.attributes[REQNTID] = DenseArrayAttr(I32, op.known_block_size)
    if op.known_cluster_size is not None:
        made.attributes[CLUSTER_DIM] = DenseArrayAttr(I32, op.known_cluster_size)


def _buffers(op: GPUFuncOp, build: ConversionBuilder) -> list[Value]:
    """Allocate the workgroup and then the private buffers, and return their addresses."""
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
    """Return the alignment of each workgroup buffer; `llvm.align` can raise it."""
    attributes = op.workgroup_attrib_attrs or [NOTHING] * len(op.workgroup_buffers)
    alignments = [
        each.get(ALIGN) if isinstance(each, DictionaryAttr) else None for each in attributes
    ]
    return [
        max(ALIGNMENT, alignment.value) if isinstance(alignment, IntegerAttr) else ALIGNMENT
        for alignment in alignments
    ]


@converts(ReturnOp)
def return_(op: ReturnOp, new: ReturnOp, build: ConversionBuilder) -> Result:
    """Lower `gpu.return` to `llvm.return`."""
    return return_values(new.values, build)


@converts(DynamicSharedMemoryOp)
def dynamic_shared(
    op: DynamicSharedMemoryOp, new: DynamicSharedMemoryOp, build: ConversionBuilder
) -> Result:
    """Lower to the address of one external shared array, and its size at launch."""
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
    """Call `vprintf` with the format and the address of the promoted arguments."""
    symbols = Symbols(op, build)
    text = symbols.text("printf_format", op.format)
    arguments = [_promoted(build, value) for value in new.args]
    packed = StructType(tuple([value.type for value in arguments]))
    buffer = stack_memory(build, 1, packed)
    for index, value in enumerate(arguments):
        address = build.create(GEPOp, base=buffer, constants=[0, index], element=packed).res
        build.create(StoreOp, value=value, addr=address)
    symbols.call("vprintf", [text, buffer], I32)
    return ()


def _promoted(build: ConversionBuilder, value: Value) -> Value:
    """Apply C's default argument promotions."""
    if isinstance(value.type, FloatType) and value.type is not F64:
        return build.create(FPExtOp, arg=value, types=[F64]).res
    if isinstance(value.type, IntegerType) and value.type.width < I32.width:
        return build.create(ZExtOp, arg=value, types=[I32]).res
    return value


PATTERNS: Final[Patterns] = (function, return_, dynamic_shared, printf)
