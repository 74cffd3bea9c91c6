"""Libraries of cuTile kernels, such as Liger-Kernel and TileGym: cuTile Python finds the compiler.

Liger-Kernel takes its cuTile kernels only if that search succeeds, and does not start what is
found before the first kernel.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from cutile_doors import HIDING, python

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

SEARCH = "from cuda.tile import _compile\nprint(_compile._find_compiler_bin().path)\n"
PROBE = (
    "from liger_kernel.ops._nvidia_shared import cutile_compiler_available as available\n"
    "print(available())\n"
)


def search(script: str, tools: Path, tmp_path: Path) -> str:
    """The output of a script without NVIDIA's packages, with our tools alone on the path."""
    (tmp_path / "script.py").write_text(HIDING + script)
    done = python(tmp_path / "script.py", cache=tmp_path / "cache", PATH=str(tools))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_cutile_finds_the_compiler(tools: Path, tmp_path: Path) -> None:
    assert search(SEARCH, tools, tmp_path) == str(tools / "tileiras")


def test_the_probe_of_liger_kernel(tools: Path, tmp_path: Path) -> None:
    for package in ("liger_kernel", "torch"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"{package} is not installed")
    assert search(PROBE, tools, tmp_path) == "True"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert search(PROBE, empty, tmp_path) == "False"
