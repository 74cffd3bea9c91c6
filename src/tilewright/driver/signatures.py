"""Kernel signatures: parameter types, assumptions on them, and which pointers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile import attributes as cuda_tile
from tilewright.dialects.cuda_tile import memory as cuda_tile_memory
from tilewright.dialects.cuda_tile import misc as cuda_tile_misc
from tilewright.dialects.cuda_tile import tile_types
from tilewright.dialects.cuda_tile import view as cuda_tile_view
from tilewright.dialects.cuda_tile.multimem import MultimemLoadReduceViewTkoOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cute_nvgpu.map_parameters import map_parameters
from tilewright.dialects.gpu.structure import GPUFuncOp
from tilewright.dialects.llvm import functions as llvm
from tilewright.dialects.llvm.types import PointerType
from tilewright.dialects.nv_tileaa import memory as nv_tileaa_memory
from tilewright.dialects.nv_tileaa import misc as nv_tileaa_misc
from tilewright.dialects.nv_tileaa import predicates as nv_tileaa
from tilewright.dialects.nv_tileaa import types as nv_tileaa_types
from tilewright.dialects.nv_tileaa import view as nv_tileaa_view
from tilewright.dialects.nv_tileaa.multimem import MultimemLoadReduceOp
from tilewright.driver.kernel_isolation import keep_kernel
from tilewright.ir.effects import is_effect_free, may_write
from tilewright.ir.types import TF32, FloatType, IndexType, IntegerType, TensorType
from tilewright.reference.launch import find_entry
from tilewright.reference.programs import kernels
from tilewright.runtime.signature import Parameter, Signature
from tilewright.support.diagnostics import InvalidValue, Unsupported, fail
from tilewright.support.kernel_names import choose_kernel
from tilewright.support.tensor_map_parameters import PARAMETERS_PER_MAP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.reference.programs import Kernel

    AnyKernel = Kernel | GPUFuncOp | llvm.FuncOp

_TILES: Final = (tile_types.TileType, TensorType)
_POINTERS: Final = (tile_types.PtrType, nv_tileaa_types.PtrType)
_LOADS: Final = (
    cuda_tile_memory.LoadPtrTkoOp,
    cuda_tile_view.LoadViewTkoOp,
    nv_tileaa_memory.LoadOp,
    nv_tileaa_view.TileLoadOp,
    MultimemLoadReduceViewTkoOp,
    MultimemLoadReduceOp,
)
_ASSUMPTIONS: Final = (cuda_tile_misc.AssumeOp, nv_tileaa_misc.AssumeOp)


def signature_of(program: Operation, name: str | None) -> Signature:
    """Return the signature of a kernel by its symbol or C++ name, or of the only kernel."""
    candidates = {kernel.sym_name: kernel for kernel in kernels_of(program)}
    try:
        chosen = choose_kernel(list(candidates), name)
    except InvalidValue as error:
        fail(str(error), program.location)
    return _signature(candidates[chosen])


def isolate_kernel(program: Operation, entry: str | None) -> Operation:
    """Clone a program with a single kernel, so that the others are not compiled."""
    return keep_kernel(program, find_entry(program, entry).sym_name)


def kernels_of(program: Operation) -> list[AnyKernel]:
    """Collect the kernels of a program, at any level."""
    lower = [op for op in program.walk() if isinstance(op, GPUFuncOp | llvm.FuncOp)]
    return [
        *kernels(program),
        *(op for op in lower if (op.kernel if isinstance(op, GPUFuncOp) else op.is_kernel)),
    ]


def _signature(kernel: AnyKernel) -> Signature:
    name = kernel.sym_name
    parameters = [
        _parameter(argument, f"argument {index} of '@{name}'", kernel)
        for index, argument in enumerate(_arguments(kernel))
    ]
    if isinstance(kernel, EntryOp):
        for number, predicate in kernel.assumptions():
            _add_assumption(parameters[number], predicate)
    return Signature(name, parameters, kernel.location)


def _arguments(kernel: AnyKernel) -> Sequence[Value]:
    """The arguments of a kernel, without the tensor maps that its launcher passes after them."""
    if not isinstance(kernel, GPUFuncOp | llvm.FuncOp):
        return kernel.body.block.args
    arguments = kernel.arguments
    return arguments[: len(arguments) - PARAMETERS_PER_MAP * len(map_parameters(kernel))]


def _parameter(value: Value, what: str, kernel: AnyKernel) -> Parameter:
    spelling = str(value.type)
    held = value.type.element if isinstance(value.type, _TILES) else value.type
    if isinstance(value.type, _TILES) and value.type.shape:
        raise Unsupported(f"{what}: arguments of type '{spelling}'", kernel.location)
    is_pointer = isinstance(held, (*_POINTERS, PointerType))
    element = held.pointee if isinstance(held, _POINTERS) else held
    pointee = None if isinstance(element, PointerType) else element
    made = Parameter(
        what,
        spelling,
        None if pointee is None else pointee.spell(),
        0 if pointee is None else _bits(pointee, what, kernel),
        is_pointer=is_pointer,
        location=kernel.location,
    )
    for predicate in _assumptions(value):
        _add_assumption(made, predicate)
    made.is_written = is_pointer and _is_written(value)
    return made


def _bits(element: Type, what: str, kernel: AnyKernel) -> int:
    if element is TF32:
        return 32  # its storage size
    if isinstance(element, IntegerType | FloatType | IndexType):
        return element.width
    raise Unsupported(f"{what}: arguments of type '{element}'", kernel.location)


def _assumptions(value: Value) -> Iterator[object]:
    """Yield the predicates of all `assume` operations on a value."""
    for user in value.users:
        if isinstance(user, _ASSUMPTIONS):
            yield user.predicate
            yield from _assumptions(user.result)


def _add_assumption(parameter: Parameter, predicate: object) -> None:
    match predicate:
        case cuda_tile.DivByAttr() | nv_tileaa.DivByAttr() if predicate.every is None:
            parameter.divisor = max(parameter.divisor, predicate.divisor)
        case cuda_tile.BoundedAttr() | nv_tileaa.BoundedAttr():
            lower, upper = predicate.lower, predicate.upper
            if lower is not None:
                parameter.lower = lower if parameter.lower is None else max(parameter.lower, lower)
            if upper is not None:
                parameter.upper = upper if parameter.upper is None else min(parameter.upper, upper)
        case _:
            pass


def _is_written(argument: Value) -> bool:
    """Whether a kernel may write through a pointer or through a value derived from it."""
    seen, waiting = {argument}, [argument]
    while waiting:
        value = waiting.pop()
        for user in value.users:
            if user.is_terminator or user.regions:
                derived = _carried(value, user)
            elif isinstance(user, _LOADS):
                derived = ()
            elif isinstance(user, _ASSUMPTIONS):
                derived = user.results
            elif may_write(user):
                return True
            else:
                derived = user.results if is_effect_free(user) else ()
            new = [each for each in derived if each not in seen]
            seen.update(new)
            waiting += new
    return False


def _carried(value: Value, user: Operation) -> Iterator[Value]:
    """Yield the results and block arguments that may carry a value through control flow."""
    op = user if user.regions else user.parent_op
    if op is None:
        return
    inside = (
        argument for region in op.regions for block in region.blocks for argument in block.args
    )
    for each in (*op.results, *inside):
        if each.type is value.type:
            yield each
