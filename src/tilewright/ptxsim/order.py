"""Weak topological order of a control-flow graph: loops contiguous, joins last."""

from __future__ import annotations

from collections.abc import Sequence


def loop_order(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each node its position in a weak topological order; node 0 is the entry.

    The exit of a loop follows the loop, and the join of a branch follows the branches: threads
    reconverge if the group with the least position runs first.
    """
    positions = [0] * len(successors)
    position = 0
    work = [list(range(len(successors)))]
    while work:
        nodes = work.pop()
        if len(nodes) == 1:
            positions[nodes[0]] = position
            position += 1
            continue
        parts = _components(nodes, successors)
        if len(parts) == 1:
            head = parts[0][0]
            positions[head] = position
            position += 1
            parts = _components(parts[0][1:], successors)
        work.extend(parts)
    return positions


def _components(nodes: Sequence[int], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components, each before its predecessors.

    The first node of a component is the one that the search reached first. (Tarjan's algorithm
    with an explicit call stack.)
    """
    inside = set(nodes)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    components: list[list[int]] = []
    for root in nodes:
        if root in number:
            continue
        calls = [(root, iter(successors[root]))]
        number[root] = low[root] = len(number)
        open_nodes.append(root)
        is_open.add(root)
        while calls:
            node, following = calls[-1]
            for successor in following:
                if successor not in inside:
                    continue
                if successor not in number:
                    number[successor] = low[successor] = len(number)
                    open_nodes.append(successor)
                    is_open.add(successor)
                    calls.append((successor, iter(successors[successor])))
                    break
                if successor in is_open:
                    low[node] = min(low[node], number[successor])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == number[node]:
                    components.append(_pop_component(node, open_nodes, is_open))
    return components


def _pop_component(head: int, open_nodes: list[int], is_open: set[int]) -> list[int]:
    component: list[int] = []
    while True:
        node = open_nodes.pop()
        is_open.discard(node)
        component.append(node)
        if node == head:
            return component[::-1]
