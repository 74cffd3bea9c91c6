"""Compilation cache: results on disk, keyed by every input that determines them.

A hit loads neither the compiler nor LLVM, and does not parse the program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.files import is_bytecode
from tilewright.driver.stage_dump import dump_folder
from tilewright.driver.store import Store
from tilewright.emit.toolchain import (
    CACHE_VARIABLE,
    COMPILED,
    cache_folder,
    cache_refusal,
    find_libdevice,
    find_ptxas,
    llvm_stamp,
    tool_stamp,
)
from tilewright.support.identity import identity
from tilewright.support.packed_values import Damaged
from tilewright.support.schedule_keys import SCHEDULE

if TYPE_CHECKING:
    from tilewright.driver.settings import Settings

SWITCH: Final = "TILEWRIGHT_CACHE"
SIZE: Final = "TILEWRIGHT_CACHE_SIZE"

OFF: Final = ("0", "off", "no", "false")

DEFAULT_SIZE: Final = 1 << 30

UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

REMEDY: Final = (
    "`chmod go-w` what is yours, after looking at what is in it, or name another folder in "
    f"{CACHE_VARIABLE}"
)
"""What to do about a cache folder that is refused."""

HITS: Final = "hits"
MISSES: Final = "misses"
"""Event counters: cache hits, and results compiled and stored."""

Warn = Callable[[str], object]


class Cache:
    """Compilation results by key; cache failures never fail a compilation."""

    __slots__ = ("_broken", "refusal", "store")

    def __init__(self, store: Store | None, refusal: str = "") -> None:
        self.store = store
        """The entries on disk; None if the cache is off or refused."""
        self.refusal = refusal
        """Why the cache folder is not used, since others can have written it."""
        self._broken = False

    @staticmethod
    def default(warn: Warn | None = None) -> Cache:
        """Return the cache configured by environment variables."""
        size = os.environ.get(SIZE, "")
        limit = parse_size(size)
        if limit is None:
            wanted = "a number of bytes, or one with K, M, G or T"
            _warn(warn, f"{SIZE}: expected {wanted}, found '{size}'; taking 1G")
            limit = DEFAULT_SIZE
        if os.environ.get(SWITCH, "").strip().lower() in OFF or not limit:
            return _cache_at(None, limit)
        reason = cache_refusal()
        if reason is not None:
            refusal = f"the cache folder {reason}; {REMEDY}"
            _warn_once(warn, refusal)
            return Cache(None, refusal)
        return _cache_at(os.path.join(cache_folder(), COMPILED), limit)

    def get(self, key: str, emit: str) -> CompilationResult | None:
        """Look up a result, of which `emit` is "ptx" or "cubin", and count the hit."""
        data = None if self.store is None else self.store.get(key)
        if self.store is None or data is None:
            return None
        try:
            result = CompilationResult.unpack(data)
        except Damaged:
            result = None
        if result is None or (emit == "cubin" and result.cubin is None):
            self.store.discard(key)
            return None
        self.store.count(HITS)
        return result

    def put(self, key: str, made: CompilationResult, warn: Warn | None = None) -> None:
        """Store a result; after the first failure, warn and stop storing."""
        if self.store is None or self._broken or not made.lasting:
            return
        try:
            self.store.put(key, made.pack())
            self.store.count(MISSES)
        except OSError as error:
            self._broken = True
            problem = f"the cache of compilations in '{self.store.folder}' cannot be written"
            _warn(warn, f"{problem}: {error.strerror or error}; going on without it")


@cache
def _cache_at(folder: str | None, limit: int) -> Cache:
    return Cache(None if folder is None else Store(folder, limit))


@cache
def _warn_once(warn: Warn | None, message: str) -> None:
    _warn(warn, message)


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
    make: Callable[[], CompilationResult],
    warn: Warn | None = None,
) -> CompilationResult:
    """Return the cached result of a program, or call `make` and store its result.

    `data` is bytecode or text, `name` its file name in diagnostics, `emit` "ptx" or "cubin".
    `warn` is called once if the cache cannot be used; without it, a `RuntimeWarning` is issued.
    """
    # A dump is of a compilation.
    if dump_folder():
        return make()
    store = Cache.default(warn)
    if store.store is None:
        return make()
    key = key_of(data, name, settings, emit)
    result = store.get(key, emit)
    if result is None:
        result = make()
        store.put(key, result, warn)
    return result


def key_of(data: bytes, name: str, settings: Settings, emit: str) -> str:
    """Return a digest of all inputs that determine the result of a compilation."""
    settings = settings._replace(timeout=None, schedule_source=SCHEDULE)
    options = zip(settings._fields, [settings.arch.name, *settings[1:]], strict=True)
    parts = [f"{option}={value}" for option, value in options]
    # Also what is in PTX depends on ptxas: on the spills that it reports.
    parts += [emit, identity(), llvm_stamp(), tool_stamp(find_libdevice), tool_stamp(find_ptxas)]
    if not is_bytecode(data):
        # Locations in text contain its name: in debug information, assertions and remarks.
        parts.append(name)
    return digest_of(parts, data)


def digest_of(parts: Sequence[str], data: bytes = b"") -> str:
    """Return a digest of texts and data; length prefixes make the encoding injective."""
    digest = sha256()
    for part in [each.encode("utf-8", "surrogateescape") for each in parts]:
        digest.update(b"%d " % len(part) + part)
    digest.update(data)
    return digest.hexdigest()


def parse_size(text: str) -> int | None:
    """Parse a size such as `500M` or `2GiB`: the default if empty, None if invalid."""
    if not text.strip():
        return DEFAULT_SIZE
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:].isalpha() else ""
    digits = number.removesuffix(unit).strip()
    if unit not in UNITS or not digits.isdecimal():
        return None
    return int(digits) * UNITS[unit]
