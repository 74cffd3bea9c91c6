"""Functions of NVIDIA's libdevice, one at a time: taken from the library once, then from a cache.

The library is not ours: it is read where its package put it, and what is taken from it stays in
the cache of the user. All of it needs LLVM, and so happens where LLVM is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from tilewright.emit.backend import LIBRARY_FORMAT, Rejected, extract_function, llvm_version
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKSUM: Final = 16
"""Bytes in front of what is kept."""

_functions: dict[tuple[str, str], bytes] = {}
_libraries: dict[str, tuple[bytes, str]] = {}


def library_functions(names: Sequence[str], path: str, folder: str) -> list[bytes]:
    """The bitcode of each function of a library, with all that it needs, kept in a folder."""
    return [_function(name, path, folder) for name in names]


def _function(name: str, path: str, folder: str) -> bytes:
    found = _functions.get((path, name))
    if found is None:
        found = _functions[path, name] = _kept(name, path, folder)
    return found


def _kept(name: str, path: str, folder: str) -> bytes:
    library, digest = _library(path)
    place = os.path.join(folder, "libdevice", digest)
    file = os.path.join(place, f"{name}.bc")
    found = _read(file)
    if found is not None:
        return found
    try:
        made = extract_function(library, name)
    except Rejected as error:
        raise Unsupported(f"'{path}' as libdevice: {error}") from None
    if made is None:
        raise Unsupported(f"'{name}': libdevice has no function of this name")
    _store(place, file, made)
    return made


def _library(path: str) -> tuple[bytes, str]:
    """The whole library, and what tells it from others."""
    found = _libraries.get(path)
    if found is None:
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            reason = f"cannot read '{path}': {error.strerror}"
            raise Unsupported(f"math functions without libdevice: {reason}") from None
        maker = f"{LIBRARY_FORMAT} {llvm_version()}".encode()[:16]
        digest = blake2b(data, digest_size=16, person=maker).hexdigest()
        found = _libraries[path] = (data, digest)
    return found


def _read(file: str) -> bytes | None:
    """What a file keeps; nothing if it is not there or damaged."""
    try:
        with open(file, "rb") as stored:
            checksum, data = stored.read(CHECKSUM), stored.read()
    except OSError:
        return None
    return data if checksum == _checksum(data) else None


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECKSUM).digest()


def _store(folder: str, file: str, data: bytes) -> None:
    """Keep a function for the next process; where that cannot be, do without."""
    # Mostly nothing is left to be kept.
    from tilewright.support.whole_file import put_file  # noqa: PLC0415

    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        put_file(file, _checksum(data) + data)
