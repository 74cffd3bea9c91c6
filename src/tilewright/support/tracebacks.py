"""Tracebacks of errors about the user's program: they end where it calls this package.

Frames inside say nothing about the program, and hide the diagnostic that does. The same holds for
errors of cuTile's compiler about a kernel, and for the frames that start the program.
`TILEWRIGHT_TRACEBACK=full` keeps all, and bugs of ours have them always.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from tilewright.support.diagnostics import Error

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE: Final = "TILEWRIGHT_TRACEBACK"

_CUTILE: Final = "cuda.tile"
_RUNPY: Final = "<frozen runpy>"

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_ours(file: str) -> bool:
    """Whether a file is a part of this package."""
    return file.startswith(_PACKAGE)


class _Hooks:
    """Whether the hooks for uncaught exceptions are installed, and the folders that they hide."""

    installed: bool = False
    hidden: tuple[str, ...] = (_PACKAGE,)


def hide_frames_of(folder: str) -> None:
    """Let tracebacks of errors about the program end before frames of a client's folder, too."""
    _Hooks.hidden = tuple({*_Hooks.hidden, os.path.join(folder, "")})


def keeps_all_frames() -> bool:
    """Whether the environment asks for all frames."""
    return os.environ.get(VARIABLE) == "full"


def is_about_program(error: BaseException) -> bool:
    """Whether an exception is about the user's program.

    Those of cuTile are, unless their cause is a bug of ours: any exception other than an `Error`
    that was raised through this package.
    """
    if isinstance(error, Error):
        return True
    return _is_of_cutile(error) and not any(map(_is_bug, _causes(error)))


def _is_of_cutile(error: BaseException) -> bool:
    modules = [kind.__module__ for kind in type(error).__mro__]
    return any(each == _CUTILE or each.startswith(f"{_CUTILE}.") for each in modules)


def _is_bug(error: BaseException) -> bool:
    return not isinstance(error, Error) and any(map(is_ours, _files(error.__traceback__)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exceptions that Python shows before this one."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if cause is not error:
            yield cause
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context


def _files(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename
        trace = trace.tb_next


def ends_tracebacks(function: Callable[P, T]) -> Callable[P, T]:
    """Drop the frames inside of a function from tracebacks of errors about the program.

    Its own frame stays, as Python adds it last: pytest and IPython hide it by the variable
    below, and the hooks for uncaught exceptions drop it.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if keeps_all_frames() or not is_about_program(error):
                raise
            install_hooks()
            raise error.with_traceback(None) from error.__cause__

    return call


def end_at_user(trace: TracebackType | None) -> bool:
    """Cut the hidden frames off the end of a traceback, in place; return if it had any."""
    last: TracebackType | None = None
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_Hooks.hidden):
            last = trace
        trace = trace.tb_next
    if last is None or last.tb_next is None:
        return False
    last.tb_next = None
    return True


def install_hooks() -> None:
    """Cut tracebacks of uncaught errors, in the main thread and in others, before they print.

    Hooks are installed with the first error: programs without one keep theirs untouched.
    """
    if _Hooks.installed or keeps_all_frames():
        return
    _Hooks.installed = True
    import threading  # noqa: PLC0415 - only with an error

    show, show_in_thread = sys.excepthook, threading.excepthook

    def show_at_user(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _shorten(error, trace)
        show(kind, error, trace)

    def show_in_thread_at_user(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            _shorten(args.exc_value, args.exc_traceback)
        show_in_thread(args)

    sys.excepthook = show_at_user
    threading.excepthook = show_in_thread_at_user


def _shorten(error: BaseException, trace: TracebackType | None) -> None:
    """Cut the traceback of an error about the program, and those of causes inside of cuTile."""
    if not is_about_program(error) or not end_at_user(trace) or not _is_of_cutile(error):
        return
    folder = os.path.dirname(os.path.abspath(sys.modules[_CUTILE].__file__ or "")) + os.sep
    for cause in _causes(error):
        # Other causes have frames of the program: functions that run while it is compiled.
        if all(file.startswith(folder) for file in _files(cause.__traceback__)):
            cause.__traceback__ = None


def begin_at_program(*starters: str, hide_runpy: bool = True) -> None:
    """Start tracebacks of uncaught exceptions at the first frame of the program.

    `starters` are the files that run the program. If they do so by `runpy`, those frames are hidden
    too, unless Python itself would show them, as for `python -m`.
    """
    show = sys.excepthook

    def show_from_program(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if not keeps_all_frames() and not _ends_inside(error, trace):
            trace = _after_start(trace, starters, hide_runpy=hide_runpy)
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_from_program


def _after_start(
    trace: TracebackType | None, starters: tuple[str, ...], *, hide_runpy: bool
) -> TracebackType | None:
    """The traceback without the frames that start the program."""
    program = trace
    while trace is not None and trace.tb_frame.f_code.co_filename in (*starters, _RUNPY):
        if hide_runpy or trace.tb_frame.f_code.co_filename in starters:
            program = trace.tb_next
        trace = trace.tb_next
    return program


def _ends_inside(error: BaseException, trace: TracebackType | None) -> bool:
    """Whether this package raised an exception that is not about the program."""
    # The program is compiled by its starter: that raises the errors of its syntax.
    if isinstance(error, SyntaxError) or is_about_program(error):
        return False
    *_, last = ("", *_files(trace))
    return is_ours(last)
