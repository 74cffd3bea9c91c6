"""memref to LLVM: addresses, accesses, allocations, views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.buffers import Buffer, memory_type, offset_address
from tilewright.conversion.nvgpu_to_nvvm.numbers import Number, add, as_value, constant, dot, mul
from tilewright.conversion.nvgpu_to_nvvm.types import space_of
from tilewright.conversion.symbols import SHARED
from tilewright.dialects.arith.attributes import AtomicRMWKind
from tilewright.dialects.llvm import memory
from tilewright.dialects.llvm.attributes import AtomicBinOp, AtomicOrdering, Linkage
from tilewright.dialects.llvm.constants import AddressOfOp
from tilewright.dialects.llvm.conversion import AddrSpaceCastOp, PtrToIntOp
from tilewright.dialects.llvm.globals import GlobalOp as LLVMGlobalOp
from tilewright.dialects.llvm.types import PTR, ArrayType, PointerType
from tilewright.dialects.memref import access, allocation, views
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import DYNAMIC, I8, I64, MemRefType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value


def extent_of(type: MemRefType) -> int:
    """Return the number of elements of a memref of static shape."""
    count = 1
    for extent in type.shape or ():
        count *= extent
    return count


def memref_type(value: Value) -> MemRefType:
    """Return the type of a value that is a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type


@converts(access.LoadOp)
def load(op: access.LoadOp, new: access.LoadOp, build: ConversionBuilder) -> Result:
    """Lower `memref.load` to `llvm.load`."""
    buffer = Buffer.of(op.memref, build)
    return build.create(
        memory.LoadOp,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment,
        nontemporal=op.nontemporal,
        types=[buffer.element],
    )


@converts(access.StoreOp)
def store(op: access.StoreOp, new: access.StoreOp, build: ConversionBuilder) -> Result:
    """Lower `memref.store` to `llvm.store`."""
    buffer = Buffer.of(op.memref, build)
    return build.create(
        memory.StoreOp,
        value=new.value,
        addr=buffer.element_address(new.indices, build),
        alignment=op.alignment,
        nontemporal=op.nontemporal,
    )


_ATOMICS: Final = {
    AtomicRMWKind.ADDF: AtomicBinOp.FADD,
    AtomicRMWKind.ADDI: AtomicBinOp.ADD,
    AtomicRMWKind.ASSIGN: AtomicBinOp.XCHG,
    AtomicRMWKind.MAXS: AtomicBinOp.MAX,
    AtomicRMWKind.MAXU: AtomicBinOp.UMAX,
    AtomicRMWKind.MINS: AtomicBinOp.MIN,
    AtomicRMWKind.MINU: AtomicBinOp.UMIN,
    AtomicRMWKind.ORI: AtomicBinOp.OR,
    AtomicRMWKind.ANDI: AtomicBinOp.AND,
    AtomicRMWKind.XORI: AtomicBinOp.XOR,
}


@converts(access.AtomicRMWOp)
def atomic(op: access.AtomicRMWOp, new: access.AtomicRMWOp, build: ConversionBuilder) -> Result:
    """Lower `memref.atomic_rmw` to `llvm.atomicrmw`."""
    kind = _ATOMICS.get(op.kind)
    if kind is None:
        return build.reject(f"expected an atomic operation of LLVM, got '{op.kind.keyword}'")
    buffer = Buffer.of(op.memref, build)
    address = buffer.element_address(new.indices, build)
    return build.create(
        memory.AtomicRMWOp,
        bin_op=kind,
        ptr=address,
        val=new.value,
        ordering=AtomicOrdering.ACQ_REL,
    )


@converts(access.DimOp)
def dim(op: access.DimOp, new: access.DimOp, build: ConversionBuilder) -> Result:
    """Lower `memref.dim` of a constant dimension."""
    index = op.index.defining_op()
    number = getattr(getattr(index, "value", None), "value", None)
    sizes = Buffer.of(op.source, build).sizes
    if not isinstance(number, int) or not 0 <= number < len(sizes):
        return build.reject("expected a constant dimension within the rank of the memref")
    return as_value(build, sizes[number])


@converts(access.ExtractAlignedPointerAsIndexOp)
def address(
    op: access.ExtractAlignedPointerAsIndexOp,
    new: access.ExtractAlignedPointerAsIndexOp,
    build: ConversionBuilder,
) -> Result:
    """Lower to the aligned address as an integer, without the offset."""
    return build.create(PtrToIntOp, arg=build.values(op.source)[0], types=[I64])


def stack_memory(
    build: ConversionBuilder, count: int, element: Type, alignment: int | None = None
) -> Value:
    """Allocate local memory in the entry block, so that loops do not allocate again."""
    function = build.point.block.parent
    assert function is not None
    with build.at(InsertPoint.at_start(function.blocks[0])):
        size = constant(build, count)
        return build.create(
            memory.AllocaOp, size=size, element=element, alignment=alignment, types=[PTR]
        ).res


@converts(allocation.AllocaOp)
def alloca(op: allocation.AllocaOp, new: allocation.AllocaOp, build: ConversionBuilder) -> Result:
    """Lower `memref.alloca` to `llvm.alloca`."""
    type = memref_type(op.result)
    if type.layout is not None or space_of(type.space) != 0 or op.dynamic_sizes:
        return build.reject(f"expected a private memref of static shape, got '{type}'")
    return stack_memory(build, extent_of(type), memory_type(type), op.alignment)


def array_type(type: MemRefType) -> ArrayType:
    """Return the array type of a contiguous memref of static shape."""
    return ArrayType(extent_of(type), memory_type(type))


@converts(allocation.GlobalOp)
def global_(op: allocation.GlobalOp, new: allocation.GlobalOp, build: ConversionBuilder) -> Result:
    """Lower `memref.global` to `llvm.mlir.global`."""
    type = op.type
    space = space_of(type.space) if isinstance(type, MemRefType) else None
    if not isinstance(type, MemRefType) or space is None or type.layout is not None:
        return build.reject(
            f"expected a memref without a layout in a known memory space, got '{type}'"
        )
    value: Attribute | None = op.initial_value
    array = array_type(type)
    if isinstance(value, DenseElementsAttr):
        value = DenseElementsAttr(value.data, VectorType((array.extent,), array.element))
    else:
        value = None
    linkage = Linkage.EXTERNAL
    if op.initial_value is not None and (op.sym_visibility == "private" or space == SHARED):
        linkage = Linkage.INTERNAL
    elif op.initial_value is not None and value is None:
        linkage = Linkage.WEAK
    build.create(
        LLVMGlobalOp,
        sym_name=op.sym_name,
        type=array,
        value=value,
        constant=op.constant,
        alignment=op.alignment,
        address_space=space,
        linkage=linkage,
    )
    return ()


@converts(allocation.GetGlobalOp)
def get_global(
    op: allocation.GetGlobalOp, new: allocation.GetGlobalOp, build: ConversionBuilder
) -> Result:
    """Lower `memref.get_global` to `llvm.mlir.addressof`."""
    space = space_of(memref_type(op.result).space)
    if space is None:
        return build.reject(f"expected a known memory space, got '{op.result.type}'")
    return build.create(AddressOfOp, symbol=op.symbol, types=[PointerType(space)])


@converts(views.CastOp)
def cast(op: views.CastOp, new: views.CastOp, build: ConversionBuilder) -> Result:
    """Lower `memref.cast`: static components become values, or dynamic ones are dropped."""
    if not isinstance(op.result.type, MemRefType) or op.result.type.shape is None:
        return build.reject(f"expected a ranked memref, got '{op.result.type}'")
    if memref_type(op.source).shape is None:
        return build.reject(f"expected a ranked memref, got '{op.source.type}'")
    return [Buffer.of(op.source, build).parts(op.result.type, build)]


@converts(views.MemorySpaceCastOp)
def space_cast(
    op: views.MemorySpaceCastOp, new: views.MemorySpaceCastOp, build: ConversionBuilder
) -> Result:
    """Lower `memref.memory_space_cast` to `llvm.addrspacecast`."""
    types = build.types.convert(op.result.type)
    if types is None:
        return build.reject(f"expected a memref type that converts to LLVM, got '{op.result.type}'")
    first, *rest = build.values(op.source)
    if first.type is not types[0]:
        first = build.create(AddrSpaceCastOp, arg=first, types=[types[0]]).res
    return [[first, *rest]]


def mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[Number]:
    """Merge static numbers with the operands of the dynamic ones, in order."""
    values: Iterator[Value] = iter(dynamic)
    return [next(values) if number == DYNAMIC else number for number in static]


@converts(views.SubViewOp)
def subview(op: views.SubViewOp, new: views.SubViewOp, build: ConversionBuilder) -> Result:
    """Lower `memref.subview`: compose offsets and strides, drop unit dimensions."""
    source = Buffer.of(op.source, build)
    offsets = mixed(op.static_offsets, new.offsets)
    sizes = mixed(op.static_sizes, new.sizes)
    steps = mixed(op.static_strides, new.strides)
    kept = _kept_dimensions(op)
    if kept is None:
        return build.reject("expected a result whose dropped dimensions are known")
    start = dot(build, source.offset, zip(offsets, source.strides, strict=True))
    part = Buffer(
        source.address,
        start,
        [sizes[d] for d in kept],
        [mul(build, steps[d], source.strides[d]) for d in kept],
        source.element,
    )
    return [part.parts(memref_type(op.result), build)]


def _kept_dimensions(op: views.SubViewOp) -> list[int] | None:
    """Return the dimensions of a subview that its rank-reduced type keeps, or `None`.

    The search is from the last dimension, so that of several matches the last is kept.
    """
    remaining = list(memref_type(op.result).shape or ())
    kept: list[int] = []
    for dimension in reversed(range(len(op.static_sizes))):
        size = op.static_sizes[dimension]
        if remaining and remaining[-1] == size:
            remaining.pop()
            kept.insert(0, dimension)
        elif size != 1:
            return None
    return None if remaining else kept


@converts(views.ReinterpretCastOp)
def reinterpret(
    op: views.ReinterpretCastOp, new: views.ReinterpretCastOp, build: ConversionBuilder
) -> Result:
    """Lower `memref.reinterpret_cast`: the address with new offset, sizes and strides."""
    type = memref_type(op.result)
    buffer = Buffer(
        build.values(op.source)[0],
        mixed(op.static_offsets, new.offsets)[0],
        mixed(op.static_sizes, new.sizes),
        mixed(op.static_strides, new.strides),
        memory_type(type),
    )
    return [buffer.parts(type, build)]


@converts(views.ViewOp)
def view(op: views.ViewOp, new: views.ViewOp, build: ConversionBuilder) -> Result:
    """Lower `memref.view`: contiguous elements in a byte buffer."""
    type = memref_type(op.result)
    bytes = Buffer.of(op.source, build)
    start = offset_address(bytes.address, add(build, bytes.offset, new.byte_shift), I8, build)
    sizes = mixed(type.shape or (), new.sizes)
    strides: list[Number] = []
    step: Number = 1
    for extent in reversed(sizes):
        strides.insert(0, step)
        step = mul(build, step, extent)
    return [Buffer(start, 0, sizes, strides, memory_type(type)).parts(type, build)]


PATTERNS: Final[Patterns] = (
    load,
    store,
    atomic,
    dim,
    address,
    alloca,
    global_,
    get_global,
    cast,
    space_cast,
    subview,
    reinterpret,
    view,
)
