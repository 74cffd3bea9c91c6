"""Programs of the maximum nesting, 128 levels, on the interpreter's default stack."""

from __future__ import annotations

from collections.abc import Callable

import toy
from each_case import each_case
from integrity import check_integrity

from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder, create_op
from tilewright.ir.conversion import convert, mirror
from tilewright.ir.equivalence import equivalent
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.rules import apply_rules
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import I32, I64, IntegerType
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.generic.dce import Dce
from tilewright.transforms.generic.licm import Licm

DEPTH = 128


def nest(build: Builder, value: Value, levels: int) -> Value:
    """Build nested loops from the inside out, without recursion."""
    body, inside = toy.block_of([I32])
    inside.create(toy.YieldOp, inputs=[toy.add(inside, body.args[0], body.args[0])])
    for _ in range(levels - 1):
        outer, around = toy.block_of([I32])
        loop = around.create(toy.LoopOp, inits=[outer.args[0]], body=body, types=[I32])
        around.create(toy.YieldOp, inputs=loop.results)
        body = outer
    return build.create(toy.LoopOp, inits=[value], body=body, types=[I32]).results[0]


def program() -> toy.ModuleOp:
    module, build = toy.module()
    toy.use(build, nest(build, toy.source(build, I32), DEPTH))
    return module


def to_wide(op: Operation) -> None:
    types = TypeConverter()
    types.keep(Type)
    types.add(IntegerType, lambda t: I64)
    kinds = (toy.LoopOp, toy.YieldOp, toy.AddOp, toy.UseOp)
    target = ConversionTarget(dynamic=dict.fromkeys(kinds, types.is_legal))
    convert(op, target, mirror({kind: kind for kind in kinds}), types)


ACTIONS: dict[str, Callable[[Operation], object]] = {
    "verify": verify,
    "clone": lambda op: op.clone(),
    "compare": lambda op: equivalent(op, op.clone()),
    "walk": lambda op: list(op.walk_post_order()),
    "rewrite": lambda op: apply_rules(op, ()),
    "convert": to_wide,
    "cse": lambda op: Cse().run(op, Sink()),
    "dce": lambda op: Dce().run(op, Sink()),
    "licm": lambda op: Licm().run(op, Sink()),
}


@each_case("action", ACTIONS.values(), ids=ACTIONS)
def test_deep_programs_are_handled(action: Callable[[Operation], object]) -> None:
    module = program()
    action(module)
    check_integrity(module)
    assert len([op for op in module.walk() if isinstance(op, toy.LoopOp)]) == DEPTH


def test_the_nest_is_as_deep_as_it_says() -> None:
    module = program()
    deepest = max(len(list(op.ancestors())) for op in module.walk())
    assert deepest == DEPTH + 1
    assert create_op(toy.YieldOp).parent is None
