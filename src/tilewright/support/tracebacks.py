"""Tracebacks of errors about the user's program: they end where it calls this package.

Frames inside say nothing about the program, and hide the diagnostic that does.
`TILEWRIGHT_TRACEBACK=full` keeps them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from tilewright.support.diagnostics import Error

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE: Final = "TILEWRIGHT_TRACEBACK"

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_ours(file: str) -> bool:
    """Whether a file is a part of this package."""
    return file.startswith(_PACKAGE)


class _Hooks:
    """Whether the hooks for uncaught exceptions are installed."""

    installed: bool = False


def ends_tracebacks(function: Callable[P, T]) -> Callable[P, T]:
    """Drop the frames inside of a function from the traceback of an `Error` that it raises.

    Its own frame stays, as Python adds it last: pytest and IPython hide it by the variable
    below, and the hooks for uncaught exceptions drop it.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except Error as error:
            if os.environ.get(VARIABLE) == "full":
                raise
            _install_hooks()
            raise error.with_traceback(None) from error.__cause__

    return call


def end_at_user(trace: TracebackType | None) -> None:
    """Cut the frames of this package off the end of a traceback, in place."""
    last: TracebackType | None = None
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None


def _install_hooks() -> None:
    """Cut tracebacks of uncaught errors, in the main thread and in others, before they print.

    Hooks are installed with the first error: programs without one keep theirs untouched.
    """
    if _Hooks.installed:
        return
    _Hooks.installed = True
    import threading  # noqa: PLC0415 - only with an error

    show, show_in_thread = sys.excepthook, threading.excepthook

    def show_at_user(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Error):
            end_at_user(trace)
        show(kind, error, trace)

    def show_in_thread_at_user(args: threading.ExceptHookArgs) -> None:
        if isinstance(args.exc_value, Error):
            end_at_user(args.exc_traceback)
        show_in_thread(args)

    sys.excepthook = show_at_user
    threading.excepthook = show_in_thread_at_user
