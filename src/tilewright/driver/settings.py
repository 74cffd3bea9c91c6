"""The options of a compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tilewright.target.arch import Arch


class Settings(NamedTuple):
    """What a program is compiled for."""

    arch: Arch
    opt_level: int = 3
    line_info: bool = False
    device_debug: bool = False
    """Keep lines and variables for a debugger; nothing is optimized away."""
    sanitize: bool = False
    """Check every access of global memory against its view."""
