"""Names of operations and attributes in the registry of the dialect."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects import cuda_tile
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.ir.attributes import Attribute
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation


def defined() -> list[type[Operation] | type[Attribute]]:
    """Every operation, type and attribute that a module of the dialect defines under a name."""
    folder = Path(cuda_tile.__path__[0])
    members: list[type[Operation] | type[Attribute]] = []
    for file in folder.glob("[a-z]*.py"):
        module = import_module(f"{cuda_tile.__name__}.{file.stem}")
        for member in vars(module).values():
            if isinstance(member, type) and member.__module__ == module.__name__:
                if issubclass(member, Operation | Attribute) and name_of(member):
                    members.append(member)
    return members


def name_of(member: type[Operation] | type[Attribute]) -> str:
    return member.name if issubclass(member, Operation) else vars(member).get("mnemonic", "")


@pytest.mark.requirement("R4-044", kind="behaviour")
def test_everything_is_named_after_the_dialect():
    """Definitions without the prefix would be in no table of the dialect."""
    members = defined()
    assert len(members) > 120
    assert [name for name in map(name_of, members) if not name.startswith("cuda_tile.")] == []
    operations = [member for member in members if issubclass(member, Operation)]
    assert {Dialect.of(kind) for kind in operations} == {CUDA_TILE}
    assert {kind.name for kind in operations} <= CUDA_TILE.ops.keys()
    assert {name.partition(".")[0] for name in OPCODES} == {CUDA_TILE.name}
    assert CUDA_TILE.folds.keys() <= set(operations)
    assert {root for rule in CUDA_TILE.rules for root in rule.roots} <= set(operations)
