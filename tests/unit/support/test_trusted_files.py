"""Files and folders that others can have written are not trusted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.support.trusted_files import distrust_folder, make_private_folder, read_trusted

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")

Foreign = Callable[[Path], None]


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Foreign:
    """Give a path to another user, or make this process one."""

    def give_away(path: Path) -> None:
        own = os.geteuid()
        if own == 0:
            os.chown(path, 12345, -1)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: own + 1)

    return give_away


def test_folders_of_this_user_are_trusted(tmp_path: Path) -> None:
    for mode in (0o700, 0o755, 0o500):
        tmp_path.chmod(mode)
        assert distrust_folder(str(tmp_path)) is None
    assert distrust_folder(str(tmp_path / "missing")) is None


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o702])
def test_folders_that_others_may_write_are_not(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    assert distrust_folder(str(tmp_path)) == f"other users may write to it (mode {mode:o})"


def test_folders_of_other_users_are_not(tmp_path: Path, foreign: Foreign) -> None:
    foreign(tmp_path)
    reason = distrust_folder(str(tmp_path))
    assert reason is not None
    assert reason.startswith("it belongs to user ")


def test_files_of_this_user_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"contents")
    path.chmod(0o644)
    assert read_trusted(str(path), 8) == b"contents"
    assert read_trusted(str(path), 7) is None
    path.write_bytes(b"")
    assert read_trusted(str(path), 8) == b""


def test_files_that_others_can_have_written_are_not_read(tmp_path: Path, foreign: Foreign) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"contents")
    path.chmod(0o664)
    assert read_trusted(str(path), 100) is None
    path.chmod(0o600)
    foreign(path)
    assert read_trusted(str(path), 100) is None


def test_a_pipe_or_a_folder_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert read_trusted(str(tmp_path / "pipe"), 100) is None
    assert read_trusted(str(tmp_path), 100_000) is None


def test_new_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        make_private_folder(str(tmp_path / "a" / "b" / "c"))
    finally:
        os.umask(before)
    for name in ("a", "a/b", "a/b/c"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700
    make_private_folder(str(tmp_path / "a"))
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError):
            make_private_folder(str(path))
