"""The stages and orders of operations: text, and what the verifier says about them."""

from __future__ import annotations

import pickle
from typing import Final

import pytest
from dialect_text import errors, read

from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule
from tilewright.dialects.scf import ForOp
from tilewright.text.printer import print_op

FUNCTION: Final = """module {{ nv_tileaa.func @f(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<i32>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
  %sum, %all = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %t = %t0) -> (i32, !nv_tileaa.mem_token) : i32 {{
    %a = nv_tileaa.addptr %p, %i{address} : !nv_tileaa.ptr<i32>, i32
    %v, %tv = nv_tileaa.load weak %a{load} : !nv_tileaa.ptr<i32> -> i32
    %x = nv_tileaa.muli %s, %v{mul} : i32
    %y = nv_tileaa.addi %x, %v{add} : i32
    %u = nv_tileaa.store weak %a, %y token = %t{store} : !nv_tileaa.ptr<i32>, i32
    scf.yield %y, %u : i32, !nv_tileaa.mem_token
  }}
  nv_tileaa.return
}} }}"""  # noqa: E501
BEFORE: Final = "stage {}, order {} is before an operand is computed at stage {}, order {}"
NAMES: Final = ("address", "load", "mul", "add", "store")


def at(stage: int, order: int) -> str:
    return f" {{nv_tileaa.at = #nv_tileaa.at<stage = {stage}, order = {order}>}}"


def text(**points: tuple[int, int]) -> str:
    given = {name: at(*points[name]) if name in points else "" for name in NAMES}
    return FUNCTION.format(**given)


def test_attributes_print_as_they_parse() -> None:
    root = read(text(mul=(0, 2), add=(1, 0), store=(1, 0)))
    assert print_op(read(print_op(root))) == print_op(root)
    assert print_op(root).count("nv_tileaa.at = #nv_tileaa.at<stage = 1, order = 0>") == 2
    point = AtAttr(1, 2)
    assert pickle.loads(pickle.dumps(point)) is point
    shorter = text(add=(1, 0)).replace("stage = 1, order = 0", "stage = 1")
    assert print_op(read(shorter)) == print_op(read(text(add=(1, 0))))


@pytest.mark.parametrize(("stage", "order", "message"), [
    (4, 0, "expected a stage from -64 to 3, found 4"),
    (-65, 0, "expected a stage from -64 to 3, found -65"),
    (0, -1, "order must not be negative, got -1"),
])  # fmt: skip
def test_numbers_are_limited(stage: int, order: int, message: str) -> None:
    assert message in errors(text(add=(stage, order)))[0]


@pytest.mark.parametrize(("points", "message"), [
    ({"mul": (2, 0), "add": (1, 0)}, BEFORE.format(1, 0, 2, 0)),
    ({"mul": (0, 1), "add": (0, 0)}, BEFORE.format(0, 0, 0, 1)),
    # A carried value: the operation needs the result of the iteration before.
    ({"mul": (0, 0), "add": (2, 0)}, BEFORE.format(0, 0, 2, 0)),
    ({"mul": (0, 0), "add": (1, 1)}, BEFORE.format(0, 0, 1, 1)),
    ({"mul": (0, 1), "add": (1, 1)}, BEFORE.format(0, 1, 1, 1)),
    # The prologue executes a negative stage for all of its iterations before the next one.
    ({"load": (-1, 0), "mul": (-2, 1)}, BEFORE.format(-2, 1, -1, 0)),
    ({"store": (-1, 0)}, "cannot execute it for an iteration that may not exist: it is not pure"),
])  # fmt: skip
def test_operands_are_computed_before(points: dict[str, tuple[int, int]], message: str) -> None:
    assert any(message in each for each in errors(text(**points)))


@pytest.mark.parametrize("points", [
    {"mul": (0, 2), "add": (1, 1)},
    {"load": (-1, 0), "mul": (0, 1)},
    {"address": (-3, 0), "load": (-2, 1), "mul": (0, 1)},
    {"load": (0, 0), "mul": (2, 0), "add": (2, 0), "store": (3, 0)},
    {"mul": (0, 3), "add": (0, 3), "store": (0, 3)},
])  # fmt: skip
def test_schedules_that_can_be_executed(points: dict[str, tuple[int, int]]) -> None:
    assert errors(text(**points)) == []


def test_only_operations_of_counted_loops_have_them() -> None:
    outside = text().replace("%c1 = arith.constant 1", f"%c1 = arith.constant{at(0, 0)} 1")
    (message,) = errors(outside)
    assert "expected 'nv_tileaa.at' on an operation of the body of a 'scf.for'" in message
    wrong = text(add=(0, 0)).replace("#nv_tileaa.at<stage = 0, order = 0>", "3 : i32")
    assert "failed to satisfy constraint: a stage and an order" in errors(wrong)[0]
    index = text(add=(0, 0)).replace(": i32 {", ": index {")
    assert errors(index)


def test_operations_with_effects_stay_in_order() -> None:
    strong = text(store=(1, 0)).replace("store weak", "store relaxed tl_blk")
    assert any("an operation without effects, or a weak access" in each for each in errors(strong))


def test_missing_points_are_filled_in() -> None:
    """An address is computed by each stage that uses it, what has effects at the end."""
    root = read(text(load=(-1, 0), mul=(0, 5), add=(1, 0)))
    (loop,) = (op for op in root.walk() if isinstance(op, ForOp))
    made = [(op.name, stage, order) for op, stage, order in LoopSchedule(loop).instances]
    assert made == [
        ("nv_tileaa.addptr", -1, 0),
        ("nv_tileaa.load", -1, 0),
        ("nv_tileaa.addi", 1, 0),
        ("nv_tileaa.muli", 0, 5),
        ("nv_tileaa.addptr", 1, 6),
        ("nv_tileaa.store", 1, 6),
    ]
