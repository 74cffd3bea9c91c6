"""Functions of NVIDIA's libdevice, one at a time: taken from the library once, then from a cache.

The library is not ours: it is read where its package put it, and what is taken from it stays in
the cache of the user.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from tempfile import NamedTemporaryFile

from tilewright.emit.toolchain import cache_folder, find_libdevice
from tilewright.support.diagnostics import Unsupported

_functions: dict[tuple[str, str], bytes] = {}
_libraries: dict[str, tuple[bytes, str]] = {}


def library_functions(names: list[str]) -> list[bytes]:
    """The bitcode of each function, with all that it needs."""
    path = find_libdevice() if names else ""
    return [_function(path, name) for name in names]


def _function(path: str, name: str) -> bytes:
    found = _functions.get((path, name))
    if found is None:
        found = _functions[path, name] = _cached(path, name)
    return found


def _cached(path: str, name: str) -> bytes:
    library, digest = _library(path)
    folder = os.path.join(cache_folder(), "libdevice", digest)
    file = os.path.join(folder, f"{name}.bc")
    try:
        with open(file, "rb") as stored:
            return stored.read()
    except OSError:
        pass
    # LLVM is loaded by whoever needs it.
    from tilewright.emit.backend import extract_function  # noqa: PLC0415

    made = extract_function(library, name)
    if made is None:
        raise Unsupported(f"'{name}': libdevice has no function of this name")
    _store(folder, file, made)
    return made


def _library(path: str) -> tuple[bytes, str]:
    """The whole library, and what tells it from others."""
    found = _libraries.get(path)
    if found is None:
        from tilewright.emit.backend import LIBRARY_FORMAT, llvm_version  # noqa: PLC0415

        with open(path, "rb") as file:
            data = file.read()
        maker = f"{LIBRARY_FORMAT} {llvm_version()}".encode()[:16]
        digest = blake2b(data, digest_size=16, person=maker).hexdigest()
        found = _libraries[path] = (data, digest)
    return found


def _store(folder: str, file: str, data: bytes) -> None:
    """Keep a function for the next process; where that cannot be, do without."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with NamedTemporaryFile(dir=folder, delete=False) as scratch:
            scratch.write(data)
        # Others may be writing the same: whoever is last replaces equals by equals.
        os.replace(scratch.name, file)
    except OSError:
        return
