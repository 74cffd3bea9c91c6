"""Folds and rules of `select`."""

from __future__ import annotations

from each_case import each_case
from folding import fold, known, unknown, vector
from tile_programs import same

from tilewright.dialects.cuda_tile.core import SelectOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.types import F32, I1, I32

C, X, Y = (unknown(TileType((4,), element)) for element in (I1, I32, I32))


def test_a_constant_condition_selects() -> None:
    assert fold(SelectOp, cond=known([1], I1, (4,)), val_if_true=X, val_if_false=Y) is X
    assert fold(SelectOp, cond=known([0], I1, (4,)), val_if_true=X, val_if_false=Y) is Y
    mixed = vector([1, 0, 0, 1], I1)
    assert fold(SelectOp, cond=mixed, val_if_true=X, val_if_false=Y) is None


def test_equal_arms() -> None:
    assert fold(SelectOp, cond=C, val_if_true=X, val_if_false=X) is X
    a, b = known([0x3F800000], F32, (4,)), known([0x3F800000], F32, (4,))
    assert fold(SelectOp, cond=C, val_if_true=a, val_if_false=b) is a


def test_constants_are_chosen_element_by_element() -> None:
    cond = vector([1, 0, 0, 1], I1)
    a, b = vector([1, 2, 3, 4], I32), vector([5, 6, 7, 8], I32)
    assert fold(SelectOp, cond=cond, val_if_true=a, val_if_false=b) == [1, 6, 7, 4]


ARGUMENTS = "%c: tile<i1>, %x: tile<i32>, %y: tile<i32>, %p: tile<ptr<i32>>, %q: tile<ptr<i1>>"
STORE = "%t = store_ptr_tko weak %p, {} : tile<ptr<i32>>, tile<i32> -> token"


CONSTANTS = (
    "%true = constant <i1: true> : tile<i1>\n%false = constant <i1: false> : tile<i1>\n"
    "%one = constant <i32: 1> : tile<i32>\n%zero = constant <i32: 0> : tile<i32>\n"
)


def select(name: str, condition: str, on_true: str, on_false: str, element: str = "i32") -> str:
    return f"%{name} = select %{condition}, %{on_true}, %{on_false} : tile<i1>, tile<{element}>\n"


@each_case(
    ("body", "expected"),
    [
        ("%n = xori %c, %true : tile<i1>\n" + select("s", "n", "x", "y"),
         select("s", "c", "y", "x")),
        ("%n = xori %true, %c : tile<i1>\n" + select("s", "n", "x", "y"),
         select("s", "c", "y", "x")),
        (select("a", "c", "x", "y") + select("s", "c", "a", "y"), select("s", "c", "x", "y")),
        (select("a", "c", "y", "x") + select("s", "c", "y", "a"), select("s", "c", "y", "x")),
        (select("s", "c", "one", "zero"), "%s = exti %c unsigned : tile<i1> -> tile<i32>\n"),
        (select("b", "c", "true", "false", "i1") + select("s", "b", "x", "y"),
         select("s", "c", "x", "y")),
        (select("b", "c", "false", "true", "i1") + select("s", "b", "x", "y"),
         select("s", "c", "y", "x")),
    ],
)  # fmt: skip
def test_rules(body: str, expected: str) -> None:
    store = STORE.format("%s")
    assert same(CONSTANTS + body + store, expected + store, ARGUMENTS)


@each_case(("predicate", "chosen"), [("equal", "%y"), ("not_equal", "%x")])
@each_case("operands", ["%x, %y", "%y, %x"])
def test_a_select_between_compared_values(predicate: str, chosen: str, operands: str) -> None:
    body = f"%b = cmpi {predicate} {operands}, signed : tile<i32> -> tile<i1>\n"
    body += select("s", "b", "x", "y") + STORE.format("%s")
    assert same(body, STORE.format(chosen), ARGUMENTS)


def test_a_choice_of_zero_and_one_is_a_negated_bit() -> None:
    body = (
        "%one = constant <i32: 1> : tile<i32>\n%zero = constant <i32: 0> : tile<i32>\n"
        "%s = select %c, %zero, %one : tile<i1>, tile<i32>\n"
    )
    expected = (
        "%true = constant <i1: true> : tile<i1>\n%n = xori %c, %true : tile<i1>\n"
        "%s = exti %n unsigned : tile<i1> -> tile<i32>\n"
    )
    assert same(body + STORE.format("%s"), expected + STORE.format("%s"), ARGUMENTS)


def test_a_float_is_not_chosen_by_comparing_it() -> None:
    # 0.0 equals -0.0, so the arms are not the same where the comparison holds.
    body = (
        "%b = cmpf equal ordered %x, %y : tile<f32> -> tile<i1>\n"
        "%s = select %b, %x, %y : tile<i1>, tile<f32>\n"
        "%t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token"
    )
    assert same(body, body, "%x: tile<f32>, %y: tile<f32>, %p: tile<ptr<f32>>")
