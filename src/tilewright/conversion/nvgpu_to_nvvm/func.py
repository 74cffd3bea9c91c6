"""func to LLVM: functions that are called, their calls and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.func import CallOp, FuncOp, ReturnOp
from tilewright.dialects.llvm.aggregate import ExtractValueOp, InsertValueOp
from tilewright.dialects.llvm.attributes import Linkage
from tilewright.dialects.llvm.calls import CallOp as LLVMCallOp
from tilewright.dialects.llvm.constants import PoisonOp
from tilewright.dialects.llvm.control_flow import ReturnOp as LLVMReturnOp
from tilewright.dialects.llvm.functions import FuncOp as LLVMFuncOp
from tilewright.dialects.llvm.types import VOID, LLVMFunctionType, StructType
from tilewright.ir.attributes import ArrayAttr, DictionaryAttr, TypeAttr
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.types import FunctionType
    from tilewright.ir.values import Value

_SPELLED: Final = frozenset(
    ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
)


def returned(types: Sequence[Type]) -> Type:
    """What a function with these results returns: nothing, one value, or a struct."""
    if not types:
        return VOID
    return types[0] if len(types) == 1 else StructType(tuple(types))


def function_type(type: FunctionType, build: ConversionBuilder) -> LLVMFunctionType | None:
    """The type of a function; nothing if one of its types is not known to LLVM."""
    inputs = build.types.convert_all(type.inputs)
    results = build.types.convert_all(type.results)
    if inputs is None or results is None:
        return None
    return LLVMFunctionType(tuple(inputs), returned(results))


def argument_attributes(
    given: Sequence[Attribute] | None, types: Sequence[Type], build: ConversionBuilder
) -> ArrayAttr | None:
    """What is said of each argument, for the first of the values that it becomes."""
    if given is None:
        return None
    spread: list[Attribute] = []
    for attribute, type in zip(given, types, strict=True):
        parts = len(build.types.convert(type) or ())
        spread += [attribute, *[DictionaryAttr(())] * (parts - 1)][:parts]
    return ArrayAttr(tuple(spread))


def carry_over(op: Operation, made: Operation, spelled: frozenset[str]) -> None:
    """Keep the attributes that others have put on a function."""
    for name, value in op.attributes.items():
        if name not in spelled:
            made.attributes.setdefault(name, value)


@converts(FuncOp)
def function(op: FuncOp, new: FuncOp, build: ConversionBuilder) -> Result:
    """A function, or the declaration of one."""
    type = function_type(op.signature, build)
    if type is None:
        return build.reject(f"expected types that LLVM has, got '{op.signature}'")
    private = op.sym_visibility == "private" and op.body.blocks
    made = build.create(
        LLVMFuncOp,
        sym_name=op.sym_name,
        type_attr=TypeAttr(type),
        arg_attrs=argument_attributes(op.arg_attrs, op.signature.inputs, build),
        linkage=Linkage.INTERNAL if private else Linkage.EXTERNAL,
    )
    carry_over(op, made, _SPELLED)
    build.convert_region(op.body, made.body)
    return made


def leave(values: Sequence[Value], build: ConversionBuilder) -> Result:
    """Return values, several as one struct."""
    if len(values) < 2:
        return build.create(LLVMReturnOp, arg=values[0] if values else None)
    packed: Value = build.create(PoisonOp, types=[returned([v.type for v in values])]).res
    for place, value in enumerate(values):
        packed = build.create(InsertValueOp, container=packed, value=value, position=[place]).res
    return build.create(LLVMReturnOp, arg=packed)


@converts(ReturnOp)
def return_(op: ReturnOp, new: ReturnOp, build: ConversionBuilder) -> Result:
    """The end of a function."""
    return leave(new.values, build)


@converts(CallOp)
def call(op: CallOp, new: CallOp, build: ConversionBuilder) -> Result:
    """A call; of several results the parts of a struct."""
    groups = [build.types.convert(result.type) for result in op.results]
    types = [type for group in groups if group is not None for type in group]
    if None in groups:
        return build.reject("expected results of types that LLVM has")
    whole = [] if not types else [returned(types)]
    made = build.create(LLVMCallOp, callee=op.callee, args=new.arguments, types=whole)
    if len(types) < 2:
        return made
    parts = iter(
        [
            build.create(ExtractValueOp, container=made.results[0], position=[place]).res
            for place in range(len(types))
        ]
    )
    return [[next(parts) for _ in group or ()] for group in groups]


PATTERNS: Final[Patterns] = (function, return_, call)
