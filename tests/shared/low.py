"""The target dialect of conversion tests, and the conversion from `toy` to it."""

from __future__ import annotations

import toy

from tilewright.ir import declare as d
from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.conversion import mirror
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.traits import TERMINATOR, Effects
from tilewright.ir.type_converter import TypeConverter, Types
from tilewright.ir.types import F32, I32, I64, IntegerType, NoneType, TupleType
from tilewright.ir.values import Value
from tilewright.support.location import FileLoc

HERE = FileLoc("k", 3, 5)
PAIR = TupleType((I32, F32))
NONE = NoneType()


class LowAddOp(toy.BinaryOp):
    name = "low.add"
    effects = Effects.PURE


class LowConstantOp(Operation):
    name = "low.constant"
    effects = Effects.PURE
    result = d.result(ANY_TYPE)


class LowUseOp(Operation):
    name = "low.use"
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class LowCallOp(Operation):
    name = "low.call"
    callee = d.operand(ANY_TYPE)
    arguments = d.operands(ANY_TYPE)
    extra = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


class LowBranchOp(Operation):
    name = "low.br"
    traits = (TERMINATOR,)
    inputs = d.operands(ANY_TYPE)


class LowCondBranchOp(Operation):
    name = "low.cond_br"
    traits = (TERMINATOR,)
    condition = d.operand(ANY_TYPE)


class CastOp(Operation):
    name = "cast.cast"
    effects = Effects.PURE
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)


def cast(build: Builder, types: Types, values: tuple[Value, ...]) -> Operation:
    return build.insert(CastOp(values, types))


STRUCTURE = (toy.ModuleOp, toy.FuncOp, toy.ReturnOp, toy.YieldOp, toy.LoopOp, toy.IfOp)
LOW = ConversionTarget(legal=("low", *STRUCTURE), illegal=("toy",))


def wide() -> TypeConverter:
    """Convert i32 to i64, tuples to their elements, `none` to no type."""
    types = TypeConverter()
    types.keep(Type)
    types.add(IntegerType, lambda t: I64 if t is I32 else t)
    types.add(TupleType, lambda t: types.convert_all(t.elements))
    types.add(NoneType, lambda t: ())
    return types


def cast_both_ways(types: TypeConverter) -> TypeConverter:
    """Let casts bridge the types of a converter, where nothing added later does."""
    types.add_source(cast)
    types.add_target(cast)
    return types


TO_LOW = mirror(
    {toy.AddOp: LowAddOp, toy.UseOp: LowUseOp, toy.CallOp: LowCallOp, toy.ConstantOp: LowConstantOp}
)


def contents(op: Operation) -> list[str]:
    return [
        f"{o.name} {' '.join(str(v.type) for v in (*o.operands, *o.results))}" for o in op.walk()
    ]
