"""Which recorded tests a change of the sources can affect, the most specific ones first.

A node is a function or method (`path:Class.method`), the rest of a class body (`path:Class`), a
module-level name (`path:NAME`), or a file that is not Python (`file:path`). A change of a function
affects the tests that call it. Class bodies and module-level names take effect when a module is
loaded, and cached functions when they are called first: a change of these affects the tests of the
functions that mention the name.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

SOURCES: Final = ("src", "tools", "tests")
"""The folders in which mentions of a name are looked for."""
STEPS: Final = 2
"""How many times a mention outside of functions leads on to the mentions of another name.

Registries mention every operation, and every compilation uses registries: with more steps all
changes of a class affect all tests.
"""
CACHES: Final = ("cache", "lru_cache", "cached_property")


class Record(NamedTuple):
    """The tests of a recorded run, with their seconds, and the tests that reached each node."""

    commit: str
    tests: list[tuple[str, float]]
    nodes: dict[str, int]
    """Bit `n` is set if test `n` reached the node."""

    def write(self, path: Path) -> None:
        """Write the record; a reader sees the old or the new one."""
        bits = {node: f"{tests:x}" for node, tests in self.nodes.items()}
        new = path.with_suffix(".new")
        new.write_text(json.dumps([self.commit, self.tests, bits]), encoding="utf-8")
        new.replace(path)

    @staticmethod
    def read(path: Path) -> Record:
        """Read what `write` wrote."""
        commit, tests, bits = json.loads(path.read_text(encoding="utf-8"))
        tests = [(name, seconds) for name, seconds in tests]
        return Record(commit, tests, {node: int(text, 16) for node, text in bits.items()})

    @staticmethod
    def merge(commit: str, folder: Path) -> Record:
        """Merge the files that the processes of a run wrote to a folder."""
        seconds: dict[str, float] = {}
        reached: dict[str, set[str]] = {}
        for path in sorted(folder.glob("*.json")):
            for test, (time, nodes) in json.loads(path.read_text()).items():
                seconds[test] = max(time, seconds.get(test, 0.0))
                for node in nodes:
                    reached.setdefault(node, set()).add(test)
        numbers = {test: number for number, test in enumerate(seconds)}
        bits = {node: sum(1 << numbers[test] for test in tests) for node, tests in reached.items()}
        return Record(commit, list(seconds.items()), bits)


class Definition(NamedTuple):
    """A node of a module: its code, and whether each call of it can be recorded."""

    code: str
    is_recorded: bool


def definitions(path: str, source: str) -> dict[str, Definition]:
    """The nodes of a module."""
    parts: dict[str, list[ast.AST]] = {}
    functions: set[str] = set()
    for name, node in _statements(ast.parse(source), ""):
        parts.setdefault(name, []).append(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_cached(node):
            functions.add(name)
    return {
        f"{path}:{name}": Definition("\n".join(map(ast.dump, nodes)), name in functions)
        for name, nodes in parts.items()
    }


def _statements(scope: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """The statements of a module or class with the name of the node that each belongs to."""
    for statement in scope.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{prefix}{name}", statement
            case ast.ClassDef(name=name):
                for part in (*statement.bases, *statement.keywords, *statement.decorator_list):
                    yield f"{prefix}{name}", part
                yield from _statements(statement, f"{prefix}{name}.")
            case _ if prefix:
                yield prefix[:-1], statement
            case _:
                for name in _bound_names(statement):
                    yield name, statement


def _bound_names(statement: ast.stmt) -> Iterable[str]:
    """The names that a module-level statement binds."""
    match statement:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name for alias in aliases]
        case _:
            stored = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
            names = [each.id for each in stored if isinstance(each.ctx, ast.Store)]
            return names or ["<module>"]


def _is_cached(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether later calls of a function do not run its body."""
    return any(
        any(name in ast.unparse(decorator) for name in CACHES)
        for decorator in function.decorator_list
    )


def changed_nodes(path: str, old: str, new: str) -> dict[str, Definition]:
    """The nodes of a module that differ between two versions, those that are gone included."""
    before, after = definitions(path, old), definitions(path, new)
    return {
        node: after.get(node) or before[node]
        for node in before.keys() | after.keys()
        if before.get(node) != after.get(node)
    }


class Mentions:
    """The nodes of the project in which a name occurs."""

    def __init__(self, root: Path) -> None:
        self._sources = {
            str(path.relative_to(root)): path.read_text(encoding="utf-8")
            for folder in SOURCES
            for path in sorted((root / folder).rglob("*.py"))
        }
        self._definitions: dict[str, dict[str, Definition]] = {}

    def of(self, name: str) -> dict[str, Definition]:
        """The nodes that mention a name, apart from imports of it."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        quoted = f"'{name}'"
        nodes: dict[str, Definition] = {}
        for path, source in self._sources.items():
            if word.search(source) is None:
                continue
            for node, definition in self._nodes(path).items():
                if quoted in definition.code and not node.endswith(f":{name}"):
                    nodes[node] = definition
        return nodes

    def methods(self, node: str) -> dict[str, Definition]:
        """The nodes inside of a class."""
        path = node.partition(":")[0]
        if path not in self._sources:
            return {}
        inner = self._nodes(path).items()
        return {each: definition for each, definition in inner if each.startswith(f"{node}.")}

    def _nodes(self, path: str) -> dict[str, Definition]:
        if path not in self._definitions:
            self._definitions[path] = definitions(path, self._sources[path])
        return self._definitions[path]


def reached_nodes(changed: Mapping[str, Definition], mentions: Mentions) -> dict[str, int]:
    """The nodes whose tests a change can affect, with the number of mentions in between."""
    reached = dict.fromkeys(changed, 0)
    frontier = dict(changed)
    for step in range(1, STEPS + 1):
        following: dict[str, Definition] = {}
        for node, definition in frontier.items():
            if not definition.is_recorded:
                name = re.split(r"[:.]", node)[-1]
                following |= mentions.of(name) | mentions.methods(node)
        frontier = {node: each for node, each in following.items() if node not in reached}
        reached |= dict.fromkeys(frontier, step)
    return reached


def affected_tests(record: Record, reached: Mapping[str, int]) -> list[int]:
    """The numbers of the affected tests, the most specific ones first.

    A test is the more specific, the fewer mentions are between it and the change, and the fewer
    tests reach a changed node that it reaches.
    """
    ranks: dict[int, tuple[int, int]] = {}
    for node, steps in reached.items():
        bits = record.nodes.get(node, 0)
        rank = (steps, bits.bit_count())
        while bits:
            number = (bits & -bits).bit_length() - 1
            bits &= bits - 1
            ranks[number] = min(rank, ranks.get(number, rank))
    return sorted(ranks, key=lambda number: (ranks[number], record.tests[number][1]))
