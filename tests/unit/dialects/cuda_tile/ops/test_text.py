"""The text of every operation that computes values.

The programs in `golden/` are what NVIDIA's tileirdisasm 13.4 prints; they hold every operation of
these families, with every modifier.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from each_case import each_case

import tilewright
from tilewright.dialects.cuda_tile import (
    bitwise,
    conversion,
    core,
    floating,
    integer,
    mma,
)
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.mlir"))
FAMILIES = (bitwise, conversion, core, floating, integer, mma)
KINDS = {
    kind
    for family in FAMILIES
    for kind in vars(family).values()
    if isinstance(kind, type) and issubclass(kind, Operation) and kind.name
}


def program_id(path: Path) -> str:
    return path.stem


def parse_entry(text: str) -> Operation:
    module = parse_text(text, context(), default_dialect="cuda_tile")
    return next(iter(module.regions[0].block))


def print_entry(op: Operation, generic: bool = False) -> str:
    return print_op(op, default_dialect="cuda_tile", generic=generic)


def line(operation: str, *operands: str) -> str:
    """The printed form of an operation whose operands `%0`, `%1` ... have these types."""
    makers = [f'%{i} = "a.value"() : () -> !cuda_tile.{t}' for i, t in enumerate(operands)]
    text = "\n".join([*makers, f"cuda_tile.{operation}"])
    module = parse_text(text, context(allow_unregistered=True))
    (printed,) = [out for out in print_op(module).splitlines() if "cuda_tile." in out.split('"')[0]]
    return printed.partition("cuda_tile.")[2]


@pytest.mark.requirement("R1-009", "R1-010", "R1-012", "R1-014", "R1-015", "R4-020", "R4-021")
@each_case("path", GOLDEN, ids=program_id)
def test_parse_print_round_trip(path):
    text = path.read_text()
    assert print_entry(parse_entry(text)) == text


@each_case("path", GOLDEN, ids=program_id)
def test_generic_form_says_the_same(path):
    text = path.read_text()
    assert print_entry(parse_entry(print_entry(parse_entry(text), generic=True))) == text


@pytest.mark.peer
@pytest.mark.parametrize("path", GOLDEN, ids=program_id)
def test_tileirdisasm_reads_the_same_from_our_bytecode(path, nvidia_tools, tmp_path):
    text = path.read_text()
    file = tmp_path / "kernel.tileirbc"
    file.write_bytes(tilewright.write_bytecode(tilewright.read(text)))
    command = [nvidia_tools / "tileirdisasm", file]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == text.strip()


def test_programs_hold_every_operation():
    actual = {type(op) for path in GOLDEN for op in parse_entry(path.read_text()).walk()}
    assert actual >= KINDS


def test_seventy_operations():
    assert len(KINDS) == 70
    assert all(kind.__doc__ and kind.syntax and kind.since for kind in KINDS)


@pytest.mark.requirement("R4-022")
@each_case(
    ("written", "printed"),
    [
        ("pow %0, %1 : tile<4xf32>", "fpowf %0, %1 : tile<4xf32>"),
        ("addf %0, %1 rounding<nearest_even> : tile<4xf32>", "addf %0, %1  : tile<4xf32>"),
        ("exp %0 rounding<full> : tile<4xf32>", "exp %0  : tile<4xf32>"),
        (
            "maxf %0, %1 propagate_nan flush_to_zero : tile<4xf32>",
            "maxf %0, %1 flush_to_zero propagate_nan : tile<4xf32>",
        ),
        ("absf %0 : !cuda_tile.tile<4xf32>", "absf %0 : tile<4xf32>"),
        ("absf %0 {note = 1 : i32} : tile<4xf32>", "absf %0 {note = 1 : i32} : tile<4xf32>"),
    ],
)
def test_other_spellings(written, printed):
    assert line(written, "tile<4xf32>", "tile<4xf32>") == printed


@each_case(
    ("written", "printed"),
    [
        ("addi %0, %1 overflow<none> : tile<4xi32>", "addi %0, %1 : tile<4xi32>"),
        (
            "divi %0, %1 unsigned rounding<zero> : tile<4xi32>",
            "divi %0, %1 unsigned : tile<4xi32>",
        ),
        (
            "cmpi equal %0, %1, signed {a} : tile<4xi32> -> tile<4xi1>",
            "cmpi equal %0, %1, signed {a} : tile<4xi32> -> tile<4xi1>",
        ),
    ],
)
def test_other_spellings_of_integers(written, printed):
    assert line(written, "tile<4xi32>", "tile<4xi32>") == printed


@each_case(
    ("written", "location", "message"),
    [
        ("addf %0, %1 rounding<up> : tile<4xf32>", "3:32", "'nearest_away', got 'up'"),
        ("addf %0, %1 overflow<none> : tile<4xf32>", "3:23", "got 'overflow'"),
        ("ftoi %0 : tile<4xf32> -> tile<4xi32>", "3:19", "one of 'unsigned', 'signed', got ':'"),
        ("cmpf below ordered %0, %1 : tile<4xf32> -> tile<4xi1>", "3:16", "got 'below'"),
        ("addf %0 : tile<4xf32>", "3:19", "expected ',', got ':'"),
        ("addf %0, %1 : tile<8xf32>", "3:16", "value '%0' has type !cuda_tile.tile<4xf32>"),
    ],
)
def test_errors_have_the_location_of_the_wrong_text(written, location, message):
    with pytest.raises(tilewright.UserError) as caught:
        line(written, "tile<4xf32>", "tile<4xf32>")
    assert str(caught.value).startswith(f"<stdin>:{location}: error: ")
    assert message in str(caught.value)
