"""Folds of comparisons, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from each_case import each_case
from folding import fold, known, unknown, vector

from tilewright.dialects.cuda_tile.enums import ComparisonOrdering as Ordering
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate as Predicate
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.floating import CmpFOp
from tilewright.dialects.cuda_tile.integer import CmpIOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.types import F16, I1, I8

JUDGES: dict[Predicate, Callable[[Any, Any], Any]] = {
    Predicate.EQUAL: np.equal,
    Predicate.NOT_EQUAL: np.not_equal,
    Predicate.LESS_THAN: np.less,
    Predicate.LESS_THAN_OR_EQUAL: np.less_equal,
    Predicate.GREATER_THAN: np.greater,
    Predicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}
BYTES = np.arange(256, dtype=np.uint8)


def bits(count: int) -> list[TileType]:
    return [TileType((count,), I1)]


@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize("predicate", Predicate)
@pytest.mark.sampled(4)
def test_every_pair_of_bytes(predicate: Predicate, signedness: Signedness) -> None:
    values = BYTES.view(np.int8 if signedness is Signedness.SIGNED else np.uint8)
    for b in range(256):
        lhs, rhs = vector(BYTES, I8), known([b], I8, (256,))
        folded = fold(
            CmpIOp,
            bits(256),
            comparison_predicate=predicate,
            lhs=lhs,
            rhs=rhs,
            signedness=signedness,
        )
        assert folded == JUDGES[predicate](values, values[b]).astype(int).tolist()


@each_case("signedness", Signedness)
@each_case("predicate", Predicate)
def test_folds_of_an_unknown_integer_hold_for_all_values(
    predicate: Predicate, signedness: Signedness
) -> None:
    values = BYTES.view(np.int8 if signedness is Signedness.SIGNED else np.uint8)
    x = unknown(TileType((2,), I8))
    for b in range(256):
        folded = fold(
            CmpIOp, bits(2), comparison_predicate=predicate, lhs=x,
            rhs=known([b], I8, (2,)), signedness=signedness,
        )  # fmt: skip
        answers = set(JUDGES[predicate](values, values[b]).tolist())
        is_order = predicate not in (Predicate.EQUAL, Predicate.NOT_EQUAL)
        assert folded == ([int(answers.pop())] * 2 if len(answers) == 1 and is_order else None)


@each_case("predicate", Predicate)
def test_a_value_with_itself(predicate: Predicate) -> None:
    x = unknown(TileType((2,), I8))
    folded = fold(
        CmpIOp, bits(2), comparison_predicate=predicate, lhs=x, rhs=x, signedness=Signedness.SIGNED
    )
    assert folded == [int(JUDGES[predicate](1, 1))] * 2


FLOATS = np.array([0.0, -0.0, 1.0, -1.0, 6e-8, np.inf, -np.inf, np.nan], np.float16)


@each_case("ordering", Ordering)
@each_case("predicate", Predicate)
def test_floats(predicate: Predicate, ordering: Ordering) -> None:
    for a, b in product(FLOATS, repeat=2):
        lhs, rhs = (vector([int(v.view(np.uint16))], F16) for v in (a, b))
        folded = fold(
            CmpFOp, bits(1), comparison_predicate=predicate, comparison_ordering=ordering,
            lhs=lhs, rhs=rhs,
        )  # fmt: skip
        if np.isnan(a) or np.isnan(b):
            assert folded == [int(ordering is Ordering.UNORDERED)]
        else:
            assert folded == [int(JUDGES[predicate](a, b))]


@each_case("ordering", Ordering)
@each_case("predicate", Predicate)
def test_a_float_with_itself(predicate: Predicate, ordering: Ordering) -> None:
    x = unknown(TileType((), F16))
    folded = fold(
        CmpFOp, [TileType((), I1)], comparison_predicate=predicate, comparison_ordering=ordering,
        lhs=x, rhs=x,
    )  # fmt: skip
    # NaN answers what the ordering says, a number what the predicate says of equals.
    answers = {bool(JUDGES[predicate](1, 1)), ordering is Ordering.UNORDERED}
    assert folded == ([int(answers.pop())] if len(answers) == 1 else None)
