"""Entries on disk: whole or missing, the oldest go first, nothing is ever locked."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from tilewright.driver import store as module
from tilewright.driver.store import ABANDONED, BLOCK, CHECKSUM, DRAFT, MAGIC, SHARDS, Store


def key(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"), 1 << 20)


def files(store: Store) -> list[Path]:
    return sorted(path for path in Path(store.folder).rglob("*") if path.is_file())


def age(path: str | Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_is_put_is_got(store: Store) -> None:
    assert store.get(key(1)) is None
    store.put(key(1), b"first")
    store.put(key(2), b"")
    assert (store.get(key(1)), store.get(key(2)), store.get(key(3))) == (b"first", b"", None)
    store.put(key(1), b"second")
    assert store.get(key(1)) == b"second"
    assert len(files(store)) == 2


def test_only_the_user_may_look(store: Store) -> None:
    store.put(key(1), b"entry")
    assert files(store)[0].parent.stat().st_mode & 0o077 == 0


def damages() -> Iterator[tuple[str, bytes]]:
    whole = MAGIC + bytes(CHECKSUM) + b"entry"
    for length in (0, 5, len(MAGIC), len(MAGIC) + 10, len(MAGIC) + CHECKSUM, len(whole) - 1):
        yield f"torn after {length}", whole[:length]
    yield "zeros", bytes(len(whole))


@pytest.mark.parametrize(
    "data", [data for _, data in damages()], ids=[name for name, _ in damages()]
)
def test_damaged_entries_are_missing_and_removed(store: Store, data: bytes) -> None:
    store.put(key(1), b"entry")
    [path] = files(store)
    path.write_bytes(path.read_bytes()[: len(data)] if data[:1] != b"\0" else data)
    assert store.get(key(1)) is None
    assert files(store) == []
    store.put(key(1), b"entry")
    assert store.get(key(1)) == b"entry"


def test_every_flipped_byte_is_noticed(store: Store) -> None:
    store.put(key(1), b"entry")
    [path] = files(store)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store.get(key(1)) is None


def test_an_entry_under_another_key_is_damaged(store: Store) -> None:
    store.put(key(1), b"entry")
    store.put(key(2), b"other")
    one, two = (Path(store._path(key(number))) for number in (1, 2))
    two.write_bytes(one.read_bytes())
    assert store.get(key(2)) is None


def test_the_limit_holds_and_the_oldest_go(tmp_path: Path) -> None:
    store = Store(str(tmp_path), 10 * BLOCK)
    for number in range(30):
        store.put(key(number), bytes(100))
        age(store._path(key(number)), 1000 - number)
        assert sum(file.size for file in store.entries()) <= store.limit
    kept = [number for number in range(30) if store.get(key(number)) is not None]
    assert kept == list(range(30 - len(kept), 30))
    assert 8 <= len(kept) <= 10


def test_what_was_used_stays(tmp_path: Path) -> None:
    store = Store(str(tmp_path), 4 * BLOCK)
    for number in range(4):
        store.put(key(number), b"entry")
        age(store._path(key(number)), 1000 - number)
    assert store.get(key(0)) == b"entry"
    store.put(key(4), b"entry")
    assert [number for number in range(5) if store.get(key(number))] == [0, 3, 4]


def test_a_full_store_is_looked_through_only_when_one_folder_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path), 100 * SHARDS * BLOCK)
    trimmed: list[int] = []
    monkeypatch.setattr(Store, "trim", lambda self, limit: trimmed.append(limit))
    for number in range(200):
        store.put(key(number), b"entry")
    assert trimmed == []


def test_what_exceeds_the_limit_alone_is_not_kept(tmp_path: Path) -> None:
    store = Store(str(tmp_path), 2 * BLOCK)
    store.put(key(1), b"small")
    store.put(key(2), bytes(3 * BLOCK))
    assert (store.get(key(1)), store.get(key(2))) == (b"small", None)


def test_what_would_be_evicted_at_once_is_not_kept(tmp_path: Path) -> None:
    store = Store(str(tmp_path), 20 * BLOCK)
    for number in range(10):
        store.put(key(number), b"small")
    store.put(key(10), bytes(19 * BLOCK - 100))
    assert [number for number in range(11) if store.get(key(number))] == list(range(10))


def test_a_reader_keeps_what_is_evicted(store: Store) -> None:
    store.put(key(1), b"entry")
    with open(store._path(key(1)), "rb") as file:
        store.trim(0)
        assert store.get(key(1)) is None
        assert file.read().endswith(b"entry")


def test_abandoned_drafts_go_with_the_next_entry_of_their_folder(store: Store) -> None:
    store.put(key(1), b"entry")
    folder = files(store)[0].parent
    old, new = folder / f"{DRAFT}old", folder / f"{DRAFT}new"
    for draft in (old, new):
        draft.write_bytes(MAGIC)
    age(old, ABANDONED + 1)
    assert set(store.drafts()) == {str(new), str(old)}
    store.put(key(1), b"entry")
    assert store.drafts() == [str(new)]
    assert len(store.entries()) == 1
    store.sweep(age=0)
    assert store.drafts() == []
    assert store.get(key(1)) == b"entry"


@pytest.mark.parametrize("step", ["write", "replace"])
def test_a_full_disk_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    store.put(key(1), b"old")

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module.os, step, full)
        with pytest.raises(OSError, match="No space left"):
            store.put(key(1), b"new")
    assert store.drafts() == []
    assert store.get(key(1)) == b"old"


def test_a_disk_that_takes_a_part_gets_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(module.os, "write", lambda file, data: write(file, data[:7]))
    store.put(key(1), b"a longer entry")
    assert store.get(key(1)) == b"a longer entry"


def test_an_interrupted_write_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.put(key(1), b"entry")
    assert files(store) == []


def test_clear_removes_everything_and_folders_may_stay(store: Store) -> None:
    for number in range(10):
        store.put(key(number), b"entry")
    store.count("hits")
    (files(store)[0].parent / f"{DRAFT}x").write_bytes(b"")
    store.clear()
    assert files(store) == []
    store.put(key(1), b"entry")
    assert store.get(key(1)) == b"entry"


@pytest.mark.parametrize("how", ["cleared", "removed"])
def test_a_writer_keeps_what_others_clear(
    store: Store, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    replace = os.replace
    times: list[int] = []

    def cleared(source: str, target: str) -> None:
        times.append(1)
        if len(times) == 1:
            store.clear() if how == "cleared" else shutil.rmtree(store.folder)
        replace(source, target)

    monkeypatch.setattr(module.os, "replace", cleared)
    store.put(key(1), b"entry")
    assert store.get(key(1)) == b"entry"
    assert len(times) == 2
    assert store.drafts() == []


def test_clear_removes_drafts_from_the_future(store: Store) -> None:
    store.put(key(1), b"entry")
    draft = files(store)[0].parent / f"{DRAFT}x"
    draft.write_bytes(b"")
    age(draft, -3600)
    store.clear()
    assert files(store) == []


def test_entries_that_cannot_be_cleared_are_reported_last(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        store.put(key(number), b"entry")
    unlink = os.unlink
    stuck = store._path(key(1))

    def stubborn(path: str) -> None:
        if path == stuck:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        unlink(path)

    monkeypatch.setattr(module.os, "unlink", stubborn)
    with pytest.raises(PermissionError):
        store.clear()
    assert [str(path) for path in files(store)] == [stuck]


def test_counters(store: Store) -> None:
    assert store.counted("hits") == 0
    store.put(key(1), b"entry")
    for _ in range(3):
        store.count("hits")
    assert (store.counted("hits"), store.counted("misses")) == (3, 0)


def test_threads_that_write_the_same_and_clear(store: Store) -> None:
    wrong: list[bytes | None] = []

    def work(number: int) -> None:
        for step in range(60):
            name = key(step % 5)
            store.put(name, name.encode() * 50)
            got = store.get(name)
            if got not in (None, name.encode() * 50):
                wrong.append(got)
            if number == 0 and step % 20 == 0:
                store.trim(0)

    threads = [Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.drafts() == []


ENDLESS_WRITER = """
import sys
from hashlib import sha256
from tilewright.driver.store import Store

store = Store(sys.argv[1], 1 << 26)
print("ready", flush=True)
while True:
    for number in range(20):
        key = sha256(str(number).encode()).hexdigest()
        store.put(key, key.encode() * 4000)
"""


def test_killed_writers_leave_entries_whole(tmp_path: Path) -> None:
    store = Store(str(tmp_path), 1 << 26)
    command = [sys.executable, "-c", ENDLESS_WRITER, str(tmp_path)]
    for _ in range(4):
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        for process in processes:
            process.kill()
            process.communicate()
        for number in range(20):
            path = store._path(key(number))
            there = os.path.exists(path)
            assert store.get(key(number)) == (key(number).encode() * 4000 if there else None)
    assert store.entries()
    store.sweep(age=0)
    assert store.drafts() == []
