"""Packed values: what is decoded is what was encoded, and any bytes are decoded or rejected."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest
from each_case import each_case

from tilewright.support.packed_values import DEEPEST, Damaged, decode, encode

VALUES = [
    None, 0, -1, 2**63 - 1, -(2**63), "", "text", "ä\ud800\udcff\0", b"", b"\0\xff", (),
    (None, (1, ("a", b"b")), ()), ("x",) * 100,
]  # fmt: skip


@each_case("value", VALUES, ids=repr)
def test_values_are_the_same_again(value: Any) -> None:
    assert decode(encode(value)) == value


def test_lists_become_tuples() -> None:
    assert decode(encode([1, ["a"]])) == (1, ("a",))


def test_every_prefix_is_damaged() -> None:
    whole = encode(VALUES)
    for length in range(len(whole)):
        with pytest.raises(Damaged):
            decode(whole[:length])
    with pytest.raises(Damaged):
        decode(whole + b"n")


def test_any_bytes_are_a_value_or_damaged() -> None:
    numbers = random.Random(1)
    whole = bytearray(encode(VALUES))
    outcomes = set[bool]()
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(numbers.randrange(1, 4)):
            data[numbers.randrange(len(data))] = numbers.choice(b"nisbt\0\x01\xff")
        try:
            decode(bytes(data))
            outcomes.add(True)
        except Damaged:
            outcomes.add(False)
    assert outcomes == {True, False}


def nested(levels: int) -> bytes:
    return (b"t" + (1).to_bytes(8, "little")) * levels + b"n"


def test_nesting_has_a_limit() -> None:
    assert decode(nested(DEEPEST)) is not None
    for levels in (DEEPEST + 1, 100_000):
        with pytest.raises(Damaged):
            decode(nested(levels))


@each_case("tag", [b"s", b"b", b"t"])
def test_a_size_allocates_nothing(tag: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Damaged, match="expected at most"):
            decode(tag + (1 << 40).to_bytes(8, "little") + bytes(100))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
