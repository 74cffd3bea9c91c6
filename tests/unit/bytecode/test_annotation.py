"""Annotated bytecode: every byte has one meaning, and it is the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from each_case import each_case

import tilewright
from tilewright.bytecode.annotation import ByteRange, annotate, annotation_text
from tilewright.support.diagnostics import UserError

ROOT = Path(__file__).parents[3]
PROGRAMS = [
    *sorted((ROOT / "examples").glob("*.mlir")),
    *sorted((ROOT / "tests" / "programs").glob("*.mlir")),
]

BRANCHES = """\
entry @branches(%p: tile<ptr<i32>>, %c: tile<i1>, %a: tile<i32>) {
  %x = if %c -> (tile<i32>) {
    %y = addi %a, %a : tile<i32>
    yield %y : tile<i32>
  } else {
    yield %a : tile<i32>
  }
  %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""


def check_coverage(data: bytes, ranges: list[ByteRange]) -> None:
    """Each byte is in one range, in the ranges and in the printed text."""
    assert [each.start for each in ranges] == [0, *(each.stop for each in ranges[:-1])]
    assert ranges[-1].stop == len(data)
    assert all(each.start < each.stop for each in ranges)
    lines = annotation_text(data, ranges).splitlines()[1:]
    assert b"".join(bytes.fromhex(line[10:33]) for line in lines) == data
    assert [int(line[:8], 16) for line in lines if len(line) > 33] == [
        each.start for each in ranges
    ]


@each_case("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_byte_is_covered_once(path: Path) -> None:
    data = tilewright.write_bytecode(tilewright.read(path))
    check_coverage(data, annotate(data))


def test_operations_are_as_many_as_those_of_the_module() -> None:
    module = tilewright.read(ROOT / "examples" / "gemm.mlir")
    data = tilewright.write_bytecode(module)
    names = [op.name.partition(".")[2] for op in module.walk()]
    inside = [name for name in names if name not in ("module", "entry")]
    meanings = [each.meaning for each in annotate(data) if each.section == "Func"]
    counts = ("number of", "function @", "Func section", "padding")
    operations = [text for text in meanings if not text.startswith(counts)]
    read = [text.rpartition(" = ")[2] if text[:1] == "%" else text for text in operations]
    assert len(read) == len(inside)
    for name in inside:
        assert any(f"{name} " in f"{text} " for text in operations)


def test_a_file_by_hand(build: Any) -> None:
    # A constant of i32, its sum with itself, and a return: opcodes of Tile IR 13.4.
    constant = b"\x10\x01\x00"
    add = b"\x03\x01\x00\x00\x00"
    data = build.module(constant + add + build.RETURN, constants=[b"\x07\x00\x00\x00"])
    ranges = annotate(data)
    check_coverage(data, ranges)
    meanings = {data[each.start : each.stop]: each.meaning for each in ranges}
    type = "!cuda_tile.tile<i32>"
    assert meanings[constant] == f"%0 = constant {{value = dense<7> : {type}}} : {type}"
    assert meanings[add].startswith("%1 = addi %0, %0 ")
    assert meanings[build.RETURN] == "return"
    assert meanings[b"\x04\x07\x00\x00\x00"] == "constant 0: its length and data, 5 bytes"
    assert meanings[build.TYPES[1]] == f"type 1: '{type}'"
    assert meanings[b"k"] == "string 0: 'k'"
    assert meanings[b"\x7fTileIR\0"] == "magic number"
    assert ranges[-1] == ByteRange(len(data) - 1, len(data), "End", "end marker")


def test_counts_between_the_operations_of_regions() -> None:
    data = tilewright.write_bytecode(tilewright.read(BRANCHES))
    ranges = annotate(data)
    check_coverage(data, ranges)
    meanings = [each.meaning for each in ranges]
    start = next(index for index, text in enumerate(meanings) if " = if %1" in text)
    block = ["number of blocks: 1", "number of block arguments: 0, and their types"]
    assert meanings[start:][1:4] == ["number of regions: 2", *block]
    assert meanings[start:][4] == "number of operations: 2"
    assert meanings[start:][5].startswith("%3 = addi %2, %2")
    assert meanings[start:][6] == "yield %3"
    assert meanings[start:][7:10] == [*block, "number of operations: 1"]
    assert meanings[start:][10] == "yield %2"
    # The values of a region are no values after it.
    assert meanings[start].startswith("%3 = if")
    assert meanings[start:][11].startswith("%4 = store_ptr_tko %0, %3")


def test_debug_information_and_globals() -> None:
    text = (ROOT / "tests" / "programs" / "debug.mlir").read_text()
    data = tilewright.write_bytecode(tilewright.read(text))
    ranges = annotate(data)
    sections = {each.section for each in ranges}
    assert "Debug" in sections
    records = [each.meaning for each in ranges if each.meaning.startswith("debug record")]
    assert any("di_file" in record for record in records)
    assert any("location " in record for record in records)
    data = tilewright.write_bytecode(tilewright.read(ROOT / "tests" / "programs" / "global.mlir"))
    assert any(each.meaning.startswith("global @") for each in annotate(data))


def test_a_section_that_another_replaces(build: Any) -> None:
    data = build.container(
        [
            (1, build.table([b"unused"], 4)),
            (2, build.function()),
            (5, build.table(build.TYPES, 4)),
            (1, build.table([b"kernel"], 4)),
        ]
    )
    ranges = annotate(data)
    check_coverage(data, ranges)
    assert any(each.meaning == "unused: another String section follows" for each in ranges)


@each_case("size", [0, 5, 11, 40])
def test_damaged_files_are_errors(size: int) -> None:
    data = tilewright.write_bytecode(tilewright.read(BRANCHES))
    with pytest.raises(UserError, match="expected"):
        annotate(data[:size])
