"""Locations in the Python source of kernels, and the expressions there."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from typing import Final

from tilewright.support.cutile_names import cutile_function
from tilewright.support.python_location import PythonSourceLoc

_OPERATORS: Final = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
_MAX_EXPRESSION: Final = 60
"""The most characters of an expression in a message."""


class PythonLoc(PythonSourceLoc):
    """A location in a Python source, with the program's spelling of the operation there."""

    __slots__ = ()

    def spelling(self, op: str) -> str | None:
        """How the program spells an operation: the called function, or the expression."""
        nodes = _nodes(self.file).get((self.line, self.column), ())
        operators = [node for node in nodes if isinstance(node, _OPERATORS)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        if operators and cutile_function(op) is None:
            return _shortened(ast.unparse(operators[0]))
        if calls:
            return _function(_chosen(calls, op))
        for node in nodes:
            if isinstance(node, ast.arg):
                return f"parameter '{node.arg}'"
            if isinstance(node, ast.FunctionDef):
                return f"function '{node.name}'"
            if isinstance(node, ast.expr):
                return _shortened(ast.unparse(node))
        return None


@lru_cache(maxsize=16)
def _nodes(file: str) -> dict[tuple[int, int], list[ast.AST]]:
    """The nodes of a source by their start, outer before inner; empty if it cannot be parsed."""
    nodes: dict[tuple[int, int], list[ast.AST]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return nodes
    for node in ast.walk(tree):
        line: int | None = getattr(node, "lineno", None)
        if line is not None:
            nodes.setdefault((line, getattr(node, "col_offset", 0)), []).append(node)
    return nodes


def _chosen(calls: list[ast.Call], op: str) -> ast.Call:
    """Of chained calls, which start at one column, that of an operation; else the innermost."""
    name = (cutile_function(op) or "").rpartition(".")[2]
    return next((call for call in calls if name and _last_name(call) == name), calls[-1])


def _last_name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def _function(call: ast.Call) -> str:
    """The called function as the program spells it; of a method of an expression, its name."""
    text = ast.unparse(call.func)
    return text if text.replace(".", "").isidentifier() else f".{_last_name(call)}"


def _shortened(text: str) -> str:
    return f"'{text}'" if len(text) <= _MAX_EXPRESSION else f"'{text[:_MAX_EXPRESSION]}...'"
