from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.support import identity as module
from tilewright.support.identity import CHUNK, EXCLUDED, LENGTH, digest_of, identity

PACKAGE = Path(module.__file__).parents[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "compiler"
    for name in ("__init__.py", "ir/core.py", "emit/llvm/table.py", "reference/run.py"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    return root


def test_is_a_digest_of_the_installed_package() -> None:
    assert identity() == digest_of(str(PACKAGE))
    assert len(identity()) == LENGTH
    assert int(identity(), 16)


def test_every_process_finds_the_same() -> None:
    code = "from tilewright.support.identity import identity; print(identity())"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert process.stdout.strip() == identity()


@pytest.mark.parametrize("name", ["__init__.py", "ir/core.py", "emit/llvm/table.py"])
def test_one_line_changes_it(package: Path, name: str) -> None:
    before = digest_of(str(package))
    path = package / name
    text = path.read_text()
    path.write_text(text + "pass\n")
    assert digest_of(str(package)) != before
    path.write_text(text)
    assert digest_of(str(package)) == before


def test_names_and_new_files_count(package: Path) -> None:
    before = digest_of(str(package))
    (package / "ir" / "core.py").rename(package / "ir" / "kore.py")
    renamed = digest_of(str(package))
    (package / "ir" / "table.json").write_text("")
    assert len({before, renamed, digest_of(str(package))}) == 3


def test_text_moved_to_the_next_file_counts(package: Path) -> None:
    (package / "a.py").write_text("one\ntwo\n")
    (package / "b.py").write_text("three\n")
    before = digest_of(str(package))
    (package / "a.py").write_text("one\n")
    (package / "b.py").write_text("two\nthree\n")
    assert digest_of(str(package)) != before


def test_neither_path_nor_time_nor_python_caches_count(package: Path) -> None:
    before = digest_of(str(package))
    caches = package / "ir" / "__pycache__"
    caches.mkdir()
    (caches / "core.cpython-311.pyc").write_bytes(b"code")
    (package / ".core.py.swp").write_bytes(b"draft")
    os.utime(package / "ir" / "core.py", (1, 1))
    moved = package.rename(package.with_name("elsewhere"))
    assert digest_of(str(moved)) == before


def test_what_only_runs_programs_does_not_count(package: Path) -> None:
    before = digest_of(str(package))
    (package / "reference" / "run.py").write_text("different")
    assert digest_of(str(package)) == before


def test_bystanders_are_not_loaded_to_compile() -> None:
    code = (
        "import sys; from tilewright.driver import compile as c; "
        "c.compile('cuda_tile.module @m { entry @k() { return } }', emit='ptx'); "
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('tilewright.')})"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "emit" in process.stdout.split()
    assert EXCLUDED.isdisjoint(process.stdout.split())


def test_the_end_of_a_large_file_counts(package: Path) -> None:
    table = package / "table.bin"
    table.write_bytes(bytes(2 * CHUNK) + b"a")
    before = digest_of(str(package))
    table.write_bytes(bytes(2 * CHUNK) + b"b")
    assert digest_of(str(package)) != before
