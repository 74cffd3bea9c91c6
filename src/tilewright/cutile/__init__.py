"""Kernels of cuTile Python: compiled by Tilewright for their GPU, or run without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tilewright.cutile.launching import launch
    from tilewright.cutile.switching import disable, enable
    from tilewright.cutile.versions import KNOWN_VERSIONS

__all__ = ["KNOWN_VERSIONS", "disable", "enable", "launch"]

_HOME: Final = {
    "KNOWN_VERSIONS": "tilewright.cutile.versions",
    "disable": "tilewright.cutile.switching",
    "enable": "tilewright.cutile.switching",
    "launch": "tilewright.cutile.launching",
}

# Who compiles for a GPU does not pay for the executor that does without one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from tilewright.support.lazy import imported  # noqa: PLC0415

        return imported(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
