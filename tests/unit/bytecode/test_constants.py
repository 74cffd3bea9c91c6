"""Constants: what a blob means for a type, as tileirdisasm prints it."""

from __future__ import annotations

import re

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.support.diagnostics import UserError


def constant(build, tag: bytes, count: int, blob: bytes) -> bytes:
    """A module whose function makes a constant of a rank-1 tile."""
    tile = b"\x0d\x05" + build.words(8, count)
    return build.module(b"\x10\x06\x00" + build.RETURN, types=[tag, tile], constants=[blob])


@each_case(
    ("tag", "count", "blob", "text"),
    [
        (b"\x00", 1, "01", "<i1: true>"),
        (b"\x00", 1, "02", "<i1: false>"),
        (b"\x00", 4, "05", "<i1: [true, false, true, false]>"),
        (b"\x00", 4, "ff", "<i1: true>"),
        (b"\x00", 16, "01", "<i1: true>"),
        (b"\x00", 16, "02", "<i1: false>"),
        (b"\x00", 16, "ff", "<i1: true>"),
        (b"\x03", 2, "10000000", "<i32: 16>"),
        (b"\x03", 2, "1000000010000000", "<i32: 16>"),
        (b"\x03", 2, "10000000ffffffff", "<i32: [16, -1]>"),
        (b"\x08", 2, "000002010004", "<tf32: [2.000000e+00, -1.147940e-41]>"),
        (b"\x08", 2, "0000f2010004", "<tf32: [2.000000e+00, -1.147940e-41]>"),
        (b"\x13", 2, "030e", "<f4E2M1FN: [1.500000e+00, -4.000000e+00]>"),
        (b"\x13", 2, "330e", "<f4E2M1FN: [1.500000e+00, -4.000000e+00]>"),
        (b"\x09", 2, "000000000000f0ff", "<f64: 0xFFF0000000000000>"),
    ],
)
def test_what_a_blob_means(build, text_of, tag: bytes, count: int, blob: str, text: str) -> None:
    data = constant(build, tag, count, bytes.fromhex(blob))
    assert f"constant {text} : tile<{count}x" in text_of(data)


@each_case(
    ("tag", "count", "blob", "message"),
    [
        (b"\x00", 16, "010203", "expected a length of 2 for constant 0"),
        (b"\x00", 2, "0101", "expected a length of 1 for constant 0"),
        (b"\x03", 4, "1020", "expected a length of 4 or 16 for constant 0"),
        (b"\x03", 4, "", "expected a length of 4 or 16 for constant 0"),
    ],
)
def test_blobs_of_another_length_are_errors(
    build, tag: bytes, count: int, blob: str, message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        read_bytecode(constant(build, tag, count, bytes.fromhex(blob)))


def test_only_tiles_of_numbers_are_constants(build) -> None:
    pointers = [b"\x0c\x00\x00", b"\x0d\x05" + build.words(8, 2)]
    data = build.module(b"\x10\x06\x00" + build.RETURN, types=pointers, constants=[b"\0" * 8])
    with pytest.raises(UserError, match=r"tile of numbers, found '!cuda_tile\.tile<2xptr<i32>>'"):
        read_bytecode(data)


def test_one_blob_serves_constants_of_several_types(build, text_of) -> None:
    types = [b"\x07", b"\x0d\x05\x00", b"\x0d\x00" + build.words(8, 4)]
    body = b"\x10\x06\x00" + b"\x10\x07\x00" + build.RETURN
    data = build.module(body, types=types, constants=[b"\0\0\x80\x3f"])
    text = text_of(data)
    assert "constant <f32: 1.000000e+00> : tile<f32>" in text
    assert "constant <i32: 1065353216> : tile<4xi32>" in text
    assert write_bytecode(read_bytecode(data)).count(b"\0\0\x80\x3f") == 1


@each_case(
    ("count", "blob", "written"),
    [(1, "01", "ff"), (4, "05", "05"), (4, "0f", "ff"), (16, "ffff", "ff"), (16, "0180", "0180")],
)
def test_booleans_are_written_packed_and_splats_in_one_byte(
    build, text_of, count: int, blob: str, written: str
) -> None:
    data = constant(build, b"\x00", count, bytes.fromhex(blob))
    again = write_bytecode(read_bytecode(data))
    payload = bytes.fromhex(written)
    # One constant at offset 0, then the length of its bytes and the bytes.
    assert b"\x01" + b"\xcb" * 7 + b"\0" * 8 + bytes([len(payload)]) + payload in again
    assert text_of(again) == text_of(data)
