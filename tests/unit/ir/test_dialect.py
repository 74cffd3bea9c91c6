"""Dialects are found by the operations that belong to them."""

from __future__ import annotations

import subprocess
import sys

from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation

ALONE = """
from tilewright.dialects.arith.integer import AddIOp
from tilewright.ir.dialect import Dialect
assert "arith" not in Dialect.loaded
dialect = Dialect.of(AddIOp)
assert dialect is Dialect.loaded["arith"]
assert AddIOp in dialect.folds
"""


def test_a_dialect_that_nobody_has_imported_is_found_beside_its_operations() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


class Stranger(Operation):
    """An operation of a dialect that nobody made."""

    name = "stranger.op"


def test_a_dialect_that_nobody_made_is_not() -> None:
    assert Dialect.of(Stranger) is None
    found = Dialect.of(SplatOp)
    assert found is not None
    assert found.name == "nv_tileaa"
