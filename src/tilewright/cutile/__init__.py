"""cuTile Python with Tilewright: compile kernels for a GPU, or run them on the CPU."""

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

# Compiling for a GPU does not load the reference executor.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from tilewright.support.lazy import imported  # noqa: PLC0415

        return imported(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
