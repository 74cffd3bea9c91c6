"""Extract functions of NVIDIA's libdevice, and cache their bitcode.

The library is read from its installation, and extracted functions are cached per user. Extraction
needs LLVM, so it runs in the LLVM process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from tilewright.emit.backend import (
    LIBRARY_FORMAT,
    Rejected,
    defines_function,
    extract_function,
    llvm_version,
)
from tilewright.support.diagnostics import Unsupported
from tilewright.support.trusted_files import PRIVATE_FILE, make_private_folder, read_trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKSUM: Final = 16
"""Bytes of the checksum in front of an entry."""
LARGEST: Final = 1 << 24
"""Bytes of an entry: all of libdevice has half a million."""

_functions: dict[tuple[str, str], bytes] = {}
_libraries: dict[str, tuple[bytes, str]] = {}


def library_functions(names: Sequence[str], path: str, folder: str) -> list[bytes]:
    """Return the bitcode of each function with its callees, cached in a folder, if there is one."""
    return [_function(name, path, folder) for name in names]


def _function(name: str, path: str, folder: str) -> bytes:
    bitcode = _functions.get((path, name))
    if bitcode is None:
        bitcode = _functions[path, name] = _cached_function(name, path, folder)
    return bitcode


def _cached_function(name: str, path: str, folder: str) -> bytes:
    library, digest = _library(path)
    subfolder = os.path.join(folder, "libdevice", digest)
    file = os.path.join(subfolder, f"{name}.bc")
    entry = _read(file, name) if folder else None
    if entry is not None:
        return entry
    try:
        made = extract_function(library, name)
    except Rejected as error:
        raise Unsupported(f"'{path}' as libdevice: {error}") from None
    if made is None:
        raise Unsupported(f"'{name}': libdevice has no function of this name")
    if folder:
        _store(subfolder, file, _checksum(name, made) + made)
    return made


def _library(path: str) -> tuple[bytes, str]:
    """Return the library and its digest."""
    library = _libraries.get(path)
    if library is None:
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            reason = f"cannot read '{path}': {error.strerror}"
            raise Unsupported(f"math functions without libdevice: {reason}") from None
        maker = f"{LIBRARY_FORMAT} {llvm_version()}".encode()[:16]
        digest = blake2b(data, digest_size=16, person=maker).hexdigest()
        library = _libraries[path] = (data, digest)
    return library


def _read(file: str, name: str) -> bytes | None:
    """Read a cache entry; None if it is missing, corrupt, or no bitcode of the function."""
    try:
        stored = read_trusted(file, LARGEST) or b""
    except OSError:
        return None
    checksum, bitcode = stored[:CHECKSUM], stored[CHECKSUM:]
    is_whole = checksum == _checksum(name, bitcode) and defines_function(bitcode, name)
    return bitcode if is_whole else None


def _checksum(name: str, bitcode: bytes) -> bytes:
    return blake2b(bitcode, digest_size=CHECKSUM, key=name.encode()[:64]).digest()


def _store(folder: str, file: str, data: bytes) -> None:
    """Write a cache entry; ignore failures."""
    # Loaded only on a cache miss.
    from tilewright.support.whole_file import put_file  # noqa: PLC0415

    with suppress(OSError):
        make_private_folder(folder)
        put_file(file, data, PRIVATE_FILE)
