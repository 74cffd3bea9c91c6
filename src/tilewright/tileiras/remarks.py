"""Format remarks: LLVM's YAML, and text for the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tilewright.support.remark_catalogue import MEMORY, TENSOR_CORE
from tilewright.support.source_location import source_location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tilewright.support.remarks import Remark

TAGS: Final = {
    "passed": "Passed",
    "missed": "Missed",
    "failed": "Failure",
    "analysis": "Analysis",
}
CATEGORIES: Final = {"memory": MEMORY, "tensorcore": TENSOR_CORE}
"""The categories that can be selected on the command line."""

_KEY, _ARGUMENT = 17, 13
"""The columns of the values."""
_PLAIN: Final = re.compile(r"[A-Za-z_](?:[\w.,^ -]*[\w.,^-])?")
_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_NUMBER: Final = re.compile(r"\d+")


def select(remarks: Iterable[Remark], categories: Mapping[str, str]) -> list[Remark]:
    """Select the requested remarks and remove duplicates, such as those of split loops."""
    kept = dict.fromkeys(each for each in remarks if _is_requested(each, categories[each.kind]))
    return list(kept)


def _is_requested(remark: Remark, category: str) -> bool:
    return category == "all" or CATEGORIES.get(category) == remark.category


def as_yaml(remarks: Iterable[Remark]) -> str:
    """Format one YAML document per remark, as in LLVM's remark files."""
    return "".join(f"{line}\n" for remark in remarks for line in _document(remark))


def _document(remark: Remark) -> Iterator[str]:
    yield f"--- !{TAGS[remark.kind]}"
    yield _row("Pass", remark.category)
    yield _row("Name", remark.name)
    source = source_location(remark.location)
    if source is not None:
        debug_loc = (
            f"{{ File: {_quoted(source.file)}, Line: {source.line}, Column: {source.column} }}"
        )
        yield "DebugLoc:".ljust(_KEY) + debug_loc
    yield _row("Function", remark.function)
    yield "Args:"
    for key, value in (*_arguments(remark), *remark.details):
        head = f"{key}:".ljust(_ARGUMENT - 1)
        yield f"  - {head} {_scalar(value)}"
    yield "..."


def _arguments(remark: Remark) -> Iterator[tuple[str, str]]:
    """The arguments of every remark, under the keys of MLIR's remarks."""
    yield "Remark", remark.text
    if remark.reason:
        yield "Reason", remark.reason
    if remark.remedy:
        yield "Suggestion", remark.remedy
    yield "Id", remark.id


def _row(key: str, value: str) -> str:
    return f"{key}:".ljust(_KEY) + _scalar(value)


def _scalar(text: str) -> str:
    """Format a YAML scalar: plain if unambiguous, otherwise quoted."""
    plain = _NUMBER.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _WORDS)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    import json  # noqa: PLC0415 - rarely needed

    return json.dumps(text)


def as_text(remarks: Iterable[Remark]) -> str:
    """Format remarks by function and category, with their locations."""
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
    source = source_location(remark.location)
    if source is not None:
        yield f'      --> "{source.file}":{source.line}:{source.column}'
    yield "       |"
    yield f"       = name: {remark.name}"
    yield f"       = id: {remark.id}"
    if remark.reason:
        yield f"       = reason: {remark.reason}"
    if remark.remedy:
        yield f"       = suggestion: {remark.remedy}"
    for key, value in remark.details:
        yield f"       = note: {key} = {value}"
