"""Every operation of the dialect has a meaning."""

from __future__ import annotations

from tilewright.bytecode.opcodes import OPCODES
from tilewright.reference import executor
from tilewright.reference.meanings import MEANINGS


def test_the_table_is_total() -> None:
    assert executor is not None
    assert {kind.name for kind in MEANINGS} == set(OPCODES)
