"""Locations in the Python source of kernels, which may be no file."""

from __future__ import annotations

import linecache

from tilewright.support.location import FileLoc


class PythonSourceLoc(FileLoc):
    """A location in a Python source that this process has compiled.

    Notebooks and `exec` have sources that are no files, and whose names have no suffix.
    """

    __slots__ = ()

    @property
    def shown_column(self) -> int:
        # Python's parser counts bytes of UTF-8, from 0.
        head = linecache.getline(self.file, self.line).encode()[: self.column]
        return len(head.decode(errors="replace")) + 1 if head else self.column + 1

    def excerpt(self) -> tuple[str, int] | None:
        line = linecache.getline(self.file, self.line).rstrip("\r\n")
        return (line, self.shown_column) if line else None
