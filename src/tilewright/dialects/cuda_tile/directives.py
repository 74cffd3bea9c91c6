"""The custom parts of operation syntax, by the name that `custom<...>` uses."""

from __future__ import annotations

from typing import Final

DIRECTIVES: Final[dict[str, object]] = {}
