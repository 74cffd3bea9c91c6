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


def test_a_dialect_not_yet_imported_is_found_beside_its_operations() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


class Stranger(Operation):
    """An operation of an unknown dialect."""

    name = "stranger.op"


def test_an_unknown_dialect_is_not_found() -> None:
    assert Dialect.of(Stranger) is None
    dialect = Dialect.of(SplatOp)
    assert dialect is not None
    assert dialect.name == "nv_tileaa"
