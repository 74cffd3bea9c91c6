"""The facts of measured plans, as `cost_facts.py` writes them: reading needs no cuTile."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, Final, NamedTuple

from tilewright.schedule.cost_inputs import Plan
from tilewright.schedule.launch_cost import Launch
from tilewright.schedule.work import Dot, Loop, Reduction, Work

RESULTS: Final = Path(__file__).parent / "results"
TIMES: Final = RESULTS / "plans-h200.json"
FACTS: Final = RESULTS / "plan-facts.json.xz"


class Facts(NamedTuple):
    """What is known of all rows."""

    launches: dict[str, Launch]
    """By program."""
    plans: dict[str, dict[str, list[tuple[str, Plan]]]]
    """By row and schedule: each program in the order of launches, with its plan."""


def read_facts(path: Path = FACTS) -> Facts:
    """Read a file of facts."""
    stored = json.loads(lzma.decompress(path.read_bytes()))
    launches = {
        name: Launch(blocks, tuple(map(_loop, samples)), size)
        for name, (blocks, samples, size) in stored["launches"].items()
    }
    plans = {
        row: {
            schedule: [(name, Plan.of(plan)) for name, plan in kernels]
            for schedule, kernels in schedules.items()
        }
        for row, schedules in stored["plans"].items()
    }
    return Facts(launches, plans)


def write_facts(facts: Facts, path: Path) -> None:
    """Write a file of facts."""
    text = json.dumps({"launches": facts.launches, "plans": facts.plans}, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9))


def _loop(stored: list[Any]) -> Loop:
    trips, entries, work, loops, number = stored
    return Loop(trips, entries, _work(work), tuple(map(_loop, loops)), number)


def _work(stored: list[Any]) -> Work:
    work = Work(*stored)
    return work._replace(
        dots=tuple((Dot(*dot), times) for dot, times in work.dots),
        lanes=tuple((elements, weight) for elements, weight in work.lanes),
        special=tuple((elements, weight) for elements, weight in work.special),
        reductions=tuple((Reduction(*each), times) for each, times in work.reductions),
    )
