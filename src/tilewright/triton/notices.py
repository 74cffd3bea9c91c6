"""What a run without a GPU does otherwise, said once on standard error."""

from __future__ import annotations

import sys

_said: set[str] = set()


def say_once(text: str) -> None:
    """Print a note unless it has been printed."""
    if text not in _said:
        _said.add(text)
        print(f"note: {text}", file=sys.stderr)


def forget() -> None:
    """Print all notes again."""
    _said.clear()
