"""A lock-free store of entries on disk, shared by processes, with LRU eviction.

An entry is written to a temporary file and renamed atomically. Its checksum detects entries that
a crash has truncated, which count as missing, as do entries that other users can have written.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.support.trusted_files import PRIVATE_FILE, make_private_folder, read_trusted
from tilewright.support.whole_file import DRAFT, put_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC: Final = b"tilewright entry 1\n"
CHECKSUM: Final = 32

SHARDS: Final = 64
"""Folders that entries are hashed to; the size of one estimates the size of all."""

ABANDONED: Final = 600.0
"""Seconds after which a temporary file is stale: writing takes milliseconds."""

TRIM_TARGET: Final = 0.9
"""Fraction of the limit that eviction trims to."""

BLOCK: Final = 4096
"""File sizes are rounded up to blocks."""


class File(NamedTuple):
    """A file of the store; sorts by the time of its last use."""

    used: float
    path: str
    size: int


class Store:
    """A folder of entries by key, with a limit on its size."""

    __slots__ = ("folder", "limit")

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def get(self, key: str) -> bytes | None:
        """Read the entry of a key.

        One that is corrupt, or that others can have written, is removed and counts as missing.
        """
        path = self._path(key)
        try:
            data = read_trusted(path, self.limit)
        except OSError:
            return None
        entry = None if data is None else _unpack(key, data)
        if entry is None:
            _remove(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return entry

    def discard(self, key: str) -> None:
        """Remove an entry that its reader cannot use."""
        _remove(self._path(key))

    def put(self, key: str, entry: bytes) -> None:
        """Write an entry and evict others if needed; raises `OSError` on failure."""
        data = _pack(key, entry)
        if _blocks(len(data)) > TRIM_TARGET * self.limit:
            return
        path = self._path(key)
        try:
            _write_entry(path, data)
        except FileNotFoundError:
            # Another process has cleared the cache or removed its folder.
            _write_entry(path, data)
        self._evict(os.path.dirname(path))

    def _evict(self, shard: str) -> None:
        """Estimate the size of the store from one folder; trim if it may exceed the limit."""
        _sweep(shard, ABANDONED)
        if SHARDS * sum(file.size for file in _files(shard)) > self.limit:
            self.trim(self.limit)

    def trim(self, limit: int) -> None:
        """Remove the least recently used entries if their size exceeds the limit.

        Concurrent readers keep the files they have opened, and concurrent trims choose the same
        entries.
        """
        files = self.entries()
        excess = sum(file.size for file in files) - limit
        if excess <= 0:
            return
        excess += int(limit * (1 - TRIM_TARGET))
        for file in sorted(files):
            _remove(file.path)
            excess -= file.size
            if excess <= 0:
                return

    def entries(self) -> list[File]:
        """List all entries."""
        return [file for shard in self._shards() for file in _files(shard)]

    def drafts(self) -> list[str]:
        """List temporary files, of running and of killed processes."""
        return [path for shard in self._shards() for path in _drafts(shard)]

    def sweep(self, age: float = ABANDONED) -> None:
        """Remove temporary files older than `age` seconds."""
        for shard in self._shards():
            _sweep(shard, age)

    def clear(self) -> None:
        """Remove all entries; entries written concurrently may survive.

        Raises `OSError` if an entry cannot be removed, after removing the others.
        """
        counters = [os.path.join(self.folder, name) for name in ("hits", "misses")]
        failures: list[OSError] = []
        for path in (*(file.path for file in self.entries()), *self.drafts(), *counters):
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue  # removed by another process
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def count(self, event: str) -> None:
        """Increment a counter: the size of a file, since appending needs no lock."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with suppress(OSError):
            file = os.open(os.path.join(self.folder, event), flags, 0o600)
            try:
                os.write(file, b".")
            finally:
                os.close(file)

    def counted(self, event: str) -> int:
        """Read a counter."""
        try:
            return os.stat(os.path.join(self.folder, event)).st_size
        except OSError:
            return 0

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{int(key[:8], 16) % SHARDS:02x}", key)

    def _shards(self) -> list[str]:
        return [os.path.join(self.folder, f"{number:02x}") for number in range(SHARDS)]


def _pack(key: str, entry: bytes) -> bytes:
    return MAGIC + _checksum(key, entry) + entry


def _unpack(key: str, data: bytes) -> bytes | None:
    """Verify the checksum and return the entry; None if it is corrupt."""
    start = len(MAGIC) + CHECKSUM
    entry = data[start:]
    if data[:start] != MAGIC + _checksum(key, entry):
        return None
    return entry


def _checksum(key: str, entry: bytes) -> bytes:
    return sha256(key.encode() + entry).digest()


def _write_entry(path: str, data: bytes) -> None:
    """Write an entry atomically, creating its folder if needed."""
    make_private_folder(os.path.dirname(path))
    put_file(path, data, PRIVATE_FILE)


def _listing(folder: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Yield the files of a folder, which may change concurrently."""
    try:
        with os.scandir(folder) as entries:
            listed = list(entries)
    except OSError:
        return
    for entry in listed:
        with suppress(OSError):
            yield entry, entry.stat()


def _files(shard: str) -> Iterator[File]:
    for entry, status in _listing(shard):
        if not entry.name.startswith(DRAFT):
            yield File(status.st_mtime, entry.path, _blocks(status.st_size))


def _drafts(shard: str) -> Iterator[str]:
    return (entry.path for entry, _ in _listing(shard) if entry.name.startswith(DRAFT))


def _sweep(shard: str, age: float) -> None:
    now = time.time()
    for entry, status in _listing(shard):
        if entry.name.startswith(DRAFT) and now - status.st_mtime >= age:
            _remove(entry.path)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
