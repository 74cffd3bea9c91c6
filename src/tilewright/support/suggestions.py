"""Names that are similar to one that nothing has."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST: Final = 0.7
"""How similar a name is at least: three of four letters, but not two of three."""


def similar_names(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The names that are most similar to a name, the nearest first.

    >>> similar_names("adf", ["addf", "subf", "mulf"])
    ['addf']
    """
    return get_close_matches(name, list(known), count, LEAST)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the nearest one, if there is a similar one.

    >>> did_you_mean("compil", ["as", "dis", "compile"])
    "; did you mean 'compile'?"
    >>> did_you_mean("frobnicate", ["as", "dis", "compile"])
    ''
    """
    near = similar_names(name, known)
    return f"; did you mean '{near[0]}'?" if near else ""
