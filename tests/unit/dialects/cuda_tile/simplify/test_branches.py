"""Rules of branches: constant conditions, exits, and unused results."""

from __future__ import annotations

import pytest
from tile_programs import same, simplified

ARGUMENTS = "%a: tile<i1>, %b: tile<i1>, %x: tile<i32>, %y: tile<i32>"
CONSTANTS = (
    "%true = constant <i1: true> : tile<i1>\n%false = constant <i1: false> : tile<i1>\n"
    "%zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n"
)


def show(value: str, name: str = "") -> str:
    result = f"%{name} = " if name else ""
    return f'{result}print_tko "%d", %{value} : tile<i32> -> token\n'


def becomes(body: str, expected: str) -> bool:
    return same(CONSTANTS + body, expected, ARGUMENTS)


def test_a_true_condition_leaves_the_first_branch() -> None:
    body = f"if %true {{ {show('x')} }} else {{ {show('y')} }}\n"
    assert becomes(body, show("x"))


def test_a_false_condition_leaves_the_else_branch() -> None:
    body = f"if %false {{ {show('x')} }} else {{ {show('y')} }}\nif %false {{ {show('x')} }}\n"
    assert becomes(body, show("y"))


def test_results_of_a_branch_with_a_constant_condition() -> None:
    body = (
        "%r = if %true -> (tile<i32>) { %s = addi %x, %y : tile<i32>\n yield %s : tile<i32> }"
        f" else {{ yield %x : tile<i32> }}\n{show('r')}"
    )
    assert becomes(body, "%s = addi %x, %y : tile<i32>\n" + show("s"))


def test_code_after_a_branch_that_exits_is_erased() -> None:
    body = f"if %true {{ {show('x')} return }}\n{show('y')}"
    assert becomes(body, show("x"))


def test_code_after_an_exit_with_results_is_erased() -> None:
    body = (
        f"%r = if %false -> (tile<i32>) {{ yield %x : tile<i32> }} else {{ return }}\n{show('r')}"
    )
    assert becomes(body, "")


def test_unused_results_are_removed() -> None:
    body = (
        f"%r, %s = if %a -> (tile<i32>, tile<i32>) {{ {show('x')} %u = addi %x, %y : tile<i32>\n"
        "yield %x, %u : tile<i32>, tile<i32> }"
        f" else {{ %v = muli %x, %y : tile<i32>\n yield %y, %v : tile<i32>, tile<i32> }}\n"
        f"{show('s')}"
    )
    expected = (
        f"%s = if %a -> (tile<i32>) {{ {show('x')} %u = addi %x, %y : tile<i32>\n"
        "yield %u : tile<i32> } else { %v = muli %x, %y : tile<i32>\n yield %v : tile<i32> }\n"
        f"{show('s')}"
    )
    assert becomes(body, expected)


def test_a_result_defined_before_the_if_is_hoisted() -> None:
    body = (
        "%r = if %a -> (tile<i32>) { yield %x : tile<i32> } else { yield %y : tile<i32> }\n"
        f"{show('r')}"
    )
    assert becomes(body, "%r = select %a, %x, %y : tile<i1>, tile<i32>\n" + show("r"))


def test_a_choice_of_equal_values_is_the_value() -> None:
    body = (
        "%r = if %a -> (tile<i32>) { %c = constant <i32: 5> : tile<i32>\n yield %c : tile<i32> }"
        " else { %c = constant <i32: 5> : tile<i32>\n yield %c : tile<i32> }\n"
        f"{show('r')}"
    )
    assert becomes(body, "%c = constant <i32: 5> : tile<i32>\n" + show("c"))


def test_a_choice_between_tiles_spreads_the_condition() -> None:
    body = (
        "%p = constant <i32: [1, 2, 3, 4]> : tile<4xi32>\n"
        "%q = constant <i32: [5, 6, 7, 8]> : tile<4xi32>\n"
        "%r = if %a -> (tile<4xi32>) { yield %p : tile<4xi32> } else { yield %q : tile<4xi32> }\n"
        '%t = print_tko "%d", %r : tile<4xi32> -> token\n'
    )
    lines = simplified(body, ARGUMENTS)
    assert lines[2:] == [
        "%reshape = reshape %arg0 : tile<i1> -> tile<1xi1>",
        "%bcast = broadcast %reshape : tile<1xi1> -> tile<4xi1>",
        "%0 = select %bcast, %cst_i32, %cst_i32_0 : tile<4xi1>, tile<4xi32>",
        '%1 = print_tko "%d", %0 : tile<4xi32> -> token',
    ]


def test_tokens_are_not_selected() -> None:
    body = (
        "%s, %t = if %a -> (token, tile<i32>) {\n"
        f"{show('x', 'u')} yield %u, %x : token, tile<i32> }} else {{\n"
        f"{show('y', 'u')} yield %u, %x : token, tile<i32> }}\n"
        '%v = print_tko "%d", %t token=%s : tile<i32> -> token\n'
    )
    expected = (
        f"%s = if %a -> (token) {{ {show('x', 'u')} yield %u : token }} else {{ {show('y', 'u')}"
        ' yield %u : token }\n%v = print_tko "%d", %x token=%s : tile<i32> -> token\n'
    )
    assert becomes(body, expected)


def test_a_value_that_only_one_branch_gives_needs_no_branch() -> None:
    body = f"%r = if %a -> (tile<i32>) {{ yield %x : tile<i32> }} else {{ return }}\n{show('r')}"
    expected = f"if %a {{ }} else {{ return }}\n{show('x')}"
    assert becomes(body, expected)


def test_a_negated_condition_swaps_the_branches() -> None:
    body = f"%n = xori %a, %true : tile<i1>\nif %n {{ {show('x')} }} else {{ {show('y')} }}\n"
    assert becomes(body, f"if %a {{ {show('y')} }} else {{ {show('x')} }}\n")


def test_an_empty_else_is_removed() -> None:
    assert becomes(f"if %a {{ {show('x')} }} else {{ }}\n", f"if %a {{ {show('x')} }}\n")


def test_an_else_that_exits_stays() -> None:
    body = f"if %a {{ {show('x')} }} else {{ return }}\n{show('y')}"
    assert becomes(body, body)


def test_an_if_without_effect_is_removed() -> None:
    assert becomes("if %a { %s = addi %x, %y : tile<i32>\n }\n", "")


def test_if_both_branches_exit_the_second_one_follows() -> None:
    body = (
        f"%r = if %a -> (tile<i32>) {{ {show('x')} return }} else {{ {show('y')} return }}\n"
        f"{show('r')}"
    )
    assert becomes(body, f"if %a {{ {show('x')} return }}\n{show('y')}")


def test_nested_ifs_ask_for_both() -> None:
    body = f"if %a {{ if %b {{ {show('x')} return }} }}\n{show('y')}"
    expected = f"%c = andi %a, %b : tile<i1>\nif %c {{ {show('x')} return }}\n{show('y')}"
    assert becomes(body, expected)


@pytest.mark.parametrize("other", ["y", "x"])
def test_nested_ifs_with_results_need_equal_else_values(other: str) -> None:
    inner = (
        f"%i = if %b -> (tile<i32>) {{ {show('x')} %s = addi %x, %y : tile<i32>\n"
        "yield %s : tile<i32> } else { yield %x : tile<i32> }\n"
    )
    body = (
        f"%r = if %a -> (tile<i32>) {{ {inner} yield %i : tile<i32> }}"
        f" else {{ yield %{other} : tile<i32> }}\n{show('r')}"
    )
    joined = (
        "%c = andi %a, %b : tile<i1>\n"
        f"%r = if %c -> (tile<i32>) {{ {show('x')} %s = addi %x, %y : tile<i32>\n"
        f"yield %s : tile<i32> }} else {{ yield %x : tile<i32> }}\n{show('r')}"
    )
    assert becomes(body, joined if other == "x" else body)


def test_nested_ifs_with_something_around_stay() -> None:
    body = f"if %a {{ {show('y')} if %b {{ {show('x')} }} }}\n"
    assert becomes(body, body)
    body = f"if %a {{ if %b {{ {show('x')} }} else {{ {show('y')} }} }}\n"
    assert becomes(body, body)


def test_neighbours_on_the_same_condition_become_one() -> None:
    body = (
        f"%r = if %a -> (tile<i32>) {{ {show('x')} %s = addi %x, %y : tile<i32>\n"
        "yield %s : tile<i32> } else { %s = muli %x, %y : tile<i32>\n yield %s : tile<i32> }\n"
        f"if %a {{ {show('r')} }}\n{show('r')}"
    )
    expected = (
        f"%r = if %a -> (tile<i32>) {{ {show('x')} %s = addi %x, %y : tile<i32>\n {show('s', 'u')}"
        "yield %s : tile<i32> } else { %s = muli %x, %y : tile<i32>\n yield %s : tile<i32> }\n"
        f"{show('r')}"
    )
    assert becomes(body, expected)


def test_neighbours_on_opposite_conditions_become_one() -> None:
    body = f"%n = xori %a, %true : tile<i1>\nif %a {{ {show('x')} }}\nif %n {{ {show('y')} }}\n"
    assert becomes(body, f"if %a {{ {show('x')} }} else {{ {show('y')} }}\n")


def test_after_an_exit_the_neighbour_does_not_run() -> None:
    body = f"if %a {{ {show('x')} return }}\nif %a {{ {show('y')} }} else {{ {show('one')} }}\n"
    expected = (
        "%one = constant <i32: 1> : tile<i32>\n"
        f"if %a {{ {show('x')} return }} else {{ {show('one')} }}\n"
    )
    assert becomes(body, expected)


def test_ifs_with_something_between_stay() -> None:
    body = f"if %a {{ {show('x')} }}\n{show('y')}if %a {{ {show('x')} }}\n"
    assert becomes(body, body)
