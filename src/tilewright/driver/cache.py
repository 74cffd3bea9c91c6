"""Compilations that were done before: kept on disk under all that decides about their result.

A hit loads neither the compiler nor LLVM, and does not read the program: its bytes say enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from tilewright.driver.files import is_bytecode
from tilewright.driver.store import Store
from tilewright.driver.stored import Stored
from tilewright.emit.toolchain import (
    cache_folder,
    find_libdevice,
    find_ptxas,
    llvm_stamp,
    tool_stamp,
)
from tilewright.support.identity import identity

if TYPE_CHECKING:
    from tilewright.driver.settings import Settings

SWITCH: Final = "TILEWRIGHT_CACHE"
SIZE: Final = "TILEWRIGHT_CACHE_SIZE"

OFF: Final = ("0", "off", "no", "false")

DEFAULT_SIZE: Final = 1 << 30

UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

HITS: Final = "hits"
MISSES: Final = "misses"
"""What is counted: results that were there, and results that were made and kept."""

Warn = Callable[[str], object]


class Cache:
    """The results of compilations by key; whatever is wrong with it, compilations go on."""

    __slots__ = ("_broken", "store")

    def __init__(self, store: Store | None) -> None:
        self.store = store
        """Where they are; nothing where nothing is kept."""
        self._broken = False

    @staticmethod
    def default(warn: Warn | None = None) -> Cache:
        """The cache that the environment of this process names."""
        size = os.environ.get(SIZE, "")
        limit = parse_size(size)
        if limit is None:
            wanted = "a number of bytes, or one with K, M, G or T"
            _warn(warn, f"{SIZE}: expected {wanted}, found '{size}'; taking 1G")
            limit = DEFAULT_SIZE
        off = os.environ.get(SWITCH, "").strip().lower() in OFF or not limit
        return _cache_at(None if off else os.path.join(cache_folder(), "compiled"), limit)

    def get(self, key: str) -> Stored | None:
        """What was made of a program before."""
        if self.store is None:
            return None
        data = self.store.get(key)
        if data is None:
            return None
        self.store.count(HITS)
        return Stored.unpack(data)

    def put(self, key: str, made: Stored, warn: Warn | None = None) -> None:
        """Keep what was made; the first time that fails is told, and is the last one tried."""
        if self.store is None or self._broken or not made.lasting:
            return
        try:
            self.store.put(key, made.pack())
            self.store.count(MISSES)
        except OSError as error:
            self._broken = True
            where = f"the cache of compilations in '{self.store.folder}' cannot be written"
            _warn(warn, f"{where}: {error.strerror or error}; going on without it")


@cache
def _cache_at(folder: str | None, limit: int) -> Cache:
    return Cache(None if folder is None else Store(folder, limit))


def _warn(warn: Warn | None, message: str) -> None:
    if warn is not None:
        warn(message)
        return
    import warnings  # noqa: PLC0415

    warnings.warn(message, RuntimeWarning, stacklevel=2)


def cached(
    data: bytes,
    name: str,
    settings: Settings,
    emit: str,
    make: Callable[[], Stored],
    warn: Warn | None = None,
) -> Stored:
    """What a program becomes: from the cache, or made and kept there.

    `data` is bytecode or text, `name` what its diagnostics call it, `emit` "ptx" or "cubin".
    `warn` is told once if the cache cannot be used; without it that is a `RuntimeWarning`.
    """
    store = Cache.default(warn)
    if store.store is None:
        return make()
    key = key_of(data, name, settings, emit)
    found = store.get(key)
    if found is None:
        found = make()
        store.put(key, found, warn)
    return found


def key_of(data: bytes, name: str, settings: Settings, emit: str) -> str:
    """A digest of all that decides about the result of a compilation."""
    options = zip(settings._fields, [settings.arch.name, *settings[1:]], strict=True)
    parts = [f"{option}={value}" for option, value in options]
    parts += [emit, identity(), llvm_stamp(), tool_stamp(find_libdevice)]
    if emit == "cubin":
        parts.append(tool_stamp(find_ptxas))
    if not is_bytecode(data):
        # Places in a text carry its name: into debug information, assertions and remarks.
        parts.append(name)
    digest = sha256()
    for part in [each.encode("utf-8", "surrogateescape") for each in parts]:
        digest.update(b"%d " % len(part) + part)
    digest.update(data)
    return digest.hexdigest()


def parse_size(text: str) -> int | None:
    """Bytes of a size such as `500M` or `2GiB`; the default for no text, none for a wrong one."""
    if not text.strip():
        return DEFAULT_SIZE
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:].isalpha() else ""
    digits = number.removesuffix(unit).strip()
    if unit not in UNITS or not digits.isdecimal():
        return None
    return int(digits) * UNITS[unit]
