"""Rules of loops: trip counts of zero and one, and redundant loop-carried values."""

from __future__ import annotations

from each_case import each_case
from tile_programs import same

ARGUMENTS = "%n: tile<i32>, %x: tile<i32>, %c: tile<i1>"


def constants(**values: int) -> str:
    return "".join(f"%{k} = constant <i32: {v}> : tile<i32>\n" for k, v in values.items())


def show(value: str) -> str:
    return f'%t_{value} = print_tko "%d", %{value} : tile<i32> -> token\n'


def loop(body: str, bounds: str = "%l to %u, step %s", kind: str = "for") -> str:
    return f"{kind} %i in ({bounds}) : tile<i32> {{\n{body}}}\n"


@each_case(
    ("lower", "upper", "kind"),
    [(0, 0, "for"), (5, 3, "for"), (0, -1, "for"), (-1, 7, "for unsigned")],
)
def test_a_zero_trip_loop_is_removed(lower: int, upper: int, kind: str) -> None:
    body = constants(l=lower, u=upper, s=1) + loop(show("i"), kind=kind)
    assert same(body, "", ARGUMENTS)


def test_a_loop_with_equal_bounds_becomes_its_initial_values() -> None:
    body = constants(s=1) + (
        "%r = for %i in (%n to %n, step %s) : tile<i32> iter_values(%v = %x) -> (tile<i32>) {\n"
        f"{show('i')} %w = addi %v, %i : tile<i32>\n continue %w : tile<i32>\n}}\n{show('r')}"
    )
    assert same(body, show("x"), ARGUMENTS)


@each_case(
    ("lower", "upper", "step", "kind"),
    [
        (0, 1, 1, "for"),
        (3, 5, 4, "for"),
        (3, 7, 4, "for"),
        (-3, 0, 3, "for"),
        (2147483646, 2147483647, 1000, "for"),
        (-2, -1, 5, "for unsigned"),
    ],
)
def test_a_loop_that_runs_once_is_its_body(lower: int, upper: int, step: int, kind: str) -> None:
    body = constants(l=lower, u=upper, s=step) + loop(show("i"), kind=kind)
    assert same(body, constants(l=lower) + show("l"), ARGUMENTS)


@each_case(
    ("lower", "upper", "step", "kind"),
    [(0, 2, 1, "for"), (3, 8, 4, "for"), (-1, 1, 1, "for"), (1, -1, 1, "for unsigned")],
)
def test_a_loop_that_runs_twice_or_more_stays(lower: int, upper: int, step: int, kind: str) -> None:
    body = constants(l=lower, u=upper, s=step) + loop(show("i"), kind=kind)
    if step == upper or len({lower, upper, step}) < 3:
        names = {v: k for k, v in (("s", step), ("u", upper), ("l", lower))}
        bounds = f"%{names[lower]} to %{names[upper]}, step %{names[step]}"
        values = {names[v]: v for v in (lower, upper, step)}
        assert same(body, constants(**values) + loop(show("i"), bounds, kind), ARGUMENTS)
    else:
        assert same(body, body, ARGUMENTS)


def test_a_step_that_is_not_positive_is_undefined_and_stays() -> None:
    body = constants(l=0, u=1, s=-1) + loop(show("i"))
    assert same(body, body, ARGUMENTS)


def test_a_loop_whose_iteration_may_end_early_stays() -> None:
    body = constants(l=0, u=1, s=4) + loop(f"if %c {{ continue }}\n{show('i')}")
    assert same(body, body, ARGUMENTS)


def test_results_of_a_loop_that_runs_once() -> None:
    body = constants(l=2, u=3, s=1) + (
        "%r = for %i in (%l to %u, step %s) : tile<i32> iter_values(%v = %x) -> (tile<i32>) {\n"
        f"%w = muli %v, %i : tile<i32>\n continue %w : tile<i32>\n}}\n{show('r')}"
    )
    expected = constants(l=2) + "%w = muli %x, %l : tile<i32>\n" + show("w")
    assert same(body, expected, ARGUMENTS)


CARRYING = (
    "%r, %q = for %i in (%l to %n, step %s) : tile<i32> "
    "iter_values(%v = %x, %w = %l) -> (tile<i32>, tile<i32>) {{\n{}}}\n{}"
)
ONE = (
    "%q = for %i in (%l to %n, step %s) : tile<i32> "
    "iter_values(%w = %l) -> (tile<i32>) {{\n{}}}\n{}"
)


def test_a_carried_value_that_never_changes_is_not_carried() -> None:
    inner = f"{show('v')} %z = addi %w, %i : tile<i32>\n continue %v, %z : tile<i32>, tile<i32>\n"
    body = constants(l=0, s=1) + CARRYING.format(inner, show("r") + show("q"))
    inner = f"{show('x')} %z = addi %w, %i : tile<i32>\n continue %z : tile<i32>\n"
    assert same(body, constants(l=0, s=1) + ONE.format(inner, show("x") + show("q")), ARGUMENTS)


def test_an_unused_loop_carried_value_is_removed() -> None:
    inner = f"{show('i')} %z = addi %w, %i : tile<i32>\n continue %z, %z : tile<i32>, tile<i32>\n"
    body = constants(l=0, s=1) + CARRYING.format(inner, show("q"))
    inner = f"{show('i')} %z = addi %w, %i : tile<i32>\n continue %z : tile<i32>\n"
    assert same(body, constants(l=0, s=1) + ONE.format(inner, show("q")), ARGUMENTS)


def test_every_way_to_the_next_iteration_counts() -> None:
    inner = (
        "if %c { continue %i, %w : tile<i32>, tile<i32> }\n"
        "%z = addi %w, %i : tile<i32>\n continue %v, %z : tile<i32>, tile<i32>\n"
    )
    body = constants(l=0, s=1) + CARRYING.format(inner, show("r") + show("q"))
    assert same(body, body, ARGUMENTS)


def test_a_loop_without_effect_is_removed() -> None:
    inner = "%z = addi %w, %i : tile<i32>\n continue %z, %z : tile<i32>, tile<i32>\n"
    assert same(constants(l=0, s=1) + CARRYING.format(inner, ""), "", ARGUMENTS)


def test_a_loop_that_breaks_at_its_end_is_its_body() -> None:
    body = (
        "%r = loop iter_values(%v = %x) : tile<i32> -> tile<i32> {\n"
        f"{show('v')} %w = addi %v, %n : tile<i32>\n break %w : tile<i32>\n}}\n{show('r')}"
    )
    assert same(body, show("x") + "%w = addi %x, %n : tile<i32>\n" + show("w"), ARGUMENTS)


def test_a_loop_that_returns_at_its_end_is_its_body_and_the_last() -> None:
    assert same(f"loop {{\n{show('x')} return\n}}\n{show('n')}", show("x"), ARGUMENTS)


def test_a_loop_with_two_ways_out_stays() -> None:
    body = (
        "%r = loop : tile<i32> {\n"
        f"if %c {{ {show('n')} break %x : tile<i32> }}\n{show('x')} break %n : tile<i32>\n}}\n"
        f"{show('r')}"
    )
    assert same(body, body, ARGUMENTS)


REPEAT = (
    "%r, %q = loop iter_values(%v = %x, %w = %n) "
    ": tile<i32>, tile<i32> -> tile<i32>, tile<i32> {{\n"
    "%z = addi %w, %v : tile<i32>\n{} %d = cmpi less_than %z, %n, signed : tile<i32> -> tile<i1>\n"
    "if %d {{ break %x, %z : tile<i32>, tile<i32> }}\n"
    "continue %v, %z : tile<i32>, tile<i32>\n}}\n{}"
)


def test_redundant_values_and_results_of_a_loop_are_removed() -> None:
    body = REPEAT.format(show("v"), show("r") + show("q"))
    expected = (
        "%q = loop iter_values(%w = %n) : tile<i32> -> tile<i32> {\n"
        f"%z = addi %w, %x : tile<i32>\n{show('x')}"
        "%d = cmpi less_than %z, %n, signed : tile<i32> -> tile<i1>\n"
        f"if %d {{ break %z : tile<i32> }}\n continue %z : tile<i32>\n}}\n{show('x')}{show('q')}"
    )
    assert same(body, expected, ARGUMENTS)
