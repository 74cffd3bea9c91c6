"""The package itself: its version, its public names, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from each_case import each_case

import tilewright


def test_version_is_the_installed_one() -> None:
    assert tilewright.__version__ == version("tilewright")


@each_case("name", tilewright.__all__)
def test_public_name_loads(name: str) -> None:
    assert getattr(tilewright, name) is not None
    assert name in dir(tilewright)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tilewright.nonsense  # pyrefly: ignore[missing-attribute]


def test_importing_the_package_loads_no_other_module_of_it() -> None:
    program = (
        "import sys, tilewright; print(*(m for m in sys.modules if m.startswith('tilewright')))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tilewright"]


@pytest.mark.parametrize("door", ["read", "compile", "execute"])
def test_a_string_is_a_program_and_no_path(door: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text("cuda_tile.module @m { entry @k() { return } }")
    rest = [None, 1, []] if door == "execute" else []
    expected = (
        r"error: expected a program, found the name of a file: pathlib\.Path\('.*kernel.mlir'\)"
    )
    with pytest.raises(tilewright.UserError, match=expected):
        getattr(tilewright, door)(str(path), *rest)
    getattr(tilewright, door)(path, *rest)
