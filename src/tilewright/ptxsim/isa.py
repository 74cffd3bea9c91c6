"""The instruction table: decoders registered by opcode.

A decoder runs once for every instruction of a program. It parses modifiers and operands and
returns a closure that executes the instruction for a vector of threads.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.ptxsim.operation import Operation
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.program import Transfer

Run = Callable[["Lanes"], None]
Decoder = Callable[[Operation], Run]
ControlDecoder = Callable[[Operation], "Transfer"]


@dataclass(frozen=True, slots=True)
class Row:
    """One instruction: its name without modifiers, its class in the counters, its decoder."""

    name: str
    family: str
    decode: Decoder | None
    control: ControlDecoder | None = None
    blocks: bool = False


_ROWS: Final[dict[str, Row]] = {}


def instruction(*names: str, blocks: bool = False) -> Callable[[Decoder], Decoder]:
    """Register a decoder.

    A name may contain dots (`cp.async.bulk.tensor`): the longest prefix of an opcode wins.
    `blocks` marks instructions that may call `Lanes.park` or `Lanes.converged`.
    """

    def register(decode: Decoder) -> Decoder:
        family = decode.__module__.rpartition(".")[2]
        for name in names:
            _add(Row(name, family, decode, blocks=blocks))
        return decode

    return register


def control(*names: str) -> Callable[[ControlDecoder], ControlDecoder]:
    """Register a decoder of control flow instructions."""

    def register(decode: ControlDecoder) -> ControlDecoder:
        for name in names:
            _add(Row(name, "control_flow", None, control=decode))
        return decode

    return register


def _add(row: Row) -> None:
    assert row.name not in _ROWS, f"two decoders for {row.name}"
    _ROWS[row.name] = row


@cache
def _table() -> dict[str, Row]:
    """All instructions; loads the families."""
    package = importlib.import_module("tilewright.ptxsim.instructions")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _ROWS


@lru_cache(4096)
def _row(opcode: str) -> tuple[Row, tuple[str, ...]] | None:
    """The decoder with the longest prefix of an opcode, and the modifiers after the prefix."""
    rows, parts = _table(), opcode.split(".")
    for length in range(len(parts), 0, -1):
        row = rows.get(".".join(parts[:length]))
        if row is not None:
            return row, tuple(parts[length:])
    return None


def find(operation: Operation) -> Row:
    """Find the decoder of an instruction."""
    parts = _row(operation.site.opcode)
    if parts is None:
        raise Unsupported(f"instruction {operation.site.opcode}", operation.site.location)
    row, modifiers = parts
    operation.begin(row.name, modifiers)
    return row
