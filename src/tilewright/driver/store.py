"""Entries on disk that many processes share: each is whole or not there, the oldest go first.

There are no locks. An entry is written beside its place and then put there at once; it says what
it should contain, so what a crash has torn is found, and is as good as missing.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.support.whole_file import DRAFT, put_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC: Final = b"tilewright entry 1\n"
CHECKSUM: Final = 32

SHARDS: Final = 64
"""Folders that entries are spread over by their keys, evenly: one stands for all the others."""

ABANDONED: Final = 600.0
"""Seconds after which a draft belongs to a process that was killed: writing takes milliseconds."""

ROOM: Final = 0.9
"""How much of the limit is left in use once something had to go."""

BLOCK: Final = 4096
"""Files take up whole blocks."""


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
        """The entry of a key; one that is damaged is removed, and counts as missing."""
        path = self._path(key)
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            return None
        entry = _opened(key, data)
        if entry is None:
            _remove(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return entry

    def put(self, key: str, entry: bytes) -> None:
        """Keep an entry, and make room for it; raises `OSError` where that cannot be."""
        data = _sealed(key, entry)
        if _blocks(len(data)) > ROOM * self.limit:
            return
        path = self._path(key)
        try:
            _place(path, data)
        except FileNotFoundError:
            # Somebody has cleared the cache, or removed its folder, under our hands.
            _place(path, data)
        self._make_room(os.path.dirname(path))

    def _make_room(self, shard: str) -> None:
        """Look at one folder, and at all only if it says that there may be too much."""
        _sweep(shard, ABANDONED)
        if SHARDS * sum(file.size for file in _files(shard)) > self.limit:
            self.trim(self.limit)

    def trim(self, limit: int) -> None:
        """Remove what was not used for longest, if the entries take more than the limit.

        Others may read what is removed: they keep what they have opened. Others may trim too:
        they choose the same entries.
        """
        files = self.entries()
        excess = sum(file.size for file in files) - limit
        if excess <= 0:
            return
        excess += int(limit * (1 - ROOM))
        for file in sorted(files):
            _remove(file.path)
            excess -= file.size
            if excess <= 0:
                return

    def entries(self) -> list[File]:
        """Everything that is kept."""
        return [file for shard in self._shards() for file in _files(shard)]

    def drafts(self) -> list[str]:
        """What is being written, or was when its process ended."""
        return [path for shard in self._shards() for path in _drafts(shard)]

    def sweep(self, age: float = ABANDONED) -> None:
        """Remove drafts that nobody has touched for so many seconds."""
        for shard in self._shards():
            _sweep(shard, age)

    def clear(self) -> None:
        """Remove everything; who is writing meanwhile keeps what he writes.

        Raises `OSError` if something cannot be removed, after all that can be.
        """
        counters = [os.path.join(self.folder, name) for name in ("hits", "misses")]
        failures: list[OSError] = []
        for path in (*(file.path for file in self.entries()), *self.drafts(), *counters):
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue  # others may be clearing it
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def count(self, event: str) -> None:
        """Count something: the size of a file is the number, as appending needs no lock."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with suppress(OSError):
            file = os.open(os.path.join(self.folder, event), flags, 0o600)
            try:
                os.write(file, b".")
            finally:
                os.close(file)

    def counted(self, event: str) -> int:
        """How often something was counted."""
        try:
            return os.stat(os.path.join(self.folder, event)).st_size
        except OSError:
            return 0

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{int(key[:8], 16) % SHARDS:02x}", key)

    def _shards(self) -> list[str]:
        return [os.path.join(self.folder, f"{number:02x}") for number in range(SHARDS)]


def _sealed(key: str, entry: bytes) -> bytes:
    return MAGIC + _checksum(key, entry) + entry


def _opened(key: str, data: bytes) -> bytes | None:
    """What was sealed under a key; nothing if it is not that any more."""
    start = len(MAGIC) + CHECKSUM
    entry = data[start:]
    if data[:start] != MAGIC + _checksum(key, entry):
        return None
    return entry


def _checksum(key: str, entry: bytes) -> bytes:
    return sha256(key.encode() + entry).digest()


def _place(path: str, data: bytes) -> None:
    """Put an entry into its folder, which may not be there yet."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    put_file(path, data)


def _listing(folder: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """The files of a folder; others may be adding and removing some."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
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
