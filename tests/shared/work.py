"""Count the work of a call, independently of the machine's speed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


class TooMuchWorkError(BaseException):
    """A call made more calls than its limit; raised in it, so that it ends."""


def count_calls(function: Callable[[], object], limit: int = 10_000_000) -> int:
    """Call a function and count the calls of Python functions in it, up to a limit."""
    count = 0

    def hook(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"
        if count > limit:
            sys.setprofile(None)
            raise TooMuchWorkError(f"more than {limit} calls")

    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
