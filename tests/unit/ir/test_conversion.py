"""Conversion: targets, patterns, types, and the IR after a failure."""

from __future__ import annotations

import pytest
import toy
from integrity import check_integrity
from low import (
    HERE,
    LOW,
    NONE,
    PAIR,
    TO_LOW,
    CastOp,
    LowAddOp,
    LowCallOp,
    LowUseOp,
    cast_both_ways,
    contents,
    wide,
)

from tilewright.ir.attributes import Type
from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts, mirror
from tilewright.ir.equivalence import equivalent
from tilewright.ir.legality import ConversionTarget, Legality
from tilewright.ir.operation import UnregisteredOp
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import F32, I32, I64, INDEX, IntegerType
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import InternalError, Sink, UserError


def test_targets_prefer_the_legality_of_the_operation() -> None:
    target = ConversionTarget(
        legal=("low", toy.AddOp, "other.op"),
        illegal=("toy", LowUseOp),
        dynamic={toy.ConstantOp: lambda op: op.value == 1 or None},
    )
    _, build = toy.module()
    one, two = toy.constant(build, 1), toy.constant(build, 2)
    assert target.legality(build.create(toy.AddOp, lhs=one, rhs=one)) is Legality.LEGAL
    assert target.legality(toy.use(build)) is Legality.ILLEGAL
    assert target.legality(LowUseOp()) is Legality.ILLEGAL
    assert target.legality(LowAddOp()) is Legality.LEGAL
    assert target.legality(UnregisteredOp("other.op")) is Legality.LEGAL
    assert target.legality(UnregisteredOp("other.not")) is Legality.UNKNOWN
    first, second = one.defining_op(), two.defining_op()
    assert first is not None
    assert second is not None
    assert target.legality(first) is Legality.LEGAL
    assert target.legality(second) is Legality.UNKNOWN


def test_a_full_conversion_changes_operations_and_types() -> None:
    module, build = toy.module()
    build.location = HERE
    one = toy.constant(build, 1)
    toy.use(build, toy.add(build, one, one))
    assert convert(module, LOW, TO_LOW, wide())
    assert contents(module) == [
        "toy.module ",
        "low.constant i64",
        "low.add i64 i64 i64",
        "low.use i64",
    ]
    assert all(op.location is HERE for op in module.body.block)
    check_integrity(module)
    verify(module)


def test_a_failure_names_every_operation_and_changes_nothing() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    build.location = HERE
    bad = build.create(toy.LoadOp, address=one, types=[I32])
    build.create(toy.StoreOp, value=bad.result, address=toy.add(build, one, one))
    before = module.clone()
    ops = list(module.walk())
    with pytest.raises(UserError) as caught:
        convert(module, LOW, TO_LOW, wide())
    assert str(caught.value).splitlines() == [
        "k:3:5: error: failed to legalize operation 'toy.load' that was marked illegal",
        "k:3:5: error: failed to legalize operation 'toy.store' that was marked illegal",
    ]
    assert list(module.walk()) == ops
    assert equivalent(module, before, locations=True)
    check_integrity(module)


def test_a_sink_collects_the_errors() -> None:
    module, build = toy.module()
    toy.use(build)
    sink = Sink()
    assert not convert(module, LOW, (), sink=sink)
    assert len(sink.diagnostics) == 1
    assert convert(module, LOW, TO_LOW, sink=sink)


def test_a_full_conversion_takes_nothing_unknown() -> None:
    module, build = toy.module()
    build.insert(UnregisteredOp("other.op"))
    target = ConversionTarget(legal=("low",))
    assert convert(module, target, (), partial=True)
    with pytest.raises(UserError, match=r"failed to legalize operation 'other.op'$"):
        convert(module, target, ())


def test_reasons_of_patterns_become_notes() -> None:
    @converts(toy.UseOp)
    def first(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        return build.reject("expected three operands, got none")

    @converts(toy.UseOp)
    def second(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        return None

    module, build = toy.module()
    toy.use(build)
    with pytest.raises(UserError) as caught:
        convert(module, LOW, (first, second))
    notes = caught.value.diagnostics[0].notes
    assert [n.message for n in notes] == ["expected three operands, got none"]


def test_types_that_cannot_be_converted_are_a_reason() -> None:
    types = TypeConverter()
    types.keep(IntegerType)
    module, build = toy.module()
    body, inside = toy.block_of([INDEX])
    toy.use(inside, body.args[0])
    inside.create(toy.YieldOp)
    build.create(toy.LoopOp, body=body, types=[])
    with pytest.raises(UserError) as caught:
        convert(module, LOW, TO_LOW, types)
    assert [n.message for n in caught.value.diagnostics[0].notes] == ["cannot convert type 'index'"]


def test_patterns_are_tried_in_order_and_leave_no_operations() -> None:
    @converts(toy.UseOp)
    def gives_up(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        build.create(LowUseOp, inputs=new.inputs, types=[F32])
        build.add_block()
        return None

    entry, build = toy.block_of()
    toy.use(build, toy.constant(build, 1))
    build.create(toy.ReturnOp)
    func = toy.func("f", entry)
    assert convert(func, LOW, (gives_up, *TO_LOW), wide())
    assert contents(func) == ["toy.func ", "low.constant i64", "low.use i64", "toy.return "]
    assert len(func.body.blocks) == 1
    check_integrity(func)


def test_patterns_see_the_old_program_as_it_was() -> None:
    seen: list[tuple[Type, bool]] = []

    @converts(toy.UseOp)
    def look(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        seen.append((op.inputs[0].type, op.inputs[0].defined_by(toy.ConstantOp) is not None))
        assert new.inputs[0].type is I64
        assert build.value(op.inputs[0]) is new.inputs[0]
        return build.create(LowUseOp, inputs=new.inputs, types=[])

    module, build = toy.module()
    toy.use(build, toy.constant(build, 1))
    convert(module, LOW, (look, *TO_LOW), wide())
    assert seen == [(I32, True)]


def test_regions_convert_with_their_arguments() -> None:
    module, build = toy.module()
    body, inside = toy.block_of()
    argument = body.add_argument(I32, HERE)
    inside.create(toy.YieldOp, inputs=[toy.add(inside, argument, argument)])
    loop = build.create(toy.LoopOp, inits=[toy.constant(build, 1)], body=body, types=[I32])
    toy.use(build, loop.results[0])
    types = wide()
    structural = mirror({toy.LoopOp: toy.LoopOp, toy.YieldOp: toy.YieldOp})
    target = ConversionTarget(
        legal=("low",),
        illegal=("toy",),
        dynamic=dict.fromkeys([toy.LoopOp, toy.YieldOp], types.is_legal),
    )
    assert convert(module, target, (*TO_LOW, *structural), types)
    assert contents(module) == [
        "toy.module ",
        "low.constant i64",
        "toy.loop i64 i64",
        "low.add i64 i64 i64",
        "toy.yield i64",
        "low.use i64",
    ]
    converted = module.body.block.first
    assert converted is not None
    loop_now = converted.next
    assert isinstance(loop_now, toy.LoopOp)
    assert loop_now.body.block.args[0].location is HERE
    verify(module)
    check_integrity(module)


def test_a_value_may_become_several_or_none() -> None:
    module, build = toy.module()
    pair, nothing, one = (toy.source(build, t) for t in (PAIR, NONE, I32))
    build.create(toy.CallOp, callee=one, arguments=[pair, nothing, one], extra=one, types=[PAIR])
    body, inside = toy.block_of([PAIR, NONE])
    inside.create(toy.YieldOp, inputs=[*body.args])
    loop = build.create(toy.LoopOp, inits=[pair, nothing], body=body, types=[PAIR, NONE])
    toy.use(build, *loop.results)
    structural = mirror({toy.LoopOp: toy.LoopOp, toy.YieldOp: toy.YieldOp})
    target = ConversionTarget(
        legal=("low",), dynamic=dict.fromkeys(["toy.loop", "toy.yield"], wide().is_legal)
    )
    assert convert(module, target, (*TO_LOW, *structural), wide())
    assert contents(module) == [
        "toy.module ",
        "low.use i64 f32",
        "low.use ",
        "low.use i64",
        "low.call i64 i64 f32 i64 i64 i64 f32",
        "toy.loop i64 f32 i64 f32",
        "toy.yield i64 f32",
        "low.use i64 f32",
    ]
    call = list(module.body.block)[3]
    assert isinstance(call, LowCallOp)
    assert [len(group) for group in (call.arguments, call.extra)] == [3, 1]
    verify(module)
    check_integrity(module)


def test_several_values_for_one_operand_must_be_asked_for() -> None:
    @converts(toy.LoadOp)
    def load(op: toy.LoadOp, new: toy.LoadOp, build: ConversionBuilder) -> Result:
        low, high = build.values(new.address)
        assert (low, high) == build.values(op.address)
        return build.create(LowUseOp, inputs=[low, high], types=[I64])

    @converts(toy.LoadOp)
    def careless(op: toy.LoadOp, new: toy.LoadOp, build: ConversionBuilder) -> Result:
        return build.create(LowUseOp, inputs=[new.address], types=[I64])

    module, build = toy.module()
    build.create(toy.LoadOp, address=toy.source(build, PAIR), types=[I32])
    before = module.clone()
    message = r"a 'tuple<i32, f32>' that was converted to 2 values is used as one"
    with pytest.raises(InternalError, match=message):
        convert(module, LOW, (careless, *TO_LOW), wide())
    assert equivalent(module, before)
    check_integrity(module)
    assert convert(module, LOW, (load, *TO_LOW), wide())
    assert contents(module)[-1] == "low.use i64 f32 i64"


def test_kept_operations_get_their_types_back() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    added = toy.add(build, one, one)
    build.create(toy.StoreOp, value=added, address=added)
    back = toy.source(build, PAIR)
    build.create(toy.StoreOp, value=back, address=one)
    target = ConversionTarget(legal=("low", "cast", toy.StoreOp), illegal=("toy",))
    assert convert(module, target, TO_LOW, cast_both_ways(wide()))
    assert contents(module) == [
        "toy.module ",
        "low.constant i64",
        "low.add i64 i64 i64",
        "cast.cast i64 i32",
        "toy.store i32 i32",
        "low.use i64 f32",
        "cast.cast i64 f32 tuple<i32, f32>",
        "cast.cast i64 i32",
        "toy.store tuple<i32, f32> i32",
    ]
    verify(module)
    check_integrity(module)


def test_converted_operations_get_casts_from_kept_ones() -> None:
    module, build = toy.module()
    kept = build.create(toy.LoadOp, address=toy.constant(build, 1), types=[PAIR])
    toy.use(build, kept.result, kept.result)
    target = ConversionTarget(legal=("low", "cast", toy.LoadOp, toy.ConstantOp), illegal=("toy",))
    assert convert(module, target, TO_LOW, cast_both_ways(wide()))
    assert contents(module) == [
        "toy.module ",
        "toy.constant i32",
        "toy.load i32 tuple<i32, f32>",
        "cast.cast tuple<i32, f32> i64 f32",
        "low.use i64 f32 i64 f32",
    ]


def test_later_materialisations_go_first_and_without_any_it_fails() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    build.location = HERE
    build.create(toy.StoreOp, value=one, address=one)
    target = ConversionTarget(legal=("low", toy.StoreOp), illegal=("toy",))
    before = module.clone()
    with pytest.raises(UserError) as caught:
        convert(module, target, TO_LOW, wide())
    assert str(caught.value).splitlines()[0] == (
        "k:3:5: error: 'toy.store' op stays, but its operands change: "
        "no materialisation from 'i64' to 'i32'"
    )
    assert equivalent(module, before, locations=True)
    types = cast_both_ways(wide())
    types.add_source(lambda build, wanted, values: build.insert(LowUseOp(values, wanted)))
    assert convert(module, target, TO_LOW, types)
    assert contents(module)[2] == "low.use i64 i32"
    made = module.body.block.first
    assert made is not None
    assert made.next is not None
    assert made.next.location is HERE


def test_arguments_have_a_materialisation_of_their_own() -> None:
    types = wide()
    types.add_source(lambda build, wanted, values: build.insert(LowUseOp(values, wanted)))
    types.add_argument(lambda build, wanted, values: build.insert(CastOp(values, wanted)))
    body, inside = toy.block_of([I32])
    inside.create(toy.StoreOp, value=body.args[0], address=toy.constant(inside, 1))
    inside.create(toy.YieldOp)
    module, build = toy.module()
    build.create(toy.LoopOp, body=body, types=[])
    target = ConversionTarget(
        legal=("low", toy.StoreOp, toy.YieldOp), dynamic={toy.LoopOp: types.is_legal}
    )
    convert(module, target, (*TO_LOW, *mirror({toy.LoopOp: toy.LoopOp})), types)
    assert contents(module)[2:5] == ["low.constant i64", "cast.cast i64 i32", "low.use i64 i32"]


def test_created_operations_are_converted_again() -> None:
    @converts(toy.SubOp)
    def twice(op: toy.SubOp, new: toy.SubOp, build: ConversionBuilder) -> Result:
        added = build.create(toy.AddOp, lhs=new.lhs, rhs=new.rhs)
        return build.create(toy.AddOp, lhs=added.result, rhs=new.rhs)

    module, build = toy.module()
    build.location = HERE
    one = toy.constant(build, 1)
    toy.use(build, build.create(toy.SubOp, lhs=one, rhs=one).result)
    assert convert(module, LOW, (twice, *TO_LOW), wide())
    assert contents(module)[1:] == [
        "low.constant i64",
        "low.add i64 i64 i64",
        "low.add i64 i64 i64",
        "low.use i64",
    ]
    assert all(op.location is HERE for op in module.body.block)
    check_integrity(module)
    verify(module)


def test_types_may_change_at_every_step() -> None:
    @converts(toy.SubOp)
    def keep_type(op: toy.SubOp, new: toy.SubOp, build: ConversionBuilder) -> Result:
        made = build.insert(toy.UseOp([], [I32]))
        kept = build.insert(LowUseOp([made.results[0]], []))
        assert kept.parent is not None
        return made

    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, build.create(toy.SubOp, lhs=one, rhs=one).result)
    target = ConversionTarget(legal=("low", "cast"), illegal=("toy",))
    assert convert(module, target, (keep_type, *TO_LOW), cast_both_ways(wide()))
    assert contents(module)[1:] == [
        "low.constant i64",
        "low.use i64",
        "cast.cast i64 i32",
        "low.use i32",
        "low.use i64",
    ]
    check_integrity(module)
    verify(module)


def test_created_operations_must_become_legal() -> None:
    @converts(toy.UseOp)
    def to_store(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        return build.create(toy.StoreOp, value=new.inputs[0], address=new.inputs[0])

    module, build = toy.module()
    one = toy.constant(build, 1)
    build.location = HERE
    toy.use(build, one)
    with pytest.raises(UserError) as caught:
        convert(module, LOW, (to_store, *TO_LOW), wide())
    (error,) = caught.value.diagnostics
    assert error.message == "failed to legalize operation 'toy.store' that was marked illegal"
    assert [n.message for n in error.notes] == ["it was made for 'toy.use'"]
    assert toy.names(module.body.block) == ["constant", "use"]


def test_patterns_that_never_end_are_found_out() -> None:
    @converts(toy.UseOp)
    def again(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        return build.create(toy.UseOp, inputs=new.inputs, types=[])

    module, build = toy.module()
    toy.use(build)
    with pytest.raises(InternalError, match=r"patterns make 'toy.use' again and again"):
        convert(module, LOW, (again,))
    assert toy.names(module.body.block) == ["use"]


def test_results_must_be_accounted_for() -> None:
    @converts(toy.UseOp)
    def short(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        return ()

    module, build = toy.module()
    toy.use(build, types=[I32, I32])
    with pytest.raises(InternalError, match=r"'toy.use' converted to 0 values for 2 results"):
        convert(module, LOW, (short,))


def test_any_exception_leaves_the_input_alone() -> None:
    @converts(toy.UseOp)
    def broken(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        raise ZeroDivisionError

    module, build = toy.module()
    one = toy.constant(build, 1)
    body, inside = toy.block_of()
    inside.create(toy.UseOp, inputs=[toy.add(inside, one, one)], types=[])
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    before = module.clone()
    with pytest.raises(ZeroDivisionError):
        convert(module, LOW, (broken, *TO_LOW))
    with pytest.raises(ZeroDivisionError):
        convert(loop, LOW, (broken, *TO_LOW))
    assert equivalent(module, before, locations=True)
    check_integrity(module)


def test_values_from_outside_the_root_stay() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    body, inside = toy.block_of()
    toy.use(inside, toy.add(inside, one, one))
    inside.create(toy.YieldOp)
    loop = build.create(toy.LoopOp, body=body, types=[])
    assert convert(loop, LOW, TO_LOW)
    assert [op.name for op in loop.body.block] == ["low.add", "low.use", "toy.yield"]
    check_integrity(module)
    verify(module)


def test_a_target_reports_illegal_operations() -> None:
    module, build = toy.module()
    build.location = HERE
    toy.use(build)
    assert [str(problem) for problem in LOW.problems(module)] == [
        "k:3:5: error: 'toy.use' op is not legal here"
    ]
    convert(module, LOW, TO_LOW)
    assert list(LOW.problems(module)) == []
