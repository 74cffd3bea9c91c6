"""The options of a compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.support.schedule_keys import SCHEDULE
from tilewright.support.tensor_map_parameters import KERNEL

if TYPE_CHECKING:
    from tilewright.target.arch import Arch


class Settings(NamedTuple):
    """Target, optimization level and options of a compilation."""

    arch: Arch
    opt_level: int = 3
    line_info: bool = False
    device_debug: bool = False
    """Emit full debug information and do not optimize."""
    sanitize: bool = False
    """Check every access of global memory against its view."""
    schedule: str = ""
    """What is asked of passes that schedule loops, such as `stages=3`."""
    tensor_maps: str = KERNEL
    """What encodes tensor maps: the kernel, or its launcher, which passes them as parameters."""
    timeout: float | None = None
    """The time limit of LLVM, and of ptxas, in seconds. The result does not depend on it."""
    schedule_source: str = SCHEDULE
    """What asks for the schedule. Of the result, only texts of levels depend on it."""
