"""Remarks as text: LLVM's YAML for tools, and a form for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.support.remarks import MEMORY, TENSOR_CORE
from tilewright.support.source_place import source_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tilewright.support.remarks import Remark

TAGS: Final = {
    "passed": "Passed",
    "missed": "Missed",
    "failed": "Failure",
    "analysis": "Analysis",
}
CHOSEN: Final = {"memory": MEMORY, "tensorcore": TENSOR_CORE}
"""The categories that a command line can pick."""

_KEY, _ARGUMENT = 17, 13
"""Columns before the values."""
_PLAIN: Final = re.compile(r"[A-Za-z_](?:[\w.,^ -]*[\w.,^-])?")
_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_NUMBER: Final = re.compile(r"\d+")


def select(remarks: Iterable[Remark], categories: Mapping[str, str]) -> list[Remark]:
    """Those that are asked for, each once: a loop that was split has its operations twice."""
    kept = dict.fromkeys(each for each in remarks if _wanted(each, categories[each.kind]))
    return list(kept)


def _wanted(remark: Remark, category: str) -> bool:
    return category == "all" or CHOSEN.get(category) == remark.category


def as_yaml(remarks: Iterable[Remark]) -> str:
    """A document each, in the form of LLVM's remark files."""
    return "".join(f"{line}\n" for remark in remarks for line in _document(remark))


def _document(remark: Remark) -> Iterator[str]:
    yield f"--- !{TAGS[remark.kind]}"
    yield _row("Pass", remark.category)
    yield _row("Name", remark.name)
    place = source_place(remark.location)
    if place is not None:
        at = f"{{ File: {_quoted(place.file)}, Line: {place.line}, Column: {place.column} }}"
        yield "DebugLoc:".ljust(_KEY) + at
    yield _row("Function", remark.function)
    yield "Args:"
    for key, value in (("Remark", remark.text), *remark.details):
        head = f"{key}:".ljust(_ARGUMENT - 1)
        yield f"  - {head} {_scalar(value)}"
    yield "..."


def _row(key: str, value: str) -> str:
    return f"{key}:".ljust(_KEY) + _scalar(value)


def _scalar(text: str) -> str:
    """A text as YAML: plain where it can only be a text or a number, else in quotes."""
    plain = _NUMBER.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _WORDS)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    import json  # noqa: PLC0415 - only for what hardly ever occurs

    return json.dumps(text)


def as_text(remarks: Iterable[Remark]) -> str:
    """By function and category, with the places in front."""
    functions: dict[str, dict[str, list[Remark]]] = {}
    for remark in remarks:
        functions.setdefault(remark.function, {}).setdefault(remark.category, []).append(remark)
    lines: list[str] = []
    for function, categories in functions.items():
        lines.append(f"in function: {function}:\n")
        for category in sorted(categories):
            lines.append(f"  category: {category}")
            for remark in categories[category]:
                lines += [*_paragraph(remark), ""]
    return "".join(f"{line}\n" for line in lines)


def _paragraph(remark: Remark) -> Iterator[str]:
    yield f"    remark[{remark.kind}]: {remark.text}"
    place = source_place(remark.location)
    if place is not None:
        yield f'      --> "{place.file}":{place.line}:{place.column}'
    yield "       |"
    yield f"       = name: {remark.name}"
    for key, value in remark.details:
        yield f"       = note: {key} = {value}"
