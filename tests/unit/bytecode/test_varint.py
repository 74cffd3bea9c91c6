"""The cursor and the buffer: numbers, bounds, offsets."""

from __future__ import annotations

import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st

from tilewright.bytecode.varint import Buffer, Cursor
from tilewright.support.diagnostics import InvalidValue, UserError


def cursor(data: bytes) -> Cursor:
    return Cursor(data, 100, "f", "part")


# LEB128 by its definition: seven bits a byte, lowest first.
@each_case(
    ("data", "number"),
    [
        ("00", 0),
        ("7f", 127),
        ("8001", 128),
        ("e58e26", 624485),
        ("ffffffffffffffffff01", 2**64 - 1),
        ("8000", 0),
    ],
)
def test_a_varint_has_seven_bits_a_byte(data: str, number: int) -> None:
    assert cursor(bytes.fromhex(data)).varint() == number


@each_case(("data", "number"), [("00", 0), ("01", -1), ("02", 1), ("ff01", -128), ("8002", 128)])
def test_the_lowest_bit_of_a_signed_varint_is_its_sign(data: str, number: int) -> None:
    assert cursor(bytes.fromhex(data)).signed_varint() == number


@given(st.integers(0, 2**64 - 1))
def test_varints_survive(number: int) -> None:
    buffer = Buffer()
    buffer.varint(number)
    assert cursor(bytes(buffer.out)).varint() == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_varints_survive(number: int) -> None:
    buffer = Buffer()
    buffer.signed_varint(number)
    assert cursor(bytes(buffer.out)).signed_varint() == number


@each_case("data", ["", "80", "ffff", "ffffffffffffffffff02", "80" * 11 + "00"])
def test_a_varint_ends_within_the_data_and_64_bits(data: str) -> None:
    with pytest.raises(UserError, match="expected a number"):
        cursor(bytes.fromhex(data)).varint()


def test_errors_name_the_offset_in_the_file() -> None:
    part = cursor(b"\1\2\3")
    part.take(2)
    with pytest.raises(UserError) as caught:
        part.take(2)
    assert str(caught.value).startswith("f: byte 102 (0x66): error: expected 2 bytes, found 1")


def test_a_count_is_checked_against_what_is_left() -> None:
    assert cursor(b"\2\0\0\0\0\0\0\0\0").count("words", 4) == 2
    with pytest.raises(UserError, match="at most 2 words in what is left, found a count of 3"):
        cursor(b"\3\0\0\0\0\0\0\0\0").count("words", 4)
    with pytest.raises(UserError, match="found a count of 4294967295"):
        cursor(b"\xff\xff\xff\xff\x0f").count("words", 4)


def test_words_are_signed_and_little_endian() -> None:
    assert cursor(b"\2\xfe\xff\xff\xff\1\0\0\0").words(4, "words") == (-2, 1)
    buffer = Buffer()
    buffer.words((-2, 1), 4)
    assert bytes(buffer.out) == b"\2\xfe\xff\xff\xff\1\0\0\0"


def test_words_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidValue, match="numbers of 32 bits"):
        Buffer().words((2**31,), 4)
    with pytest.raises(InvalidValue, match="number of 64 bits"):
        Buffer().signed_varint(2**63)


def test_padding_is_cb_and_stepped_over() -> None:
    buffer = Buffer()
    buffer.varint(1)
    buffer.align(4)
    assert bytes(buffer.out) == b"\1\xcb\xcb\xcb"
    part = cursor(bytes(buffer.out) + b"\5")
    part.varint()
    part.align(4)
    assert part.varint() == 5
    with pytest.raises(UserError, match="expected padding"):
        part.align(8)
