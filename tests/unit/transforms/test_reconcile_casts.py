"""Casts that cancel each other."""

from __future__ import annotations

import toy
from integrity import check_integrity

from tilewright.dialects.builtin import unrealized_cast
from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder
from tilewright.ir.conversion import convert, mirror
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import F32, I32, I64, IntegerType
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.transforms.generic.reconcile_casts import ReconcileUnrealizedCasts


def cast(build: Builder, types: list[Type], *values: Value) -> tuple[Value, ...]:
    return unrealized_cast(build, tuple(types), values).results


def reconcile(module: toy.ModuleOp) -> list[str]:
    ReconcileUnrealizedCasts().run(module, Sink())
    check_integrity(module)
    verify(module)
    return toy.names(module.body.block)


def test_inverse_casts_cancel() -> None:
    module, build = toy.module()
    x = toy.source(build, I32)
    (there,) = cast(build, [I64], x)
    (further,) = cast(build, [F32], there)
    (back,) = cast(build, [I32], further)
    user = toy.use(build, back)
    assert reconcile(module) == ["use", "use"]
    assert user.operands == (x,)


def test_casts_of_several_values_cancel_together() -> None:
    module, build = toy.module()
    x = toy.source(build, I64)
    low, high = cast(build, [I32, F32], x)
    (back,) = cast(build, [I64], low, high)
    user = toy.use(build, back)
    assert reconcile(module) == ["use", "use"]
    assert user.operands == (x,)


def test_casts_that_end_elsewhere_stay() -> None:
    module, build = toy.module()
    x = toy.source(build, I64)
    low, high = cast(build, [I32, F32], x)
    (swapped,) = cast(build, [I64], high, low)
    (other,) = cast(build, [F32], x)
    toy.use(build, swapped, other)
    assert reconcile(module) == ["use"] + ["unrealized_conversion_cast"] * 3 + ["use"]


def test_unused_casts_vanish() -> None:
    module, build = toy.module()
    cast(build, [I64], toy.source(build, I32))
    assert reconcile(module) == ["use"]


def test_two_partial_conversions_leave_no_cast() -> None:
    types = TypeConverter()
    types.keep(Type)
    types.add(IntegerType, lambda t: I64)
    types.add_source(unrealized_cast)
    types.add_target(unrealized_cast)
    module, build = toy.module()
    x = toy.source(build, I32)
    toy.use(build, toy.add(build, x, x))
    for kind in (toy.AddOp, toy.UseOp):
        target = ConversionTarget(dynamic={kind: types.is_legal})
        patterns = mirror({kind: kind})
        assert convert(module, target, patterns, types, partial=True)
        verify(module)
    assert "unrealized_conversion_cast" in toy.names(module.body.block)
    assert reconcile(module) == ["use", "add", "use"]
    assert all(value.type is I64 for op in module.body.block for value in op.results)
