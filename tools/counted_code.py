"""Find tests of the GPU and measured constants in sources, by rules on the syntax tree.

- A test of the GPU is a use of `Feature.X`, of an attribute `capability`, `compute_capability` or
  `features`, a string `sm_90` or a comparison with `arch.number`, and `isinstance` with a class of
  `target`.
- A constant is a name in upper case, of a module or annotated in a class, whose value has a number
  other than -1, 0 and 1: the number itself, arithmetic, a tuple, set, list or dict, or a keyword
  argument. Members of enumerations are none.
- An unnamed constant is a number other than -1, 0, 1 and 2 that is compared (also in a tuple on the
  right of `in`, or by `min` and `max`), or an element of a tuple, list or set in a function. A
  number that arithmetic or a subscript uses (`x % 8 == 0`), or that is compared with a rank, a
  width or a length, is shape arithmetic and does not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

CAPABILITIES: Final = ("capability", "compute_capability", "features")
NAMED_GPU: Final = re.compile(r"sm_\d+[af]?")
EXTENTS: Final = re.compile(r"(^|_)(rank|width|bits|len|dims?|axis|dimensions?)$")
"""Names whose comparison with a number is about a shape or a type."""


class Occurrence(NamedTuple):
    """A line of a file, and what it has."""

    file: str
    line: int
    text: str


def number_of(node: ast.expr) -> float | None:
    """The value of a number, if the expression is one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return None if isinstance(node.value, bool) else node.value
    return None


def numbers_in(node: ast.expr) -> Iterator[float]:
    """The numbers that a constant is made of; types and attributes have none."""
    value = number_of(node)
    if value is not None:
        yield value
        return
    match node:
        case ast.BinOp():
            parts = [node.left, node.right]
        case ast.Tuple() | ast.List() | ast.Set():
            parts = node.elts
        case ast.Dict():
            parts = [each for each in (*node.keys, *node.values) if each is not None]
        case ast.Call():
            parts = [each.value for each in node.keywords]
        case _:
            parts = []
    for part in parts:
        yield from numbers_in(part)


def named_constants(file: str, tree: ast.Module) -> Iterator[Occurrence]:
    """The constants of a module and of its classes."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    members = [each for kind in classes for each in kind.body if isinstance(each, ast.AnnAssign)]
    for statement in (*tree.body, *members):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case _:
                continue
        if name.isupper() and any(number not in (-1, 0, 1) for number in numbers_in(value)):
            yield Occurrence(file, statement.lineno, ast.unparse(statement))


def unnamed_constants(file: str, tree: ast.Module) -> Iterator[Occurrence]:
    """The numbers in comparisons and in tuples of functions."""
    seen: set[ast.expr] = set()
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        # A comparison is visited before a tuple in it, which is shape arithmetic if it is.
        for node in ast.walk(function):
            for number in (each for each in candidates(node) if each not in seen):
                seen.add(number)
                if not is_shape(node) and number_of(number) not in (None, -1, 0, 1, 2):
                    yield Occurrence(file, number.lineno, ast.unparse(node))


def candidates(node: ast.AST) -> Sequence[ast.expr]:
    """The expressions of a node that are constants if they are numbers."""
    match node:
        case ast.Compare():
            return [each for side in (node.left, *node.comparators) for each in elements(side)]
        case ast.Call(func=ast.Name(id="min" | "max")):
            return node.args
        case ast.Subscript(slice=ast.Tuple() as index):
            return index.elts
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) | ast.Set():
            return node.elts
        case _:
            return ()


def elements(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple, or the expression itself."""
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]


def is_shape(node: ast.AST) -> bool:
    """Whether a comparison is with a rank, a width or a length, or a node is a subscript."""
    match node:
        case ast.Compare():
            return any(map(is_extent, (node.left, *node.comparators)))
        case ast.Call():
            return any(map(is_extent, node.args))
        case _:
            return isinstance(node, ast.Subscript)


def is_extent(node: ast.expr) -> bool:
    """Whether an expression is a rank, a width or a length."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
            return EXTENTS.search(name) is not None
        case _:
            return False


def gpu_tests(file: str, tree: ast.Module, classes: frozenset[str]) -> Iterator[Occurrence]:
    """The expressions that ask which GPU it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="Feature")):
                pass
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in CAPABILITIES:
                pass
            case ast.Constant(value=str(text)) if NAMED_GPU.fullmatch(text):
                pass
            case ast.Compare() if any(
                isinstance(side, ast.Attribute) and ast.unparse(side).endswith("arch.number")
                for side in (node.left, *node.comparators)
            ):
                pass
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]) if classes & {
                each.id for each in ast.walk(kind) if isinstance(each, ast.Name)
            }:
                pass
            case _:
                continue
        yield Occurrence(file, getattr(node, "lineno", 0), ast.unparse(node))
