"""Select a kernel of a module by its symbol, or by its C++ name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tilewright.support.demangle import MANGLED, demangled
from tilewright.support.diagnostics import InvalidValue

_OPEN: Final = "(<[{"
_CLOSE: Final = ")>]}"


def choose_kernel(symbols: Sequence[str], asked: str | None) -> str:
    """Return the symbol of the kernel that `asked` names; without a name, of the only kernel.

    A C++ name is as in the source, with or without namespaces, template arguments and parameters:
    `add`, `math::add` or `add(float*, int)`. Raises `InvalidValue` with the candidates if it
    names no kernel, or several.
    """
    if asked is None:
        if len(symbols) == 1:
            return symbols[0]
        wanted = "a name, since the module has several kernels" if symbols else "a kernel"
        raise InvalidValue(f"expected {wanted}; its kernels are: {_listed(symbols)}")
    if asked in symbols:
        return asked
    texts = demangled(symbols)
    matching = [name for name, text in texts.items() if _squeeze(asked) in spellings(text)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InvalidValue(
            f"expected the name of one kernel, found '{asked}'; it may be: "
            f"{_listed(matching, texts)}"
        )
    raise InvalidValue(f"expected '{asked}'; its kernels are: {_listed(symbols, texts)}")


def _listed(symbols: Sequence[str], texts: dict[str, str] | None = None) -> str:
    if texts is None:
        texts = demangled(symbols) if any(map(_is_mangled, symbols)) else {}
    rows = (f"'{name}'" + (f" ({texts[name]})" if name in texts else "") for name in symbols)
    return ", ".join(rows) or "none"


def _is_mangled(name: str) -> bool:
    return name.startswith(MANGLED)


def spellings(text: str) -> set[str]:
    """Return the ways to write a demangled function, without spaces."""
    end = text.rfind(")")
    start = _opening(text, end)
    head, parameters = (text, "") if start < 0 else (text[:start], text[start : end + 1])
    head = head[_after_outer(head, " ") :]
    last = head[_after_outer(head, ":") :]
    names = {head, last}
    names |= {name[: _opening(name, len(name) - 1)] for name in names if name.endswith(">")}
    with_parameters = {f"{name}{parameters}" for name in names}
    return {_squeeze(name) for name in (*names, *with_parameters, text) if name}


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _opening(text: str, end: int) -> int:
    """Return the index of the bracket that the one at `end` closes; -1 without one."""
    nesting = 0
    for index in range(end, -1, -1):
        nesting += (text[index] in _CLOSE) - (text[index] in _OPEN)
        if not nesting:
            return index
    return -1


def _after_outer(text: str, separator: str) -> int:
    """Return the index after the last separator outside brackets; 0 without one."""
    nesting = 0
    for index in range(len(text) - 1, -1, -1):
        nesting += (text[index] in _CLOSE) - (text[index] in _OPEN)
        if not nesting and text[index] == separator:
            return index + 1
    return 0
