"""func to LLVM: functions, calls and returns."""

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

_INHERENT: Final = frozenset(
    ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
)


def return_type(types: Sequence[Type]) -> Type:
    """Return the LLVM return type for these results: void, a type, or a struct."""
    if not types:
        return VOID
    return types[0] if len(types) == 1 else StructType(tuple(types))


def function_type(type: FunctionType, build: ConversionBuilder) -> LLVMFunctionType | None:
    """Convert a function type, or return `None` if one of its types has no LLVM type."""
    inputs = build.types.convert_all(type.inputs)
    results = build.types.convert_all(type.results)
    if inputs is None or results is None:
        return None
    return LLVMFunctionType(tuple(inputs), return_type(results))


def argument_attributes(
    attributes: Sequence[Attribute] | None, types: Sequence[Type], build: ConversionBuilder
) -> ArrayAttr | None:
    """Attach the attributes of each argument to the first of its converted arguments."""
    if attributes is None:
        return None
    expanded: list[Attribute] = []
    for attribute, type in zip(attributes, types, strict=True):
        parts = len(build.types.convert(type) or ())
        expanded += [attribute, *[DictionaryAttr(())] * (parts - 1)][:parts]
    return ArrayAttr(tuple(expanded))


def carry_over(op: Operation, made: Operation, inherent: frozenset[str]) -> None:
    """Copy the discardable attributes of a function."""
    for name, value in op.attributes.items():
        if name not in inherent:
            made.attributes.setdefault(name, value)


@converts(FuncOp)
def function(op: FuncOp, new: FuncOp, build: ConversionBuilder) -> Result:
    """Lower `func.func` to `llvm.func`, a definition or a declaration."""
    type = function_type(op.signature, build)
    if type is None:
        return build.reject(f"expected types that convert to LLVM, got '{op.signature}'")
    private = op.sym_visibility == "private" and op.body.blocks
    made = build.create(
        LLVMFuncOp,
        sym_name=op.sym_name,
        type_attr=TypeAttr(type),
        arg_attrs=argument_attributes(op.arg_attrs, op.signature.inputs, build),
        linkage=Linkage.INTERNAL if private else Linkage.EXTERNAL,
    )
    carry_over(op, made, _INHERENT)
    build.convert_region(op.body, made.body)
    return made


def return_values(values: Sequence[Value], build: ConversionBuilder) -> Result:
    """Return values, packed in a struct if there are several."""
    if len(values) < 2:
        return build.create(LLVMReturnOp, arg=values[0] if values else None)
    packed: Value = build.create(PoisonOp, types=[return_type([v.type for v in values])]).res
    for index, value in enumerate(values):
        packed = build.create(InsertValueOp, container=packed, value=value, position=[index]).res
    return build.create(LLVMReturnOp, arg=packed)


@converts(ReturnOp)
def return_(op: ReturnOp, new: ReturnOp, build: ConversionBuilder) -> Result:
    """Lower `func.return` to `llvm.return`."""
    return return_values(new.values, build)


@converts(CallOp)
def call(op: CallOp, new: CallOp, build: ConversionBuilder) -> Result:
    """Lower `func.call` to `llvm.call`; unpack several results from a struct."""
    groups = [build.types.convert(result.type) for result in op.results]
    types = [type for group in groups if group is not None for type in group]
    if None in groups:
        return build.reject("expected result types that convert to LLVM")
    results = [] if not types else [return_type(types)]
    made = build.create(LLVMCallOp, callee=op.callee, args=new.arguments, types=results)
    if len(types) < 2:
        return made
    parts = iter(
        [
            build.create(ExtractValueOp, container=made.results[0], position=[index]).res
            for index in range(len(types))
        ]
    )
    return [[next(parts) for _ in group or ()] for group in groups]


PATTERNS: Final[Patterns] = (function, return_, call)
