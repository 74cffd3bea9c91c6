"""The programs of `tests/run/cutile` are what cuTile Python makes of our kernels."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

from cutile_programs import CASES, FOLDER, emitted, split


@pytest.mark.parametrize("name", CASES)
def test_module(name: str) -> None:
    """`python tests/shared/cutile_programs.py` writes it."""
    assert split((FOLDER / f"{name}.mlir").read_text())[1] == emitted(name)


def test_every_program_has_a_kernel() -> None:
    assert {path.stem for path in FOLDER.glob("*.mlir")} == set(CASES)
