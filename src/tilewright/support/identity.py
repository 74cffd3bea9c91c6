"""The identity of this compiler: a digest of its source files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Final

EXCLUDED: Final = frozenset(("cutile", "examples", "ptxsim", "reference", "runtime", "testing"))
"""Folders that do not affect the generated code."""

LENGTH: Final = 32
"""Hexadecimal digits of the digest."""

CHUNK: Final = 1 << 18
"""Bytes per read, more than any source file has."""

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def identity() -> str:
    """Return the digest of this compiler."""
    return digest_of(_PACKAGE)


def digest_of(package: str) -> str:
    """Digest the compiler in a folder, independent of the path and of cached bytecode."""
    digest = sha256()
    for name, path in _files(package):
        data = _contents(path)
        # Length prefixes make the encoding injective.
        title = name.encode("utf-8", "surrogateescape")
        digest.update(b"%d %d " % (len(title), len(data)) + title)
        digest.update(data)
    return digest.hexdigest()[:LENGTH]


def _contents(path: str) -> bytes:
    """Read a file without a file object, which is faster for hundreds of files."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = [os.read(file, CHUNK)]
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(file, CHUNK))
    finally:
        os.close(file)
    return b"".join(parts)


def _files(package: str) -> Iterator[tuple[str, str]]:
    """Yield the files that affect the output, in a deterministic order."""
    for entry in _listing(package):
        if not entry.is_dir():
            yield entry.name, entry.path
        elif entry.name not in EXCLUDED:
            yield from _files_below(entry, entry.name)


def _files_below(folder: os.DirEntry[str], prefix: str) -> Iterator[tuple[str, str]]:
    for entry in _listing(folder.path):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            yield from _files_below(entry, name)
        else:
            yield name, entry.path


def _listing(folder: str) -> list[os.DirEntry[str]]:
    """List a folder without caches and editor files."""
    with os.scandir(folder) as entries:
        kept = [each for each in entries if each.name != "__pycache__" and each.name[0] != "."]
    return sorted(kept, key=lambda each: each.name)
