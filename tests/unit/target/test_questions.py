"""Passes ask a GPU for what it offers, never for features, its name or its number."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from each_case import each_case

SOURCE = Path(__file__).parents[3] / "src" / "tilewright"

ANY_QUESTION = ("target", "emit/llvm")
"""The descriptions of GPUs, and the emission table, which states what each instruction requires."""
WHICH_GPU = (
    *ANY_QUESTION,
    "analysis/targets.py",  # finds the GPU by the number that a module carries
    "conversion/cuda_tile_to_nv_tileaa",  # writes that number, by an option
    "dialects/nv_tileaa/attributes.py",  # declares it
    "driver",  # options of users
    "testing",  # profiles of random programs
    "tileiras",  # options of users
)
"""What reads or writes the names of GPUs."""

Question = Callable[[ast.AST], bool]


WORDS = ("features", "sm_", ".number", "compute_capability")
"""Every question has one of them: other modules are not parsed."""


@cache
def nodes(path: Path) -> list[ast.AST]:
    text = path.read_text(encoding="utf-8")
    return list(ast.walk(ast.parse(text))) if any(word in text for word in WORDS) else []


def modules(allowed: tuple[str, ...]) -> Iterator[Path]:
    """The modules of the compiler outside of some folders and modules."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not any(name == each or name.startswith(f"{each}/") for each in allowed):
            yield path


def imports_features(node: ast.AST) -> bool:
    """Whether a node imports the features, or a GPU's own file."""
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [f"{module}.{each.name}" for each in node.names]
    elif isinstance(node, ast.Import):
        names = [each.name for each in node.names]
    else:
        return False
    unwanted = ("tilewright.target.features", "tilewright.target.sm_")
    return any(name.startswith(unwanted) for name in names)


def is_gpu(node: ast.expr) -> bool:
    """Whether an expression is named like a GPU: `arch`, `self._target`."""
    name = getattr(node, "id", None) or getattr(node, "attr", "")
    return name.strip("_") in ("arch", "gpu", "target")


def asks_for_features(node: ast.AST) -> bool:
    """Whether a node reads the set of features of a GPU."""
    return isinstance(node, ast.Attribute) and node.attr == "features" and is_gpu(node.value)


def asks_which_gpu(node: ast.AST) -> bool:
    """Whether a node reads the number of a GPU, or compares a name with that of one."""
    if isinstance(node, ast.Attribute):
        is_number = node.attr == "number" and is_gpu(node.value)
        return is_number or node.attr == "compute_capability"
    if not isinstance(node, ast.Compare):
        return False
    constants = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return any(str(constant.value).startswith("sm_") for constant in constants)


def offenders(allowed: tuple[str, ...], question: Question) -> list[str]:
    """Where modules outside of the allowed ones ask a question."""
    return [
        f"{path.relative_to(SOURCE).as_posix()}:{getattr(node, 'lineno', 0)}"
        for path in modules(allowed)
        for node in nodes(path)
        if question(node)
    ]


@each_case("question", [imports_features, asks_for_features])
def test_only_the_emission_table_asks_for_features(question: Question) -> None:
    assert offenders(ANY_QUESTION, question) == []


def test_nothing_that_decides_asks_which_gpu_it_is() -> None:
    assert offenders(WHICH_GPU, asks_which_gpu) == []


@each_case(
    ("code", "question"),
    [
        ("from tilewright.target.features import Feature", imports_features),
        ("import tilewright.target.sm_90", imports_features),
        ("Feature.TMA in arch.features", asks_for_features),
        ("self._arch.number >= 90", asks_which_gpu),
        ("name in ('sm_90', 'sm_100')", asks_which_gpu),
        ("spec.compute_capability < 90", asks_which_gpu),
    ],
)
def test_the_scan_sees_such_questions(code: str, question: Question) -> None:
    assert any(map(question, ast.walk(ast.parse(code))))
    assert any(word in code for word in WORDS)
