"""Write the dialect reference from the declarations of operations, types and attributes.

    python tools/dialect_reference.py

Writes `docs/ops/`: a page for each registered dialect, and their index.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Final

from tilewright.driver.lsp.documentation import doc_text, summary, text_form
from tilewright.driver.registry import DIALECTS, context
from tilewright.ir.attributes import Attribute, EnumAttr
from tilewright.ir.declare import (
    TEXT_ONLY,
    Arity,
    AttributeField,
    OperandField,
    RegionField,
    ResultField,
)
from tilewright.ir.dialect import Dialect
from tilewright.ir.effects import Effects
from tilewright.ir.operation import Operation

FOLDER: Final = Path(__file__).parent.parent / "docs" / "ops"
NOTE: Final = "<!-- written by tools/dialect_reference.py from src/tilewright/dialects -->"

INDEX: Final = """\
# Dialect reference

{note}

Each operation is declared once, as a class, and the parser, the printer, the verifier and the
bytecode derive from the declaration; so do these pages. A field with `?` is optional, one with `…`
is a group of any size. In a text form, `$name` is a field, parts in brackets are optional, and
`attr-dict` is the dictionary of the other attributes. The generic form of MLIR is accepted for
every operation. [Editors](../editors.md) show the same.

| dialect | operations | |
|---|---:|---|
{rows}
"""

DESCRIPTIONS: Final = {
    "cuda_tile": "Tile IR, the input: tiles, views, pointers and tokens",
    "nv_tileaa": "Tiles as tensors, in canonical form ([the level](../nv_tileaa.md))",
    "nv_tileas": "Tiles with layouts, pipelines, shared memory ([the level](../nv_tileas.md))",
    "arith": "Arithmetic on scalars and vectors, as in MLIR",
    "math": "Mathematical functions, as in MLIR",
    "scf": "Structured control flow, as in MLIR",
    "cf": "Branches between blocks, as in MLIR",
    "func": "Functions, as in MLIR",
    "ub": "Undefined values, as in MLIR",
    "vector": "The values of a thread, as in MLIR",
    "memref": "Memory, as in MLIR",
    "gpu": "Kernels, indices, barriers and shuffles, as in MLIR",
    "nvgpu": "mbarriers, TMA, mma and packed arithmetic "
    "([differences from MLIR](../dialects.md#where-nvgpu-says-more-than-mlirs))",
    "cute": "Layout attributes",
    "cute_nvgpu": "Asynchronous wgmma, TMA on a stage, tensor maps "
    "([overview](../dialects.md#cute_nvgpu))",
    "nvvm": "Instructions of PTX ([emission](../nvvm.md))",
    "llvm": "LLVM IR ([emission](../nvvm.md))",
    "builtin": "Modules and casts, as in MLIR",
}  # fmt: skip

_MARKS: Final = {Arity.ONE: "", Arity.OPTIONAL: "?", Arity.VARIADIC: "…"}
_EFFECTS: Final = {Effects.NONE: "no effects"}


def page(name: str) -> str:
    """The page of a dialect."""
    dialect = _dialect(name)
    lines = [f"# {name}", "", NOTE, "", f"{DESCRIPTIONS[name]}.", ""]
    for title, kinds in (("Types", dialect.types), ("Attributes", dialect.attributes)):
        if kinds:
            lines += [f"## {title}", "", "| name | meaning |", "|---|---|"]
            lines += [_row(mnemonic, kind) for mnemonic, kind in sorted(kinds.items())]
            lines.append("")
    if dialect.ops:
        lines += ["## Operations", ""]
        lines += [line for op in _operations(dialect) for line in _operation(op)]
    return "\n".join(lines).rstrip("\n") + "\n"


def index() -> str:
    """The page that lists the dialects."""
    rows = [
        f"| [{name}]({name}.md) | {len(_operations(_dialect(name)))} | {description} |"
        for name, description in DESCRIPTIONS.items()
    ]
    return INDEX.format(note=NOTE, rows="\n".join(rows))


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    return {"README.md": index(), **{f"{name}.md": page(name) for name in DESCRIPTIONS}}


def _dialect(name: str) -> Dialect:
    dialect = context().dialect(name)
    assert dialect is not None
    return dialect


def _operations(dialect: Dialect) -> list[type[Operation]]:
    return sorted(set(dialect.ops.values()), key=lambda op: op.name)


def _row(mnemonic: str, kind: type[Attribute]) -> str:
    meaning = summary(kind)
    if issubclass(kind, EnumAttr):
        meaning += " One of " + ", ".join(f"`{member.keyword}`" for member in kind) + "."
    return f"| `{mnemonic}` | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


def _prose(text: str) -> str:
    """Keep `<` and `*` of a docstring from being read as markup, outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([<*\[\]])", r"\\\1", piece)
        for piece in pieces
    )


def _operation(op: type[Operation]) -> Iterator[str]:
    yield from (f"### {op.name}", "")
    for paragraph in doc_text(op).split("\n\n"):
        # An example is indented; it stays as it is.
        if paragraph.startswith("    "):
            yield from ("```text", dedent(paragraph), "```", "")
        else:
            yield from (_prose(" ".join(paragraph.split())), "")
    if op.syntax is not None:
        yield from ("```text", text_form(op), "```", "")
    rows = list(_fields(op))
    if rows:
        yield from ("| | field | is |", "|---|---|---|", *rows, "")
    facts = list(_facts(op))
    if facts:
        yield from ("; ".join(facts).capitalize() + ".", "")


def _facts(op: type[Operation]) -> Iterator[str]:
    if op.effects in _EFFECTS:
        yield _EFFECTS[op.effects]
    if op.is_terminator:
        yield "a terminator"
    if op.since is not None and op.name.startswith("cuda_tile."):
        yield f"since bytecode {op.since[0]}.{op.since[1]}"


def _fields(op: type[Operation]) -> Iterator[str]:
    notes = _field_notes(op)
    for field in op.schema.by_name.values():
        match field:
            case OperandField() | ResultField():
                kind = "operand" if isinstance(field, OperandField) else "result"
                mark, text = _MARKS[field.arity], field.constraint.description
            case AttributeField():
                kind, mark = "attribute", "?" if field.optional else ""
                text = _attribute(field)
            case RegionField():
                kind, mark, text = "region", "", _region(field)
            case _:
                raise AssertionError(field)
        name = field.spelling if isinstance(field, AttributeField) else field.name
        text += f". {notes[field.name]}" if field.name in notes else ""
        if field.since == TEXT_ONLY:
            text += ", in text only"
        elif field.since is not None:
            text += f", since bytecode {field.since[0]}.{field.since[1]}"
        yield f"| {kind} | `{name}`{mark} | {_cell(text)} |"


def _attribute(field: AttributeField[object]) -> str:
    text = field.kind.description
    if field.default is None or field.optional:
        return text
    shown = getattr(field.default, "keyword", None) or str(field.default).lower()
    return f"{text}, default `{shown}`"


def _region(field: RegionField) -> str:
    if field.max_blocks == 1:
        return "one block" if field.min_blocks == 1 else "at most one block"
    return "blocks"


def _field_notes(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class and of its bases."""
    notes: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, Operation) and base is not Operation:
            # A class that a table makes has no statement of its own.
            notes |= _class_notes(base.__module__).get(base.__name__, {})
    return notes


@cache
def _class_notes(module: str) -> dict[str, dict[str, str]]:
    """The docstrings below the fields of each class of a module."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: _notes(node.body) for node in classes}


def _notes(body: Sequence[ast.stmt]) -> dict[str, str]:
    notes: dict[str, str] = {}
    for statement, following in pairwise(body):
        match statement, following:
            case (
                ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                notes[name] = " ".join(text.split())
            case _:
                pass
    return notes


def main() -> None:
    """Write the pages."""
    assert set(DESCRIPTIONS) == set(DIALECTS)
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
