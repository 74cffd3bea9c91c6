"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tilewright.support.whole_file import put_file


def test_a_file_replaces_another(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    path.write_bytes(b"old")
    put_file(str(path), b"new", 0o640)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_takes_parts_gets_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    put_file(str(tmp_path / "k"), b"0123456789")
    assert (tmp_path / "k").read_bytes() == b"0123456789"


@pytest.mark.parametrize("step", ["write", "chmod", "replace"])
def test_what_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    path = tmp_path / "k"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        put_file(str(path), b"new", 0o600)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
