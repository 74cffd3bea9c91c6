"""What tells this compiler from every other: a digest of its own files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Final

BYSTANDERS: Final = frozenset(("cutile", "ptxsim", "reference", "runtime", "testing"))
"""Parts of the package that run programs or call the compiler, and do not change what it makes."""

LENGTH: Final = 32
"""Hexadecimal digits: as many as tell any two compilers apart."""

CHUNK: Final = 1 << 18
"""More than any file of ours has."""

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def identity() -> str:
    """The digest of this compiler: where one line of it changes, so does this."""
    return digest_of(_PACKAGE)


def digest_of(package: str) -> str:
    """The digest of the compiler in a folder, whatever the folder is called and whoever ran it."""
    digest = sha256()
    for name, path in _files(package):
        data = _contents(path)
        # With its lengths, no part can be taken for a part of its neighbour.
        title = name.encode("utf-8", "surrogateescape")
        digest.update(b"%d %d " % (len(title), len(data)) + title)
        digest.update(data)
    return digest.hexdigest()[:LENGTH]


def _contents(path: str) -> bytes:
    """The bytes of a file, without a file object: there are hundreds, and a process waits."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = [os.read(file, CHUNK)]
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(file, CHUNK))
    finally:
        os.close(file)
    return b"".join(parts)


def _files(package: str) -> Iterator[tuple[str, str]]:
    """The files that can change the output, by name: the same order everywhere."""
    for entry in _listing(package):
        if not entry.is_dir():
            yield entry.name, entry.path
        elif entry.name not in BYSTANDERS:
            yield from _files_below(entry, entry.name)


def _files_below(folder: os.DirEntry[str], prefix: str) -> Iterator[tuple[str, str]]:
    for entry in _listing(folder.path):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            yield from _files_below(entry, name)
        else:
            yield name, entry.path


def _listing(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, without what Python and editors leave there."""
    with os.scandir(folder) as entries:
        kept = [each for each in entries if each.name != "__pycache__" and each.name[0] != "."]
    return sorted(kept, key=lambda each: each.name)
