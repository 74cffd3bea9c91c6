"""The Debug section: locations of functions and operations, in and out."""

from __future__ import annotations

import sys

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.debug_info import DILoc
from tilewright.driver.disassembly import disassemble
from tilewright.support.diagnostics import UserError
from tilewright.support.location import (
    UNKNOWN,
    ByteLoc,
    CallSiteLoc,
    FileLoc,
    FusedLoc,
    NameLoc,
)

POSITION = "expected a line or column of at most 32 bits"
STRINGS = [b"a.py", b"/d"]
RECORDS = [
    b"\x02\x01\x02",  # 1: file
    b"\x01\x01",  # 2: compile unit
    b"\x05\x01\x03\x00\x00\x02\x04",  # 3: subprogram k
    b"\x04\x03\x01\x05\x06",  # 4: a.py:5:6 in 3
    b"\x03\x03\x01\x07\x08",  # 5: lexical block in 3
    b"\x04\x05\x01\x09\x0a",  # 6: a.py:9:10 in 5
    b"\x06\x06\x04",  # 7: call site
    b"\x09\x00",  # 8: an unknown tag
]

# What tileirdisasm -g prints for the bytes below.
TAIL = """\
#di_file = #cuda_tile.di_file<"a.py" in "/d">
#loc = loc("a.py":5:6)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "k", \
linkageName = "k", compileUnit = #di_compile_unit, scopeLine = 4>
#loc1 = #cuda_tile.di_loc<#loc in #di_subprogram>
"""


def module(build, indices, records=RECORDS, starts=(0,), location=1) -> bytes:
    section = build.debug(starts, indices, records)
    return build.module(strings=STRINGS, debug=section, location=location)


def error(data: bytes) -> str:
    with pytest.raises(UserError) as caught:
        read_bytecode(data, "k")
    assert isinstance(caught.value.location, ByteLoc)
    return str(caught.value)


def locations(data: bytes):
    (entry,) = read_bytecode(data, "k").entries()
    assert entry.body.block.first is not None
    return entry.location, entry.body.block.first.location


def test_debug_information_is_printed(build) -> None:
    text = disassemble(read_bytecode(module(build, [4, 4])), debug=True)
    assert text == f"entry @k() {{\n  return loc(#loc1)\n}} loc(#loc1)\n{TAIL}"


def test_each_kind_of_record(build) -> None:
    own, inner = locations(module(build, [4, 6]))
    assert isinstance(own, DILoc)
    assert isinstance(inner, DILoc)
    assert str(own) == "a.py:5:7"
    assert str(inner) == "a.py:9:11"
    _, site = locations(module(build, [4, 7]))
    assert site == CallSiteLoc(inner, own)


@pytest.mark.parametrize("index", [0, 8])
def test_unknown_locations_are_byte_offsets(build, index: int) -> None:
    data = module(build, [4, index])
    _, location = locations(data)
    assert location == ByteLoc("k", data.index(build.RETURN))
    text = disassemble(read_bytecode(data), debug=True)
    assert "#loc1 = loc(unknown)" in text


@each_case(
    ("indices", "records", "message"),
    [
        ([3, 4], RECORDS, "expected debug record 2 to be a location, found a scope"),
        ([4], RECORDS, "expected a location for each operation, found the end of the list"),
        ([4, 99], RECORDS, "expected a debug record below 8, found number 98"),
        ([1, 1], [b"\x04\x01\x01\x05\x06"], "found 0 in itself"),
        ([2, 2], [b"\x02\x01\x02", b"\x04\x01\x01\x05\x06"], "expected a scope, found a file"),
        ([1, 1], [b"\x04\x00\x01\x05\x06"], "expected a scope, found a location"),
        ([2, 2], [b"\x01\x02", b"\x06\x01\x00"], "found 1 in itself"),
        ([2, 2], [b"\x01\x00", b"\x06\x01\x00"], "expected a file, found a location"),
        ([1, 1], [b"\x04"], "expected a number"),
        ([4, 4], [*RECORDS[:3], b"\x04\x03\x01\x80\x80\x80\x80\x10\x06"], POSITION),
        ([4, 4], [*RECORDS[:3], b"\x04\x03\x01\x05\x80\x80\x80\x80\x10"], POSITION),
        ([6, 6], [*RECORDS[:4], b"\x03\x03\x01\x80\x80\x80\x80\x10\x08", RECORDS[5]], POSITION),
    ],
)
def test_broken_debug_information(build, indices, records, message: str) -> None:
    assert message in error(module(build, indices, records))


def test_lists_and_sections_must_exist(build) -> None:
    assert "expected a list of locations up to 1, found 2" in error(
        module(build, [4, 4], location=2)
    )
    assert "expected a Debug section with locations 1, found none" in error(
        build.module(location=1)
    )


def test_records_do_not_nest_for_ever(build) -> None:
    chain = [b"\x03" + build.varint(index) + b"\x01\x01\x01" for index in range(2, 3000)]
    assert "expected at most 2048 nested debug records" in error(module(build, [1, 1], chain))


def test_code_that_was_inlined_a_hundred_times(build) -> None:
    chain = [b"\x06\x04" + build.varint(index) for index in range(4, 900)]
    limit = sys.getrecursionlimit()
    _, caller = locations(module(build, [4, 900], [*RECORDS[:4], *chain]))
    for _ in chain:
        assert isinstance(caller, CallSiteLoc)
        caller = caller.caller
    assert isinstance(caller, DILoc)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("count", [300, 1500])
def test_lexical_blocks_in_each_other(build, count: int) -> None:
    """Their scopes are a chain: it is read, printed and written in a deep call stack, too."""
    chain = [b"\x03" + build.varint(index) + b"\x01\x01\x01" for index in (3, *range(5, 4 + count))]
    last = 4 + count
    records = [*RECORDS[:4], *chain, b"\x04" + build.varint(last) + b"\x01\x09\x0a"]
    data = module(build, [4, last + 1], records)
    limit = sys.getrecursionlimit()

    def deeper(frames: int) -> tuple[str, bytes]:
        if frames:
            return deeper(frames - 1)
        before = read_bytecode(data)
        return disassemble(before, debug=True), write_bytecode(before)

    text, written = deeper(300)
    assert text.count("cuda_tile.di_lexical_block<") == count
    assert disassemble(read_bytecode(written), debug=True) == text
    assert sys.getrecursionlimit() == limit


def test_few_records_cannot_make_endless_call_sites(build) -> None:
    doubling = [*RECORDS[:4], *[b"\x06" + bytes([i, i]) for i in range(4, 40)]]
    assert "expected at most 1024 nested call sites" in error(module(build, [4, 36], doubling))


def test_debug_information_survives(build) -> None:
    data = module(build, [4, 7])
    before = read_bytecode(data)
    after = read_bytecode(write_bytecode(before))
    assert disassemble(after, debug=True) == disassemble(before, debug=True)


def test_a_module_without_debug_information_has_no_debug_section(build) -> None:
    data = build.module()
    assert write_bytecode(read_bytecode(data)).count(b"\x83") == data.count(b"\x83") == 0


@each_case("unscoped", [UNKNOWN, FileLoc("a", 1, 2), ByteLoc("k", 3)])
def test_locations_without_scope_are_not_written(build, unscoped) -> None:
    module = read_bytecode(build.module())
    for op in module.walk():
        op.location = unscoped
    assert write_bytecode(module) == write_bytecode(read_bytecode(build.module()))


@pytest.mark.parametrize("wrap", [lambda loc: NameLoc("n", loc), lambda loc: FusedLoc((loc,))])
def test_locations_without_a_form_are_refused(build, wrap) -> None:
    module = read_bytecode(build.module())
    (entry,) = module.entries()
    assert entry.body.block.first is not None
    entry.body.block.first.location = wrap(FileLoc("a", 1, 2))
    with pytest.raises(UserError, match=r"'cuda_tile\.(entry|return)' op .*location"):
        write_bytecode(module)
