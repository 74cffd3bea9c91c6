"""The installed tools, and modules that clients compile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tuned_programs import ADD

import tilewright

Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def tools() -> Path:
    """The folder of the installed `tileiras` and `tileirdisasm`."""
    folder = Path(sys.executable).parent
    if not (folder / "tileiras").exists():
        pytest.skip("the console scripts of Tilewright are not installed beside Python")
    return folder


@pytest.fixture
def tileiras(tools: Path, tmp_path: Path) -> Tool:
    """Start the installed `tileiras` as clients do, in an empty folder."""

    def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [tools / "tileiras", *words]
        settings: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, **options}
        return subprocess.run(command, check=False, text=True, **settings)

    return run


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A file of bytecode."""
    path = tmp_path / "kernel.bytecode"
    path.write_bytes(tilewright.write_bytecode(tilewright.read(ADD)))
    return path
