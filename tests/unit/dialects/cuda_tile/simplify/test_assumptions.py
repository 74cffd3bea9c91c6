"""Rules of assumptions and tokens."""

from __future__ import annotations

from each_case import each_case
from tile_programs import same

ARGUMENTS = "%x: tile<i32>, %p: tile<ptr<i32>>, %c: tile<i1>"


def load(name: str, token: str = "") -> str:
    order = f" token={token}" if token else ""
    return (
        f"%{name}, %t_{name} = load_ptr_tko weak %p{order} : tile<ptr<i32>> -> tile<i32>, token\n"
    )


def store(token: str) -> str:
    return f"%s = store_ptr_tko weak %p, %x token={token} : tile<ptr<i32>>, tile<i32> -> token\n"


def test_a_repeated_assumption_is_dropped() -> None:
    body = "%a = assume div_by<16>, %p : tile<ptr<i32>>\n"
    again = "%b = assume div_by<16>, %a : tile<ptr<i32>>\n"
    assert same(body + again, body, ARGUMENTS)


def test_an_assumption_repeated_in_a_chain_is_dropped() -> None:
    body = "%a = assume div_by<16>, %x : tile<i32>\n%b = assume bounded<0, ?>, %a : tile<i32>\n"
    again = "%d = assume div_by<16>, %b : tile<i32>\n"
    show = '%t = print_tko "%d", {} : tile<i32> -> token\n'
    assert same(body + again + show.format("%d"), body + show.format("%b"), ARGUMENTS)


def test_another_assumption_stays() -> None:
    body = "%a = assume div_by<16>, %p : tile<ptr<i32>>\n"
    body += "%b = assume div_by<8>, %a : tile<ptr<i32>>\n"
    assert same(body, body, ARGUMENTS)


def test_an_assumption_about_a_constant_is_dropped() -> None:
    body = "%k = constant <i32: 32> : tile<i32>\n"
    assumption = "%a = assume div_by<16>, %k : tile<i32>\n"
    show = '%t = print_tko "%d", {} : tile<i32> -> token\n'
    assert same(body + assumption + show.format("%a"), body + show.format("%k"), ARGUMENTS)


FRESH = "%f = make_token : token\n%g = make_token : token\n"


@each_case(
    ("tokens", "expected"),
    [
        ("%t_a, %f", "%t_a"),
        ("%f, %t_a, %g", "%t_a"),
        ("%t_a, %t_a", "%t_a"),
    ],
)
def test_a_join_drops_tokens_without_dependences(tokens: str, expected: str) -> None:
    body = f"{FRESH}{load('a')}%j = join_tokens {tokens} : token\n{store('%j')}"
    assert same(body, load("a") + store(expected), ARGUMENTS)


def test_a_join_of_fresh_tokens_is_fresh() -> None:
    body = f"{FRESH}%j = join_tokens %f, %g : token\n{store('%j')}"
    assert same(body, "%f = make_token : token\n" + store("%f"), ARGUMENTS)


def test_a_join_keeps_every_token_that_orders() -> None:
    loads = load("a") + load("b")
    body = f"{FRESH}{loads}%j = join_tokens %t_a, %f, %t_b, %t_a : token\n{store('%j')}"
    expected = f"{loads}%j = join_tokens %t_a, %t_b : token\n{store('%j')}"
    assert same(body, expected, ARGUMENTS)


def test_unused_loads_and_stores_stay() -> None:
    body = load("a") + load("b") + store("%t_a")
    assert same(body, body, ARGUMENTS)
