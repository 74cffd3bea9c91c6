"""Triton programs without a GPU: Triton compiles kernels, the PTX emulator runs and checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tilewright.triton.switching import disable, enable
    from tilewright.triton.versions import KNOWN_VERSIONS

__all__ = ["KNOWN_VERSIONS", "disable", "enable"]

_HOME: Final = {
    "KNOWN_VERSIONS": "tilewright.triton.versions",
    "disable": "tilewright.triton.switching",
    "enable": "tilewright.triton.switching",
}

# The command line reads its options before it loads NumPy and the emulator.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from tilewright.support.lazy import imported  # noqa: PLC0415

        return imported(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
