"""An order of the parts of a program in which loops stay together and joins come last."""

from __future__ import annotations

from collections.abc import Sequence


def loop_order(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each node its place in a weak topological order; node 0 is the entry.

    Whatever can only be reached from a loop by leaving it comes behind the loop, and what follows
    both arms of a branch comes behind both: threads that wait for the least place meet again.
    """
    place = [0] * len(successors)
    position = 0
    work = [list(range(len(successors)))]
    while work:
        nodes = work.pop()
        if len(nodes) == 1:
            place[nodes[0]] = position
            position += 1
            continue
        parts = _components(nodes, successors)
        if len(parts) == 1:
            head = parts[0][0]
            place[head] = position
            position += 1
            parts = _components(parts[0][1:], successors)
        work.extend(parts)
    return place


def _components(nodes: Sequence[int], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected parts, every part before those that lead to it.

    The first node of a part is the one that the search reached first. (Tarjan's algorithm, with a
    list for the stack of calls.)
    """
    inside = set(nodes)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[list[int]] = []
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
                    found.append(_close(node, open_nodes, is_open))
    return found


def _close(head: int, open_nodes: list[int], is_open: set[int]) -> list[int]:
    part: list[int] = []
    while True:
        node = open_nodes.pop()
        is_open.discard(node)
        part.append(node)
        if node == head:
            return part[::-1]
