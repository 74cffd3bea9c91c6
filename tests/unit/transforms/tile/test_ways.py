"""The ways of operations to be cut: each one computes what the whole operation does."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any, Final, Literal

import numpy as np
import pytest
from integrity import check_integrity
from op_cases.kernel import Case
from op_cases.suite import GROUPS
from op_cases.values import Effort
from repeats import all_and_some
from run_random import CANONICAL, changed

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.dialect import ARITH
from tilewright.dialects.elements import element_of
from tilewright.dialects.math.dialect import MATH
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.shape import ExtractSliceOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Join, Way
from tilewright.ir.traits import ELEMENTWISE
from tilewright.ir.types import F32, I32, FloatType, TensorType
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.plans.rematerialization import Rematerializable
from tilewright.transforms.tile.closure import CannotCut, Cut, Scope
from tilewright.transforms.tile.loop import build_loop
from tilewright.transforms.tile.one_part import check_accesses, check_order, split_over_ctas
from tilewright.transforms.tile.parts import cut_type
from tilewright.transforms.tile.region import PartRegion

TILE: Final = TensorType((8, 8), F32)
Form = Literal["loop", "cta", "chain"]


def takes_tiles(kind: type[Operation]) -> bool:
    """Whether operands or results of an operation may be tiles."""
    fields = (*kind.schema.operands, *kind.schema.results)
    return any(field.constraint.accepts(TILE) for field in fields)


def test_every_operation_has_ways_or_a_reason() -> None:
    for kind in NV_TILEAA.ops.values():
        has_ways = kind.ways is not Operation.ways or ELEMENTWISE in kind.traits
        assert has_ways or kind.needs_whole or not takes_tiles(kind), kind.name


def test_operations_of_arith_and_math_are_cut_like_their_elements() -> None:
    for kind in (*ARITH.ops.values(), *MATH.ops.values()):
        assert (ELEMENTWISE in kind.traits) is (kind is not ConstantOp), kind.name


def is_no_chain(_: Operation, way: Way) -> bool:
    return way.join is not Join.CHAIN


def function_of(root: Operation) -> FuncOp:
    return next(op for op in root.walk() if isinstance(op, FuncOp) and op.is_kernel)


def cut_as(form: Form, root: Operation, number: int, way_number: int, parts: int) -> bool:
    """Cut an operation, by its number, in one of its ways; whether all bits must stay."""
    function = function_of(root)
    op = [*function.walk()][number]
    way = [*op.ways()][way_number]
    assert op.parent is not None
    match form:
        case "chain":
            assert isinstance(op, DotOp)
            # The executor rounds once for each dot.
            is_exact = not op.is_float
            chain(op, way, parts)
            return is_exact
        case "loop":
            cut = Cut(Scope.of_block(op.parent), parts, is_no_chain).with_op(op, way)
            build_loop(PartRegion(op.parent, cut))
            # A reduction may add in any order.
            return all(each.join is Join.CONCAT for each in cut.ways.values())
        case "cta":
            cut = Cut(Scope.of_function(function), parts).with_op(op, way)
            check_accesses(function)
            check_order(function, cut)
            split_over_ctas(function, cut, 0)
            function.attributes["kernel_spec"] = KernelSpecAttr(parts, None, None)
            return True


def chain(dot: DotOp, way: Way, parts: int) -> None:
    """Replace a dot by dots on parts along K, each of which takes the result of the one before."""
    axes, accumulator = way.axes, dot.c
    build = Builder(InsertPoint.before(dot), dot.location)
    for part in range(parts):
        operands = [
            part_of(value, axes[value], part, parts, build) if value in axes else accumulator
            for value in dot.operands
        ]
        accumulator = build.insert(dot.like(operands, [accumulator.type])).results[0]
    dot.result.replace_all_uses_with(accumulator)
    dot.erase()


def part_of(tile: Value, dim: int, part: int, parts: int, build: Builder) -> Value:
    """One part of a tile."""
    type = cut_type(tile.type, dim, parts)
    indices = [
        build.create(ConstantOp, value=IntegerAttr(index, I32), types=[I32]).result
        for index in (part if each == dim else 0 for each in range(len(type.extents)))
    ]
    return build.create(ExtractSliceOp, source=tile, indices=indices, types=[type]).result


FORMS: Final[dict[Join, Sequence[tuple[Form, int]]]] = {
    Join.CONCAT: [("loop", 2), ("loop", 4), ("cta", 2)],
    Join.COMBINE: [("loop", 2), ("loop", 4)],
    Join.CHAIN: [("chain", 2), ("chain", 4)],
}


def seeds(function: FuncOp) -> Iterator[tuple[int, int, Operation, Way]]:
    """The operations of a kernel and their ways, with the numbers of both."""
    remade = Rematerializable()
    for number, op in enumerate(function.walk()):
        # Parts of what is rematerialized are computed where another operation needs them.
        if not any(result in remade for result in op.results):
            for way_number, way in enumerate(op.ways()):
                yield number, way_number, op, way


def problem(case: Case, whole: Operation) -> tuple[str | None, list[Any]]:
    """Run a module on the arguments of a case: what is wrong, and the arguments afterwards."""
    before = case.arguments
    case.arguments = deepcopy(before)
    wrong, after = case.problem(whole), [*case.arguments]
    case.arguments = before
    return wrong, after


def bits(arguments: Sequence[Any]) -> list[bytes]:
    """The bits of arguments, and the same for every NaN: NumPy may propagate either operand's."""
    arrays = [np.array(each) for each in arguments]
    with np.errstate(invalid="ignore"):
        nans = [array != array for array in arrays]
    for array, nan in zip(arrays, nans, strict=True):
        array[nan] = 0
    return [each.tobytes() for each in (*arrays, *nans)]


def depends_on_extents(function: FuncOp) -> bool:
    """Whether results depend on extents: NumPy adds up the elements of a dot in other orders."""
    dots = [op for op in function.walk() if isinstance(op, DotOp)]
    return any(isinstance(element_of(dot.c.type), FloatType) for dot in dots)


def cut_in_all_ways(
    case: Case, most: float, counts: Counter[tuple[str, int]]
) -> Iterator[tuple[str, str | None]]:
    """Cut each operation of a case in each way: the operation, and what is wrong afterwards.

    Operations of a kind are cut in one way in at most `most` cases, which `counts` has so far.
    """
    whole = changed(case.read(), CANONICAL)
    _, expected = problem(case, whole)
    has_bits = not depends_on_extents(function_of(whole))
    cut: set[tuple[str, int]] = set()
    for number, way_number, op, way in seeds(function_of(whole)):
        if counts[op.name, way_number] >= most:
            continue
        for form, parts in FORMS[way.join]:
            root = whole.clone()
            try:
                if not way.allows(parts):
                    continue
                is_exact = cut_as(form, root, number, way_number, parts)
            except CannotCut:
                continue
            verify(root)
            check_integrity(root)
            wrong, actual = problem(case, root)
            if wrong is None and is_exact and has_bits and bits(actual) != bits(expected):
                wrong = "other bits"
            cut.add((op.name, way_number))
            yield op.name, wrong and f"{op.name}, way {way_number}, {parts} parts: {wrong}"
    counts.update(cut)


@pytest.mark.parametrize(("name", "every"), all_and_some(GROUPS, 5, 40))
def test_parts_compute_what_the_whole_does(name: str, every: int) -> None:
    cases = islice(GROUPS[name].cases(Effort(count=8)), 0, None, every)
    # Almost every case loads and stores tiles.
    most, counts = math.inf if every == 5 else 1, Counter[tuple[str, int]]()
    outcomes = [
        each for case in cases if case.fails is None for each in cut_in_all_ways(case, most, counts)
    ]
    assert next((wrong for _, wrong in outcomes if wrong is not None), None) is None
    assert outcomes or name == "multimem"
