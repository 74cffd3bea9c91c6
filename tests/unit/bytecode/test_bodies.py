"""The bodies of functions: operations, values, blocks, versions; texts as tileirdisasm prints."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.enums import Overflow
from tilewright.support.diagnostics import UserError
from tilewright.support.location import ByteLoc

ADD = b"\x03\x01\x00"  # addi, result type 1, overflow none; operands follow
IOTA = b"\x3a\x05"


def error(data: bytes) -> str:
    with pytest.raises(UserError) as caught:
        read_bytecode(data, "k")
    assert isinstance(caught.value.location, ByteLoc)
    return str(caught.value)


def body_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()[1:-1]]


def test_operands_are_values_by_number(build, text_of) -> None:
    body = ADD + b"\x00\x00" + ADD + b"\x01\x00" + build.RETURN
    assert body_of(text_of(build.module(body, signature=4))) == [
        "%0 = addi %arg0, %arg0 : tile<i32>",
        "%1 = addi %0, %arg0 : tile<i32>",
        "return",
    ]


def test_more_than_127_values(build, text_of) -> None:
    body = (ADD + b"\x00\x00") * 200 + ADD + build.varint(199) + build.varint(0) + build.RETURN
    data = build.module(body, signature=4)
    assert "%200 = addi %198, %arg0 : tile<i32>" in text_of(data)
    assert text_of(write_bytecode(read_bytecode(data))) == text_of(data)


def test_a_value_must_be_defined_before(build) -> None:
    body = ADD + b"\x00\x01" + build.RETURN
    message = error(build.module(body, signature=4))
    assert "expected a value below 1, found number 1" in message


# if %arg0 { constant; yield }: two regions, the second without a block.
def conditional(inner: bytes, count: int) -> bytes:
    return b"\x32\x00\x00\x02" + b"\x01\x00" + bytes([count]) + inner + b"\x00"


BOOL = (b"\x00", b"\x0d\x05\x00", b"\x10\x01\x06\x00")  # i1, tile<i1>, (tile<i1>) -> ()
YIELD = b"\x6d\x00\x00"


def test_values_of_a_block_are_forgotten_after_it(build, text_of) -> None:
    inner = IOTA.replace(b"\x05", b"\x08") + YIELD
    types = [*BOOL, b"\x0d\x00" + build.words(8, 4)]
    after = b"\x3a\x08" + b"\x5b\x08\x01"  # iota has number 1 again; reshape of it
    data = build.module(conditional(inner, 2) + after + build.RETURN, types=types, signature=7)
    assert body_of(text_of(data)) == [
        "if %arg0 {",
        "%1 = iota : tile<4xi32>",
        "}",
        "%0 = iota : tile<4xi32>",
        "%reshape = reshape %0 : tile<4xi32> -> tile<4xi32>",
        "return",
    ]
    hidden = build.module(
        conditional(inner, 2) + b"\x5b\x08\x01" + build.RETURN, types=types, signature=7
    )
    assert "expected a value below 1, found number 1" in error(hidden)


def test_results_are_numbered_after_the_regions(build, text_of) -> None:
    # for %i = 0 to 0 step 0, carrying value 0: the body uses numbers 1 and 2, the result is 1.
    head = b"\x29\x01\x01" + b"\x00" + b"\x04\x00\x00\x00\x00" + b"\x01"
    block = b"\x01\x02\x01\x01" + b"\x01" + b"\x11\x00\x01\x02"
    data = build.module(head + block + ADD + b"\x01\x01" + build.RETURN, signature=4)
    text = text_of(data)
    assert "continue %iterArg0 : tile<i32>" in text
    assert "%0 = addi %for, %for : tile<i32>" in text
    assert text_of(write_bytecode(read_bytecode(data))) == text


@each_case(
    ("body", "message"),
    [
        (b"\x7f", "expected the opcode of an operation, found 0x7f"),
        (b"\x19", "expected the opcode of an operation, found 0x19"),
        (b"\x16", "expected the opcode of an operation, found 0x16 ('cuda_tile.entry')"),
        (b"\xff\x7f", "expected the opcode of an operation, found 0x3fff"),
        (b"\x5c", "expected a number, found the end of the body of 'k'"),
        (b"\x5c\x01\x01\x00", "expected at most 0 results, found 1"),
        (b"\x78\x03\x02\x00\x00", "expected at most 1 operands, found 2"),
        (b"\x29\x00\x00\x02\x00\x00\x01\x00", "expected at least 3 operands, found 2"),
        (b"\x3c\x05\x00", "results in what is left, found a count of 5"),
        (b"\x03\x01\x09\x00\x00", "expected one of none 0, no_signed_wrap 1"),
        (b"\x32\x00\x00\x01\x00", "expected 2 regions, found 1"),
        (b"\x32\x00\x00\x02\x01\x00\x00\x00", "end of a block, found an empty block"),
        (b"\x32\x00\x00\x02\x01\x00\x01\x44\x03\x00", "found 'cuda_tile.make_token'"),
        (b"\x32\x00\x00\x02\xff\x01", "blocks in what is left, found a count of 255"),
    ],
)
def test_broken_bodies(build, body: bytes, message: str) -> None:
    assert message in error(build.module(body, signature=4))


@each_case(
    ("opcode", "name", "since"),
    [(0x6E, "atan2", (13, 2)), (0x6F, "pack", (13, 3)), (0x76, "insert", (13, 4))],
)
def test_operations_newer_than_the_file_are_refused(build, opcode: int, name: str, since) -> None:
    older = (13, since[1] - 1)
    message = error(build.module(bytes([opcode]), version=older))
    came = f"found 'cuda_tile.{name}', which came with 13.{since[1]}"
    assert f"expected an operation of bytecode 13.{older[1]}, {came}" in message


def nested(nesting: int) -> bytes:
    inner = conditional(YIELD, 1)
    for _ in range(nesting - 1):
        inner = conditional(inner + YIELD, 2)
    return inner + b"\x5c\x00\x00"


def test_regions_nest_128_deep(build) -> None:
    types = list(BOOL)
    module = read_bytecode(build.module(nested(128), types=types, signature=7))
    assert sum(op.name == "cuda_tile.if" for op in module.walk()) == 128
    write_bytecode(module)
    message = error(build.module(nested(129), types=types, signature=7))
    assert "expected regions nested at most 128 deep, found more" in message


@each_case("version", [(13, 1), (13, 2), (13, 3), (13, 4)])
def test_print_has_a_token_from_13_2_on(build, text_of, version) -> None:
    body = b"\x55\x00\x00\x00" if version == (13, 1) else b"\x55\x01\x03\x00\x00\x00"
    data = build.module(body + build.RETURN, version=version)
    assert body_of(text_of(data)) == ['%0 = print_tko "k" -> token', "return"]
    again = write_bytecode(read_bytecode(data), version)
    assert len(again) <= len(data)
    assert text_of(again) == text_of(data)


def test_a_token_that_13_1_does_not_know_has_no_number(build, text_of) -> None:
    body = b"\x55\x00\x00\x00" + b"\x3a\x05" + b"\x5b\x05\x00" + build.RETURN
    types = [b"\x0d\x00" + build.words(8, 4)]
    text = text_of(build.module(body, types=types, version=(13, 1)))
    assert "%1 = iota" in text
    assert "%reshape = reshape %1" in text


@pytest.mark.parametrize("version", [(13, 1), (13, 2)])
def test_attributes_that_came_later_have_their_default(build, version) -> None:
    body = b"\x50\x01" + (b"" if version == (13, 1) else b"\x01") + b"\x00" + build.RETURN
    module = read_bytecode(build.module(body, version=version, signature=4))
    negation = next(op for op in module.walk() if op.name == "cuda_tile.negi")
    expected = {(13, 1): Overflow.NONE, (13, 2): Overflow.NO_SIGNED_WRAP}
    assert negation.attributes["overflow"] is expected[version]


def test_unknown_flags_are_ignored(build, text_of) -> None:
    types = [b"\x07", b"\x0d\x05\x00", b"\x10\x01\x06\x00"]
    plain = b"\x5d\x06\x00\x00" + build.RETURN
    odd = b"\x5d\x06\x02\x00" + build.RETURN
    texts = [text_of(build.module(body, types=types, signature=7)) for body in (plain, odd)]
    assert texts[0] == texts[1]


def test_operations_without_debug_information_know_their_byte(build) -> None:
    data = build.module(ADD + b"\x00\x00" + build.RETURN, signature=4)
    (entry,) = read_bytecode(data, "k").entries()
    start = data.index(ADD)
    locations = [str(op.location) for op in entry.body.block]
    assert locations == [f"k: byte {at} (0x{at:x})" for at in (start, start + 5)]


def test_lists_of_integers_keep_clear_of_the_ends_of_the_range(build) -> None:
    tile = b"\x0d\x00" + build.words(8, 4)
    for wrong in (2**31 - 1, -(2**31)):
        body = b"\x3a\x05\x53\x05" + build.words(4, wrong) + b"\x00" + build.RETURN
        assert "expected elements from" in error(build.module(body, types=[tile]))


def test_symbols_are_not_empty(build) -> None:
    data = build.module(b"\x2c\x01\x01" + build.RETURN, strings=[b""])
    assert "expected the name of a symbol, found an empty string" in error(data)


def test_a_predicate_is_an_attribute_of_that_kind(build) -> None:
    data = build.module(b"\x06\x01\x05\x00\x00" + build.RETURN, signature=4)
    assert "expected assume predicate attribute, found tag 5" in error(data)
