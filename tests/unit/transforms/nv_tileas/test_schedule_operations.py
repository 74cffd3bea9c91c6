"""The list scheduler: dependences first, then priorities, then program order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

from each_case import each_case

from tilewright.transforms.nv_tileas.schedule_operations import (
    AFTER,
    BEFORE,
    DependenceGraph,
    Priority,
    list_schedule,
)

Edges = Sequence[tuple[int, int]]


def schedule(count: int, edges: Edges, chosen: Mapping[int, Priority]) -> list[int]:
    """The schedule of operations that are known by their number alone."""
    predecessors: list[set[int]] = [set() for _ in range(count)]
    successors: list[set[int]] = [set() for _ in range(count)]
    for first, second in edges:
        successors[first].add(second)
        predecessors[second].add(first)
    graph = SimpleNamespace(ops=range(count), predecessors=predecessors, successors=successors)
    return list_schedule(cast("DependenceGraph", graph), chosen)


@each_case(("edges", "chosen", "order"), [
    ([], {}, [0, 1, 2, 3]),
    ([(0, 3), (1, 2)], {}, [0, 1, 2, 3]),
    ([], {3: (1, BEFORE)}, [0, 3, 1, 2]),
    # What the early one needs is as early, and all else stays.
    ([(2, 3)], {3: (1, BEFORE)}, [0, 2, 3, 1]),
    # It cannot be issued before what it depends on, directly or not.
    ([(1, 2), (2, 3)], {3: (1, BEFORE)}, [0, 1, 2, 3]),
    ([], {0: (2, AFTER)}, [1, 2, 0, 3]),
    ([], {0: (2, BEFORE)}, [1, 0, 2, 3]),
    # What depends on the late one follows it, before later operations.
    ([(0, 1)], {0: (2, AFTER)}, [2, 0, 1, 3]),
    # Two that are late, with an operation that needs both: neither follows it.
    ([(0, 2), (1, 2)], {0: (3, AFTER), 1: (3, AFTER)}, [3, 0, 1, 2]),
    # An early operation needs the late one.
    ([(0, 3)], {0: (2, AFTER), 3: (1, BEFORE)}, [0, 3, 1, 2]),
    # Equal priorities keep their order.
    ([], {2: (1, BEFORE), 3: (1, BEFORE)}, [0, 2, 3, 1]),
])  # fmt: skip
def test_order(edges: Edges, chosen: Mapping[int, Priority], order: Sequence[int]) -> None:
    assert schedule(4, edges, chosen) == list(order)
