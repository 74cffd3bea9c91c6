"""Every operation of the dialect is in a program whose results are checked."""

from __future__ import annotations

from pathlib import Path

from programs import parse_runs

import tilewright
from tilewright.bytecode.opcodes import OPCODES


def checked_operations(path: Path) -> set[str]:
    """The operations of kernels that a program runs to their end, with something expected."""
    text = path.read_text()
    runs = [run for run in parse_runs(text) if run.expected or run.prints]
    module = tilewright.read(text, name=path.name)
    found = {op.name for op in module.body.block if runs} | ({module.name} if runs else set())
    for entry in module.entries():
        if any(run.entry in (None, entry.sym_name) for run in runs):
            found |= {op.name for op in entry.walk()}
    return found


def test_every_operation_is_in_a_checked_program() -> None:
    paths = sorted(Path(__file__).parent.rglob("*.mlir"))
    found = set[str]().union(*map(checked_operations, paths))
    assert set(OPCODES) - found == set()
