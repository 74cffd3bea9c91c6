"""Tests are independent of the home folder: of its tuning records, its caches, and whose it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tuned_programs import ADD, enable_cache, tune_to

ROOT = Path(__file__).parents[2]
VERSION = [sys.executable, "-m", "tilewright.tileiras", "--version"]
ALONE = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
OWN = "tests/startup/test_home.py::test_no_tuning_record_is_read"
SENSITIVE = "tests/cli/test_tileiras.py::test_the_version_loads_no_compiler"


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )


def test_no_tuning_record_is_read() -> None:
    done = run(VERSION, TILEWRIGHT_CACHE="1")
    assert done.returncode == 0
    assert "Tuned" not in done.stdout


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_with_records_and_caches_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a home with a record and files that are no cache, tests pass and leave all as it was."""
    home = tmp_path / "home"
    with monkeypatch.context() as patch:
        enable_cache(home / ".cache" / "tilewright", patch)
        tune_to(ADD, "stages=3", "add")
    for folder in ("tilewright/compiled", "tilewright/tuned", "cutile-python"):
        (home / ".cache" / folder).mkdir(parents=True, exist_ok=True)
        (home / ".cache" / folder / "garbage").write_bytes(bytes(range(256)))
    before = contents(home)

    assert "Tuned" in run(VERSION, HOME=str(home), TILEWRIGHT_CACHE="1").stdout
    elsewhere = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    done = run([*ALONE, OWN, SENSITIVE], **elsewhere)
    assert done.returncode == 0, done.stdout
    assert contents(home) == before
