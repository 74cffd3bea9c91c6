"""Conversions of random programs: they succeed as a whole or change nothing."""

from __future__ import annotations

import random

import toy
from hypothesis import given
from hypothesis import strategies as st
from integrity import check_integrity

from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder
from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts, mirror
from tilewright.ir.equivalence import equivalent
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Block
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import I1, I32, I64, IntegerType, TupleType
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.support.location import FileLoc, FusedLoc

PAIR = TupleType((I32, I32))


class Program:
    """Builds a random program with loops, branches and values of two types."""

    def __init__(self, seed: int, poison: bool) -> None:
        self.chance = random.Random(seed)
        self.poison = poison
        self.line = 0
        self.module, build = toy.module()
        self.block(build, [], 3)

    def random_location(self) -> FileLoc | FusedLoc:
        self.line += 1
        here = FileLoc("k", self.line, 1)
        return here if self.line % 3 else FusedLoc((here, FileLoc("other", 1, 1)))

    def block(self, build: Builder, visible: list[Value], levels: int) -> list[Value]:
        values = list(visible)
        for _ in range(self.chance.randrange(1, 7)):
            build.location = self.random_location()
            values += self.operation(build, values, levels)
        return values

    def pick(self, values: list[Value], type: Type, build: Builder) -> Value:
        fitting = [value for value in values if value.type is type]
        return self.chance.choice(fitting) if fitting else toy.source(build, type)

    def some_types(self, most: int) -> list[Type]:
        return [self.chance.choice([I32, PAIR]) for _ in range(self.chance.randrange(most + 1))]

    def operation(self, build: Builder, values: list[Value], levels: int) -> tuple[Value, ...]:
        kind = self.chance.randrange(7)
        if kind == 0:
            return (toy.constant(build, self.chance.randrange(9)),)
        if kind == 1:
            return (toy.source(build, self.chance.choice([I32, PAIR, I1])),)
        if kind == 2 and levels:
            return self.loop(build, values, levels)
        if kind == 3 and levels:
            return self.branch(build, values, levels)
        if kind == 4 and self.poison:
            one = self.pick(values, I32, build)
            return (build.create(toy.DivOp, lhs=one, rhs=one).result,)
        if kind == 5:
            toy.use(build, *[self.chance.choice(values) for _ in range(2 if values else 0)])
            return ()
        one, two = (self.pick(values, I32, build) for _ in range(2))
        return (toy.add(build, one, two),)

    def loop(self, build: Builder, values: list[Value], levels: int) -> tuple[Value, ...]:
        types: list[Type] = [
            self.chance.choice([I32, PAIR]) for _ in range(self.chance.randrange(3))
        ]
        inits = [self.pick(values, type, build) for type in types]
        body = Block(types, [self.random_location() for _ in types])
        self.fill(body, values, types, levels)
        return build.create(toy.LoopOp, inits=inits, body=body, types=types).results

    def branch(self, build: Builder, values: list[Value], levels: int) -> tuple[Value, ...]:
        types: list[Type] = [
            self.chance.choice([I32, PAIR]) for _ in range(self.chance.randrange(2))
        ]
        then, other = Block(), Block()
        self.fill(then, values, types, levels)
        self.fill(other, values, types, levels)
        condition = self.pick(values, I1, build)
        return build.create(
            toy.IfOp, condition=condition, then_region=then, else_region=other, types=types
        ).results

    def fill(self, block: Block, values: list[Value], types: list[Type], levels: int) -> None:
        build = Builder(toy.InsertPoint(block))
        inner = self.block(build, [*values, *block.args], levels - 1)
        build.location = self.random_location()
        build.create(toy.YieldOp, inputs=[self.pick(inner, type, build) for type in types])


def converter() -> TypeConverter:
    types = TypeConverter()
    types.keep(Type)
    types.add(IntegerType, lambda t: I64 if t is I32 else None)
    types.add(TupleType, lambda t: types.convert_all(t.elements))
    return types


@converts(toy.AddOp)
def split(op: toy.AddOp, new: toy.AddOp, build: ConversionBuilder) -> Result:
    first = build.create(toy.SubOp, lhs=new.lhs, rhs=new.rhs)
    return build.create(toy.SubOp, lhs=first.result, rhs=new.rhs)


@converts(toy.ConstantOp)
def constant(op: toy.ConstantOp, new: toy.ConstantOp, build: ConversionBuilder) -> Result:
    return build.create(toy.UseOp, types=[I64])


STRUCTURE = (toy.LoopOp, toy.IfOp, toy.YieldOp, toy.UseOp)
PATTERNS = (split, constant, *mirror({kind: kind for kind in STRUCTURE}))


def target(types: TypeConverter) -> ConversionTarget:
    return ConversionTarget(
        legal=(toy.SubOp,),
        illegal=(toy.AddOp, toy.ConstantOp, toy.DivOp),
        dynamic=dict.fromkeys(STRUCTURE, types.is_legal),
    )


@given(st.integers(0, 1 << 32))
def test_a_conversion_succeeds_as_a_whole(seed: int) -> None:
    program = Program(seed, poison=False)
    module = program.module
    verify(module)
    expected = len([op for op in module.walk() if isinstance(op, toy.AddOp)])
    locations = {op.location for op in module.walk()}
    types = converter()
    assert convert(module, target(types), PATTERNS, types)
    check_integrity(module)
    verify(module)
    assert list(target(types).problems(module)) == []
    assert len([op for op in module.walk() if isinstance(op, toy.SubOp)]) == 2 * expected
    assert {op.location for op in module.walk()} <= locations


@given(st.integers(0, 1 << 32))
def test_a_failed_conversion_changes_nothing(seed: int) -> None:
    program = Program(seed, poison=True)
    module = program.module
    before = module.clone()
    ops = list(module.walk())
    divisions = [op for op in ops if isinstance(op, toy.DivOp)]
    types = converter()
    sink = Sink()
    done = convert(module, target(types), PATTERNS, types, sink=sink)
    assert done == (not divisions)
    check_integrity(module)
    if done:
        return
    assert list(module.walk()) == ops
    assert equivalent(module, before, locations=True)
    reported = {diagnostic.location for diagnostic in sink.diagnostics}
    assert reported == {op.location for op in divisions}
