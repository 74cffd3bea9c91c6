"""Rules that merge two consecutive operations."""

from __future__ import annotations

import pytest
from each_case import each_case
from tile_programs import same

USE = '\nprint_tko "%d", %z : tile<{}> -> token\n'


@each_case(
    ("chain", "expected", "type"),
    [
        ("exti %b signed : tile<i8> -> tile<i16>\nexti %y signed : tile<i16> -> tile<i32>",
         "exti %b signed : tile<i8> -> tile<i32>", "i32"),
        ("exti %b unsigned : tile<i8> -> tile<i16>\nexti %y signed : tile<i16> -> tile<i32>",
         "exti %b unsigned : tile<i8> -> tile<i32>", "i32"),
        ("exti %b signed : tile<i8> -> tile<i32>\ntrunci %y : tile<i32> -> tile<i16>",
         "exti %b signed : tile<i8> -> tile<i16>", "i16"),
        ("exti %h unsigned : tile<i16> -> tile<i32>\ntrunci %y : tile<i32> -> tile<i8>",
         "trunci %h : tile<i16> -> tile<i8>", "i8"),
        ("trunci %w : tile<i32> -> tile<i16>\ntrunci %y : tile<i16> -> tile<i8>",
         "trunci %w : tile<i32> -> tile<i8>", "i8"),
        ("trunci %w overflow<no_wrap> : tile<i32> -> tile<i16>\n"
         "trunci %y overflow<no_wrap> : tile<i16> -> tile<i8>",
         "trunci %w overflow<no_wrap> : tile<i32> -> tile<i8>", "i8"),
        ("trunci %w overflow<no_wrap> : tile<i32> -> tile<i16>\ntrunci %y : tile<i16> -> tile<i8>",
         "trunci %w : tile<i32> -> tile<i8>", "i8"),
        ("bitcast %h : tile<i16> -> tile<f16>\nbitcast %y : tile<f16> -> tile<bf16>",
         "bitcast %h : tile<i16> -> tile<bf16>", "bf16"),
        ("ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i8>>\n"
         "ptr_to_ptr %y : tile<ptr<i8>> -> tile<ptr<i32>>",
         "ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>", "ptr<i32>"),
        ("broadcast %m : tile<1x1x4xi32> -> tile<1x2x4xi32>\n"
         "broadcast %y : tile<1x2x4xi32> -> tile<8x2x4xi32>",
         "broadcast %m : tile<1x1x4xi32> -> tile<8x2x4xi32>", "8x2x4xi32"),
        ("reshape %m : tile<1x1x4xi32> -> tile<4xi32>\nreshape %y : tile<4xi32> -> tile<2x2xi32>",
         "reshape %m : tile<1x1x4xi32> -> tile<2x2xi32>", "2x2xi32"),
        ("permute %q [1, 2, 0] : tile<2x4x8xi32> -> tile<4x8x2xi32>\n"
         "permute %y [2, 1, 0] : tile<4x8x2xi32> -> tile<2x8x4xi32>",
         "permute %q [0, 2, 1] : tile<2x4x8xi32> -> tile<2x8x4xi32>", "2x8x4xi32"),
        ("negf %f : tile<f32>\nabsf %y : tile<f32>", "absf %f : tile<f32>", "f32"),
        ("mulf %f, %f : tile<f32>\naddf %f, %y : tile<f32>",
         "mulf %f, %f : tile<f32>\naddf %y, %f : tile<f32>", "f32"),
    ],
)  # fmt: skip
def test_two_in_a_row(chain: str, expected: str, type: str) -> None:
    def body(lines: str) -> str:
        *first, last = lines.split("\n")
        return "\n".join([*(f"%y = {line}" for line in first), f"%z = {last}"]) + USE.format(type)

    arguments = (
        "%b: tile<i8>, %h: tile<i16>, %w: tile<i32>, %p: tile<ptr<f32>>, %f: tile<f32>, "
        "%a: tile<ptr<i32>>"
    )
    memory = "".join(
        f"%{name}, %t{name} = load_ptr_tko weak %a{name} : tile<{shape}xptr<i32>> -> "
        f"tile<{shape}xi32>, token\n"
        for name, shape in (("m", "1x1x4"), ("q", "2x4x8"))
        if f"%{name} " in chain
    )
    sources = "".join(
        f"%r{name} = reshape %a : tile<ptr<i32>> -> tile<1x1x1xptr<i32>>\n"
        f"%a{name} = broadcast %r{name} : tile<1x1x1xptr<i32>> -> tile<{shape}xptr<i32>>\n"
        for name, shape in (("m", "1x1x4"), ("q", "2x4x8"))
        if f"%{name} " in chain
    )
    head = sources + memory
    assert same(head + body(chain), head + body(expected), arguments)


@pytest.mark.parametrize(
    "chain",
    [
        # The sign that the inner one copied is not what the outer one adds.
        "%y = exti %b signed : tile<i8> -> tile<i16>\n"
        "%z = exti %y unsigned : tile<i16> -> tile<i32>",
        "%y = mulf %f, %f : tile<f32>\n%x = mulf %f, %g : tile<f32>\n%z = addf %x, %y : tile<f32>",
    ],
)
def test_ifs_that_cannot_be_merged_stay(chain: str) -> None:
    body = chain + USE.format("i32" if "i32" in chain else "f32")
    assert same(body, body, "%b: tile<i8>, %f: tile<f32>, %g: tile<f32>")
