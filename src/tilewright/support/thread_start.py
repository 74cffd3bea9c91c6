"""The start of a thread by one that may be interrupted."""

from __future__ import annotations

from threading import Lock
from typing import Final

STARTING: Final = Lock()
"""Held while a thread starts another one, and while an exception is raised in a thread.

Until a new thread runs, CPython has it under the ident of the one that starts it, and would raise
the exception in the new one.
"""
