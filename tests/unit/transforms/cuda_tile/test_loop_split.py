"""Splitting a loop at a condition preserves its behavior."""

from __future__ import annotations

import pytest
from tile_interpreter import trace
from tile_programs import kernel, run, simplified

from tilewright.dialects.cuda_tile.control_flow import ForOp, IfOp
from tilewright.dialects.cuda_tile.structure import ModuleOp

ARGUMENTS = "%l: tile<i8>, %u: tile<i8>, %s: tile<i8>, %k: tile<i8>"
SHOW = 'print_tko "{}: %d", %i : tile<i8> -> token\n'


def loop(
    condition: str, sign: str = "signed", inside: str = "", hint: str = "", if_hint: str = ""
) -> str:
    unsigned = "unsigned " if sign == "unsigned" else ""
    return (
        f"for {unsigned}%i in (%l to %u, step %s) : tile<i8> {{\n"
        f"%c = cmpi {condition}, {sign} : tile<i8> -> tile<i1>\n{inside}"
        f"if %c {{ {SHOW.format('then')} }} else {{ {SHOW.format('else')} }}{if_hint}\n}}{hint}\n"
    )


def counts(module: ModuleOp) -> tuple[int, int]:
    """Return the number of loops and branches."""
    ops = list(module.walk())
    return sum(isinstance(op, ForOp) for op in ops), sum(isinstance(op, IfOp) for op in ops)


PREDICATES = ("less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")


@pytest.mark.parametrize("operands", ["%i, %k", "%k, %i"])
@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.sampled(6)
def test_the_two_loops_preserve_the_behavior(predicate: str, operands: str, sign: str) -> None:
    body = loop(f"{predicate} {operands}", sign)
    before, after = kernel(body, ARGUMENTS), run(kernel(body, ARGUMENTS), "loop-split")
    assert counts(after) == (2, 0)
    ends = [0x80, 0xFF, 0, 5, 0x7E, 0x7F]
    # An upper bound and steps that never take the counter beyond its range.
    cases = [(low, up, step, k) for low in ends for up in (0, 7, 0x30) for step in (1, 3, 16)
             for k in ends]  # fmt: skip
    for case in cases:
        expected = trace(next(before.entries()), case)
        assert trace(next(after.entries()), case) == expected, case


def combined(*comparisons: str, by: str) -> str:
    """A loop with an `if` on several comparisons."""
    inner = [f"%c{i} = cmpi {each}, signed : tile<i8> -> tile<i1>\n"
             for i, each in enumerate(comparisons)]  # fmt: skip
    last = "%c0"
    for i in range(1, len(comparisons)):
        inner.append(f"%d{i} = {by} {last}, %c{i} : tile<i1>\n")
        last = f"%d{i}"
    return loop("less_than %i, %l", inside="".join(inner)).replace("if %c ", f"if {last} ")


BOUNDS = f"{ARGUMENTS}, %m: tile<i8>"


@pytest.mark.parametrize("comparisons", [
    ("less_than %i, %k", "greater_than_or_equal %i, %m"),  # outside of a range
    ("greater_than_or_equal %i, %k", "less_than_or_equal %i, %m"),  # in a range
])  # fmt: skip
@pytest.mark.parametrize("by", ["ori", "andi"])
def test_each_of_two_comparisons_splits_a_loop(comparisons: tuple[str, str], by: str) -> None:
    body = combined(*comparisons, by=by)
    before, after = kernel(body, BOUNDS), run(kernel(body, BOUNDS), "loop-split")
    assert counts(after) == (3, 0)
    ends = [0x80, 0, 3, 5, 0x7F]
    cases = [(low, up, step, k, m) for low in (0xFE, 0) for up in (0, 7) for step in (1, 3)
             for k in ends for m in ends]  # fmt: skip
    for case in cases:
        expected = trace(next(before.entries()), case)
        assert trace(next(after.entries()), case) == expected, case


def test_one_comparison_of_two_splits_a_loop() -> None:
    """The other does not change with the counter: one of the two loops keeps the branch."""
    body = combined("less_than %i, %k", "less_than %k, %m", by="ori")
    before, after = kernel(body, BOUNDS), run(kernel(body, BOUNDS), "loop-split")
    assert counts(after) == (2, 1)
    for case in [(0, 7, 1, k, m) for k in (0, 3, 7) for m in (1, 4)]:
        assert trace(next(after.entries()), case) == trace(next(before.entries()), case), case


def test_the_number_of_parts_is_limited() -> None:
    comparisons = [f"less_than %i, %{bound}" for bound in "kmu"] + ["greater_than %i, %k"]
    module = run(kernel(combined(*comparisons, by="ori"), BOUNDS), "loop-split")
    assert counts(module)[0] == 4


def test_constant_bounds_leave_constant_bounds() -> None:
    constants = "".join(
        f"%{name} = constant <i8: {value}> : tile<i8>\n"
        for name, value in {"l": 0, "u": 100, "s": 4, "k": 33}.items()
    )
    body = constants + loop("greater_than %i, %k")
    lines = simplified(body, passes="loop-split,canonicalize")
    assert [line for line in lines if line.startswith("for")] == [
        "for %loopIdx in (%cst_0_i8 to %cst_36_i8, step %cst_4_i8) : tile<i8> {",
        "for %loopIdx in (%cst_36_i8 to %cst_100_i8, step %cst_4_i8) : tile<i8> {",
    ]


@pytest.mark.parametrize(
    "body",
    [
        loop("equal %i, %k"),
        loop("not_equal %i, %k"),
        loop("less_than %l, %k"),
        loop("less_than %i, %i"),
        loop("less_than %i, %k").replace("%k, signed", "%k, unsigned"),
    ],
)
def test_other_conditions_stay(body: str) -> None:
    module = run(kernel(body, ARGUMENTS), "loop-split")
    assert counts(module) == (1, 1)


def test_a_bound_from_inside_the_loop_stays() -> None:
    body = loop("less_than %i, %j").replace("%c =", "%j = addi %k, %i : tile<i8>\n%c =")
    assert counts(run(kernel(body, ARGUMENTS), "loop-split")) == (1, 1)


def test_other_uses_of_the_condition_get_a_constant() -> None:
    inside = (
        '%w = exti %c unsigned : tile<i1> -> tile<i8>\nprint_tko "%d", %w : tile<i8> -> token\n'
    )
    body = loop("less_than %i, %k", inside=inside)
    before, after = kernel(body, ARGUMENTS), run(kernel(body, ARGUMENTS), "loop-split")
    assert counts(after) == (2, 0)
    case = (0, 9, 2, 5)
    assert trace(next(after.entries()), case) == trace(next(before.entries()), case)


def test_a_branch_deeper_inside_gets_a_known_condition() -> None:
    body = loop("less_than %i, %k").replace(
        "if %c", "for %j in (%l to %u, step %s) : tile<i8> {\nif %c"
    )
    body = body.replace("\n}\n", "\n}\n}\n")
    module = run(kernel(body, ARGUMENTS), "loop-split")
    assert counts(module) == (4, 2)
    assert counts(run(module, "canonicalize")) == (4, 0)


def test_an_iteration_that_ends_early_in_one_branch() -> None:
    body = (
        "%r = for %i in (%l to %u, step %s) : tile<i8> iter_values(%v = %k) -> (tile<i8>) {\n"
        "%c = cmpi less_than %i, %k, signed : tile<i8> -> tile<i1>\n"
        f"if %c {{ {SHOW.format('then')} continue %i : tile<i8> }}\n{SHOW.format('rest')}"
        "%w = addi %v, %i : tile<i8>\ncontinue %w : tile<i8>\n}\n"
        'print_tko "%d", %r : tile<i8> -> token\n'
    )
    before, after = kernel(body, ARGUMENTS), run(kernel(body, ARGUMENTS), "loop-split")
    assert counts(after) == (2, 0)
    for case in ((0, 9, 2, 5), (0, 9, 1, 0x80), (0, 9, 1, 0x7F), (0xF0, 3, 4, 0xFF)):
        assert trace(next(after.entries()), case) == trace(next(before.entries()), case)


@pytest.mark.parametrize(
    ("passes", "hint", "if_hint", "is_split"),
    [
        ("loop-split{split-threshold=0}", "", "", False),
        ("loop-split{split-threshold=2}", "", "", False),
        ("loop-split{split-threshold=1}", "", "", True),
        ("loop-split", " {cuda_tile.loop_split = 0 : i32}", "", False),
        ("loop-split", "", " {cuda_tile.loop_split = 0 : i32}", False),
        ("loop-split{split-threshold=0}", " {cuda_tile.loop_split = 1 : i32}", "", True),
        ("loop-split", " {cuda_tile.loop_split = 0 : i32}", " {cuda_tile.loop_split = 1 : i32}",
         True),
    ],
)  # fmt: skip
def test_thresholds_and_hints(passes: str, hint: str, if_hint: str, is_split: bool) -> None:
    module = kernel(loop("less_than %i, %k", hint=hint, if_hint=if_hint), ARGUMENTS)
    assert counts(run(module, passes)) == ((2, 0) if is_split else (1, 1))


def test_the_hint_of_a_kernel() -> None:
    module = kernel(loop("less_than %i, %k"), ARGUMENTS)
    hinted = kernel(loop("less_than %i, %k", hint=" {cuda_tile.loop_split = 0 : i32}"), ARGUMENTS)
    attribute = next(op for op in hinted.walk() if isinstance(op, ForOp)).attributes
    next(module.entries()).attributes.update(attribute)
    assert counts(run(module, "loop-split")) == (1, 1)


def test_a_heavy_operation_is_always_worth_it() -> None:
    heavy = "%x, %t = load_ptr_tko weak %p : tile<ptr<i8>> -> tile<i8>, token\n"
    body = loop("less_than %i, %k").replace("if %c {", f"if %c {{ {heavy}")
    module = kernel(body, f"{ARGUMENTS}, %p: tile<ptr<i8>>")
    assert counts(run(module, "loop-split{split-threshold=50}")) == (2, 0)
