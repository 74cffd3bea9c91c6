"""The container: header, sections, and what is wrong with files that are none."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.support.diagnostics import UserError
from tilewright.support.location import ByteLoc


def error(data: bytes) -> str:
    with pytest.raises(UserError) as caught:
        read_bytecode(data, "k")
    assert isinstance(caught.value.location, ByteLoc)
    return str(caught.value)


@pytest.mark.requirement("R1-055")
def test_a_module_is_read(build, text_of) -> None:
    assert text_of(build.module()) == "entry @k() {\n  return\n}\n"


@each_case("version", [(13, 1), (13, 2), (13, 3), (13, 4)])
def test_all_four_versions_are_read(build, text_of, version) -> None:
    assert text_of(build.module(version=version)) == "entry @k() {\n  return\n}\n"


@each_case(
    ("data", "message"),
    [
        (b"", "byte 0 (0x0): error: expected Tile IR bytecode, found an empty file"),
        (b"ML\xefR\x0dMLIR", "expected Tile IR bytecode, found MLIR bytecode"),
        (b"cuda_tile.module @k {}\n", "found what looks like text"),
        (b"\x7fELF\x02\x01\x01\0\0", "found 7f 45 4c 46 02 01 01 00"),
        (b"\x7fTile", "expected a header of 12 bytes, found 5"),
        (b"\x7fTileIR\0\x0d\x04", "expected a header of 12 bytes, found 10"),
        (b"\x7fTileIR\0\x0d\x06\0\0\0", "from 13.1 to 13.5, found 13.6, which is newer"),
        (b"\x7fTileIR\0\x0d\x00\0\0\0", "from 13.1 to 13.5, found 13.0"),
        (b"\x7fTileIR\0\x0c\x09\0\0\0", "from 13.1 to 13.5, found 12.9"),
        (b"\x7fTileIR\0\x0d\x04\0\0", "byte 12 (0xc): error: expected a section or the end"),
        (b"\x7fTileIR\0\x0d\x04\0\0\0", "expected a String section, found none"),
        (b"\x7fTileIR\0\x0d\x04\0\0\x08\0\0", "expected the number of a section, 1 to 7, found 8"),
        (b"\x7fTileIR\0\x0d\x04\0\0\x80\0\0", "expected the number of a section, 1 to 7, found 0"),
        (
            b"\x7fTileIR\0\x0d\x04\0\0\x07\x09\0",
            "expected 9 bytes of the Producer section, found 1 to the end",
        ),
    ],
)
def test_what_is_no_file_of_ours_says_so(data: bytes, message: str) -> None:
    assert message in error(data)


def test_every_truncation_is_an_error_inside_the_file(build) -> None:
    data = build.module(strings=[b"a.py"], constants=[b"\1\0\0\0"])
    for size in range(len(data)):
        with pytest.raises(UserError) as caught:
            read_bytecode(data[:size], "k")
        location = caught.value.location
        assert isinstance(location, ByteLoc)
        assert location.offset <= size


def test_bytes_after_the_end_are_an_error(build) -> None:
    data = build.module()
    assert f"byte {len(data)} (0x{len(data):x}): error: expected the end" in error(data + b"\0")


def test_the_tag_is_ignored(build, text_of) -> None:
    data = bytearray(build.module())
    data[10:12] = b"\x07\x01"
    assert text_of(bytes(data)) == text_of(build.module())


def test_sections_come_in_any_order_and_the_last_of_a_kind_counts(build, text_of) -> None:
    wrong = (5, build.table([b"\xff\x01"], 4))
    types = (5, build.table(build.TYPES, 4))
    strings = (1, build.table([b"k"], 4))
    data = build.container([wrong, strings, types, (2, build.function())])
    assert text_of(data) == "entry @k() {\n  return\n}\n"


@each_case("alignment", [8, 16, 64])
def test_larger_alignments_are_fine(build, text_of, alignment: int) -> None:
    assert text_of(aligned_to(build, alignment)) == "entry @k() {\n  return\n}\n"


@each_case("alignment", [1, 2, 4, 12])
def test_wrong_alignments_are_errors(build, alignment: int) -> None:
    assert f"that 8 divides as alignment, found {alignment}" in error(aligned_to(build, alignment))


def aligned_to(build, alignment: int) -> bytes:
    out = b"\x7fTileIR\0\x0d\x04\0\0"
    payloads = {2: build.function(), 5: build.table(build.TYPES, 4), 1: build.table([b"k"], 4)}
    for number, payload in payloads.items():
        out += bytes([number | 0x80]) + build.varint(len(payload)) + build.varint(alignment)
        out += b"\xcb" * (-len(out) % alignment) + payload
    return out + b"\0"


def test_a_missing_alignment_is_an_error(build) -> None:
    data = b"\x7fTileIR\0\x0d\x04\0\0\x02\x01\0\0"
    assert "expected the Func section to have a power of two" in error(data)


def test_bytes_after_the_last_function_are_ignored(build, text_of) -> None:
    sections = [(2, build.function() + b"\1\2\3"), (5, build.table(build.TYPES, 4))]
    data = build.container([*sections, (1, build.table([b"k"], 4))])
    assert text_of(data) == "entry @k() {\n  return\n}\n"


# What tileirdisasm prints for the same bytes, for these and all that follow.
def test_a_private_entry_has_a_visibility(build, text_of) -> None:
    private = 'entry @k() {\n  return\n} {sym_visibility = "private"}\n'
    assert text_of(build.module(flags=3)) == private
    assert text_of(build.module(flags=3, version=(13, 3))) == private


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (0, "expected 'k' to be a kernel"),
        (10, "expected the flags of a function, 0 to 7, found 10"),
    ],
)
def test_other_functions_are_refused(build, flags: int, message: str) -> None:
    assert message in error(build.module(flags=flags))


def test_hints_of_an_entry(build, text_of) -> None:
    # sm_90 = {allow = true (tag 3), latency = 3 : i32 (tag 1)}
    hints = b"\x0b\x01\x01" + b"\x0a\x02" + b"\x02\x03\x01" + b"\x03\x01\x00\x03"
    data = build.module(flags=6, hints=hints, strings=[b"sm_90", b"allow", b"latency"])
    expected = "entry @k() optimization_hints=<sm_90 = {allow = true, latency = 3}> {"
    assert text_of(data).startswith(expected)


def test_hints_must_be_hints_of_dictionaries(build) -> None:
    assert "expected optimization hints" in error(build.module(flags=6, hints=b"\x03\x01"))
    hints = b"\x0b\x01\x00\x03\x01"
    assert "expected a dictionary for optimization hint 'k'" in error(
        build.module(flags=6, hints=hints)
    )


@pytest.mark.parametrize("version", [(13, 1), (13, 4)])
def test_the_producer_is_read_in_every_version(build, version) -> None:
    sections = [(2, build.function()), (5, build.table(build.TYPES, 4)), (7, b"\1")]
    data = build.container([*sections, (1, build.table([b"k", b"me 1.0"], 4))], version)
    assert read_bytecode(data).producer == "me 1.0"


def test_names_are_not_empty_but_may_hold_any_bytes(build, text_of) -> None:
    parts = [(2, build.function()), (5, build.table(build.TYPES, 4))]
    odd = build.container([*parts, (1, build.table([b"k\xff\xc3\xa9"], 4))])
    assert text_of(odd) == 'entry @"k\\FF\\C3\\A9"() {\n  return\n}\n'
    empty = build.container([*parts, (1, build.table([b""], 4))])
    assert "expected the name of a function, found an empty string" in error(empty)


def test_a_signature_is_the_type_of_a_function(build) -> None:
    assert "expected the type of a function, found '!cuda_tile.tile<i32>'" in error(
        build.module(signature=1)
    )
    assert "expected a type below 5, found number 9" in error(build.module(signature=9))


def global_section(build, record: bytes, version) -> bytes:
    types = [b"\x01", b"\x0d\x00" + build.words(8, 4)]
    sections = [(6, b"\x01" + record), (2, b"\x00"), (4, build.table([b"\x04\1\2\3\4"], 8))]
    sections += [(5, build.table(types, 4)), (1, build.table([b"g"], 4))]
    return build.container(sections, version)


def test_globals(build, text_of) -> None:
    old = global_section(build, b"\0\1\0\x10", (13, 1))
    assert text_of(old) == "global  @g alignment = 16 <i8: [1, 2, 3, 4]> : tile<4xi8>\n"
    new = global_section(build, b"\0\1\0\x10\1\5", (13, 3))
    text = "global private  constant @g alignment = 16 <i8: [1, 2, 3, 4]> : tile<4xi8>\n"
    assert text_of(new) == text
    assert "expected a visibility of 0 or 1, found 2" in error(
        global_section(build, b"\0\1\0\x10\2\0", (13, 4))
    )
