"""The text of every operation with regions or effects.

The programs in `programs/` are what NVIDIA's tileirdisasm 13.4 prints; they hold every such
operation with every optional part.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import tilewright
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile import (
    aggregate,
    atomics,
    control_flow,
    memory,
    misc,
    structure,
    view,
)
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text
from tilewright.text.printer import Style, print_op

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))
FAMILIES = (aggregate, atomics, control_flow, memory, misc, structure, view)
KINDS = {
    kind
    for family in FAMILIES
    for kind in vars(family).values()
    if isinstance(kind, type) and issubclass(kind, Operation) and kind.name
}

every_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def spell(members: list[Operation], style: Style = Style.PUBLIC, generic: bool = False) -> str:
    texts = [
        print_op(op, style=style, generic=generic, default_dialect="cuda_tile") for op in members
    ]
    return "".join(texts)


@pytest.mark.requirement("R1-003", "R1-011", "R1-016", "R1-052", "R1-053", "R4-001")
@pytest.mark.requirement("R4-003", "R4-004", "R4-013", "R4-014", "R4-016")
@every_program
def test_parse_print_round_trip(path):
    text = path.read_text()
    assert spell(wrapped(text)) == text


def wrapped(text: str) -> list[Operation]:
    """Parse members inside a module, so that `get_global` resolves its symbol."""
    module = parse_text(f"cuda_tile.module @m {{\n{text}}}", context())
    verify(module)
    return [op.detach() for op in module.regions[0].block]


@every_program
def test_generic_form_says_the_same(path):
    text = path.read_text()
    generic = spell(wrapped(text), generic=True)
    assert spell(wrapped(generic)) == text


@pytest.mark.requirement("R4-012", "R4-016")
@every_program
def test_style_tileiras_says_the_same(path):
    text = path.read_text()
    other = spell(wrapped(text), Style.TILEIRAS)
    assert spell(wrapped(other)) == text


@pytest.mark.requirement("R4-006", "R4-036")
@every_program
def test_names_mean_nothing(path):
    text = path.read_text()
    renamed = re.sub(r'("(?:[^"\\]|\\.)*")|%(\w+)', _rename, text)
    assert renamed != text
    assert spell(wrapped(renamed)) == text


def _rename(match: re.Match[str]) -> str:
    return match[1] or f"%a_{match[2]}_z"


@pytest.mark.requirement("R4-012")
@every_program
def test_spacing_is_free(path):
    text = path.read_text()
    # Outside of strings, spaces and line breaks may stand around every bracket and comma.
    loose = re.sub(r'("(?:[^"\\]|\\.)*")|([(){}\[\],])', _spread, text)
    assert spell(wrapped(loose)) == text


def _spread(match: re.Match[str]) -> str:
    return match[1] or f" \n {match[2]} "


@pytest.mark.requirement("R4-003")
@every_program
def test_prefixes_may_be_written(path):
    text = path.read_text()
    names = "|".join(sorted((kind.name.partition(".")[2] for kind in KINDS), key=len, reverse=True))
    full = re.sub(rf"(?m)^( *(?:%[^=]*= )?)({names})\b", r"\1cuda_tile.\2", text)
    assert full.count("cuda_tile.") > text.count("cuda_tile.")
    assert spell(wrapped(full)) == text


@pytest.mark.peer
@every_program
def test_tileirdisasm_prints_the_same(path, nvidia_tools, tmp_path):
    text = path.read_text()
    file = tmp_path / "kernel.tileirbc"
    file.write_bytes(write_bytecode(tilewright.read(text)))
    command = [nvidia_tools / "tileirdisasm", file]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == text.strip()


def test_programs_hold_every_operation():
    actual = {
        type(op)
        for path in PROGRAMS
        for member in wrapped(path.read_text())
        for op in member.walk()
    }
    assert actual >= KINDS - {structure.ModuleOp}


def test_thirty_five_operations():
    assert len(KINDS) == 35
    assert all(kind.__doc__ and kind.syntax and kind.since for kind in KINDS)
