"""Equal constants become one, at the head of the kernel."""

from __future__ import annotations

from tile_programs import kernel, run, same

from tilewright.dialects.cuda_tile.core import ConstantOp

SHOW = 'print_tko "%d", %{} : tile<i32> -> token\n'
ARGUMENTS = "%c: tile<i1>, %n: tile<i32>"


def constant(name: str, value: int, element: str = "i32") -> str:
    return f"%{name} = constant <{element}: {value}> : tile<{element}>\n"


def test_equal_constants_become_one() -> None:
    body = constant("a", 1) + constant("b", 1) + SHOW.format("a") + SHOW.format("b")
    assert same(body, constant("a", 1) + SHOW.format("a") + SHOW.format("a"), ARGUMENTS)


def test_constants_of_other_types_stay() -> None:
    show = 'print_tko "%d", %b : tile<i64> -> token\n'
    body = constant("a", 1) + constant("b", 1, "i64") + SHOW.format("a") + show
    assert same(body, body, ARGUMENTS)


def test_constants_of_branches_and_loops_are_shared_at_the_head() -> None:
    inner = f"if %c {{\n{constant('a', 7)}{SHOW.format('a')}}}\n"
    body = (
        constant("l", 0) + constant("s", 1) + f"for %i in (%l to %n, step %s) : tile<i32> {{\n"
        f"{inner}{SHOW.format('i')}{constant('b', 7)}{SHOW.format('b')}}}\n"
    )
    expected = (
        constant("a", 7) + constant("l", 0) + constant("s", 1)
        + "for %i in (%l to %n, step %s) : tile<i32> {\n"
        f"if %c {{\n{SHOW.format('a')}}}\n{SHOW.format('i')}{SHOW.format('a')}}}\n"
    )  # fmt: skip
    assert same(body, expected, ARGUMENTS)


def test_constants_after_other_operations_move_up() -> None:
    body = SHOW.format("n") + constant("a", 3) + SHOW.format("a")
    assert same(body, constant("a", 3) + SHOW.format("n") + SHOW.format("a"), ARGUMENTS)


def test_every_kernel_has_its_own() -> None:
    module = kernel(constant("a", 3) + SHOW.format("a"), ARGUMENTS)
    copy = next(module.entries()).clone()
    copy.sym_name = "other"
    module.body.block.append(copy)
    run(module)
    assert sum(isinstance(op, ConstantOp) for op in module.walk()) == 2
