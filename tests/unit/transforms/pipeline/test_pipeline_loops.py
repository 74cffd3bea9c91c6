"""Loops with random stages and orders compute the same bits as the loops as written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from integrity import check_integrity
from repeats import keep_first
from tileaa_programs import module

import tilewright
from tilewright.dialects.nv_tileaa.attribute_names import AT, CONTINUES
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.schedule_problems import schedule_problems
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import UNIT
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.transforms.pipeline.expansion import expand_early
from tilewright.transforms.pipeline.pipeline_loops import chain_problem

OPERATIONS: Final = ("addi", "subi", "muli", "xori", "andi", "ori")
TRIPS: Final = range(6)
CARRIED: Final = 3
INITIAL: Final = ("%b0", "%b1", "%b2", "%start")
COUNT: Final = 64
"""The elements of each of the two arrays, one to load from and one to store to."""
PROGRAMS: Final = 40
STAGES: Final = range(-3, 4)
CHAINS: Final = 3


class Body:
    """The operations of a random loop over `i32`, which carries numbers and a token."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self.lines = rng, list[str]()
        self._values = ["%i", "%n", *[f"%x{number}" for number in range(CARRIED)]]
        self._tokens = ["%t"]
        for number in range(rng.randint(4, 12)):
            self._add(number, rng.choice((*OPERATIONS, "load", "load", "store", "if")))
        self.yielded = [rng.choice(self._values[1:]) for _ in range(CARRIED)]
        self.token = self._tokens[-1]

    def _add(self, number: int, kind: str) -> None:
        value, other = self._rng.choices(self._values, k=2)
        name = f"%v{number}"
        token = f" token = {self._tokens[-1]}"
        if kind in OPERATIONS:
            self.lines.append(f"{name} = aa.{kind} {value}, {other} : i32")
        elif kind == "if":
            self.lines.append(
                f"{name} = scf.if %c -> (i32) {{ scf.yield {value} : i32 }} "
                f"else {{ %w{number} = aa.addi {value}, {other} : i32\n"
                f"scf.yield %w{number} : i32 }}"
            )
        else:
            self.lines += [
                f"%j{number} = aa.andi {value}, %mask : i32",
                f"%a{number} = aa.addptr {'%q' if kind == 'store' else '%p'}, %j{number} "
                ": !aa.ptr<i32>, i32",
            ]
        if kind == "load":
            ordered = self._rng.choice(("", "", token))
            self.lines.append(
                f"{name}, %t{number} = aa.load weak %a{number}{ordered} : !aa.ptr<i32> -> i32"
            )
        elif kind == "store":
            self._tokens.append(f"%t{number}")
            self.lines.append(
                f"%t{number} = aa.store weak %a{number}, {value}{token} : !aa.ptr<i32>, i32"
            )
        if kind != "store":
            self._values.append(name)


def loop(body: Body, number: int, bounds: str, lines: list[str]) -> str:
    """A loop whose carried values are those of the one before it."""
    carried = [*[f"%x{index}" for index in range(CARRIED)], "%t"]
    types = ", ".join(["i32"] * CARRIED + ["!aa.mem_token"])
    before = [f"%r{number}#{index}" for index in range(CARRIED + 1)] if number else INITIAL
    pairs = ", ".join(f"{name} = {value}" for name, value in zip(carried, before, strict=True))
    return (
        f"%r{number + 1}:{CARRIED + 1} = scf.for %i = {bounds} iter_args({pairs}) -> ({types}) "
        ": i32 {\n" + "\n".join(lines) + f"\nscf.yield {', '.join([*body.yielded, body.token])} "
        f": {types}\n}}\n"
    )


def program(loops: str, last: int) -> Operation:
    """A kernel with loops, which stores what the last one returns."""
    stored = "\n".join(
        f"%o{index} = arith.constant {COUNT + index} : i32\n"
        f"%e{index} = aa.addptr %q, %o{index} : !aa.ptr<i32>, i32\n"
        f"%s{index} = aa.store weak %e{index}, %r{last}#{index} token = %r{last}#{CARRIED} "
        ": !aa.ptr<i32>, i32"
        for index in range(CARRIED)
    )
    first = "\n".join(f"%b{index} = arith.constant {index + 5} : i32" for index in range(CARRIED))
    return module(f"""module {{ aa.func @f(%p: !aa.ptr<i32>, %q: !aa.ptr<i32>, %n: i32, %m: i32)
        attributes {{kernel_spec = #aa.kernel_spec<>}} {{
      %mask = arith.constant {COUNT - 1} : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %c = aa.cmpi slt, %m, %n : i32
      %end = arith.minsi %n, %m : i32
      %later = arith.maxsi %zero, %m : i32
      %start = aa.create_mem_token : !aa.mem_token
      {first}
      {loops}
      {stored}
      aa.return
    }} }}""")


def loops_of(root: Operation) -> list[ForOp]:
    return [op for op in root.walk() if isinstance(op, ForOp)]


def schedule(loop: ForOp, rng: random.Random, stages: range) -> None:
    """Give operations random stages and orders, as far as the verifier allows them."""
    ops = [op for op in loop.body.block if op is not loop.body.block.last]
    for op in rng.sample(ops, len(ops)):
        for _ in range(4):
            op.attributes[AT] = AtAttr(rng.choice(stages), rng.randrange(4))
            if not list(schedule_problems(LoopSchedule(loop))):
                break
            del op.attributes[AT]


def outcome(root: Operation, trips: int, middle: int) -> Any:
    """What the kernel stores."""
    p = np.arange(COUNT, dtype=np.int32) * 7 - 100
    q = np.zeros(COUNT + CARRIED, np.int32)
    tilewright.execute(root, "f", 1, [p, q, trips, middle], check=True)
    return q


def by_pass(root: Operation) -> None:
    parse_pipeline("pipeline-loops").run(root)


def check(
    root: Operation,
    middles: range,
    expand: Callable[[Operation], object] = by_pass,
) -> None:
    """Compare the loops before and after their expansion, for all trip counts."""
    verify(root)
    cases = [(trips, middle) for trips in TRIPS for middle in middles]
    before = [outcome(root, *case) for case in cases]
    expand(root)
    verify(root)
    check_integrity(root)
    assert not any(AT in op.attributes or CONTINUES in op.attributes for op in root.walk())
    for case, expected in zip(cases, before, strict=True):
        assert outcome(root, *case).tobytes() == expected.tobytes(), case


def single(seed: int) -> Operation:
    """A loop with random stages, with a step of one or three."""
    rng = random.Random(seed)
    body = Body(rng)
    bounds = rng.choice(("%zero to %n step %one", "%zero to %n step %three"))
    root = program(loop(body, 0, bounds, body.lines), 1)
    schedule(loops_of(root)[0], rng, STAGES)
    return root


def chain(seed: int) -> Operation | None:
    """Two loops that go on, one after the other; None if they have no common pipeline.

    Both are equal, but for an operation of the first stage.
    """
    rng = random.Random(seed)
    body = Body(rng)
    others = [line.replace("aa.xori", "aa.subi", 1) for line in body.lines]
    first = loop(body, 0, "%zero to %end step %one", body.lines)
    root = program(first + loop(body, 1, "%later to %n step %one", others), 2)
    one, other = loops_of(root)
    schedule(one, rng, range(2))
    for op, twin in zip(one.body.block, other.body.block, strict=True):
        if AT in op.attributes:
            twin.attributes[AT] = op.attributes[AT]
    if list(schedule_problems(LoopSchedule(other))):
        return None
    if chain_problem(LoopSchedule(one), LoopSchedule(other)) is not None:
        return None
    other.attributes[CONTINUES] = UNIT
    return root


@pytest.mark.parametrize("group", keep_first(range(4)))
def test_results_are_those_of_the_loop_as_written(group: int) -> None:
    stages = set[int]()
    for seed in range(group * PROGRAMS, group * PROGRAMS + PROGRAMS // 2):
        root = single(seed)
        points = [op.attributes.get(AT) for op in root.walk()]
        stages |= {point.stage for point in points if isinstance(point, AtAttr)}
        check(root, range(1))
    assert stages == set(STAGES)


@pytest.mark.parametrize("group", keep_first(range(4)))
def test_results_of_chains_are_those_of_the_loops_as_written(group: int) -> None:
    seeds = range(group * PROGRAMS, (group + 1) * PROGRAMS)
    made = [root for seed in seeds if (root := chain(seed)) is not None]
    assert len(made) >= CHAINS
    for root in made[:CHAINS]:
        check(root, range(-1, 6, 3))


FIRST: Final = """
  %r1:2 = scf.for %i = %zero to %end step %one iter_args(%x = %b0, %t = %start)
      -> (i32, !aa.mem_token) : i32 {
    %j = aa.andi %i, %mask : i32
    %a = aa.addptr %p, %j : !aa.ptr<i32>, i32
    %v, %tv = aa.load weak %a : !aa.ptr<i32> -> i32
    %y = aa.muli %x, %v : i32
    scf.yield %y, %t : i32, !aa.mem_token
  }"""
SECOND: Final = """
  %r2:4 = scf.for %i = %later to %n step %one
      iter_args(%x = %r1#0, %y = %b1, %z = %b2, %t = %r1#1)
      -> (i32, i32, i32, !aa.mem_token) : i32 {
    %j = aa.andi %i, %mask : i32
    %a = aa.addptr %p, %j : !aa.ptr<i32>, i32
    %v, %tv = aa.load weak %a : !aa.ptr<i32> -> i32
    %w = aa.subi %y, %v : i32
    scf.yield %z, %x, %w, %t : i32, i32, i32, !aa.mem_token
  }"""


@pytest.mark.parametrize("distance", [1, 2, 4])
def test_a_loop_executes_early_what_later_ones_need(distance: int) -> None:
    """Consecutive loops that carry different values, with the same loads."""
    root = program(FIRST + SECOND, 2)
    for op in root.walk():
        if isinstance(op, LoadOp):
            op.attributes[AT] = AtAttr(-distance, 0)

    def expand(root: Operation) -> None:
        made = expand_early([LoopSchedule(loop) for loop in loops_of(root)])
        assert made == loops_of(root)
        assert [len(loop.results) for loop in made] == [2 + distance, 4 + distance]

    check(root, range(-1, 6), expand)
