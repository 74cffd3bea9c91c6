"""Alias analysis: accesses that may overlap, and accesses that cannot."""

from __future__ import annotations

import pytest
from dialect_text import read

from tilewright.analysis.alias import Aliases
from tilewright.dialects.nv_tileaa.memory import AccessOp
from tilewright.ir.operation import Operation

P = "!nv_tileaa.ptr<f32>"
HEAD = f"""
nv_tileaa.global @g = dense<0.0> : tensor<8xf32>
nv_tileaa.global @h = dense<0.0> : tensor<8xf32>
nv_tileaa.func @f(%a: {P}, %b: {P}, %n: i32, %c: i1, %s: !nv_tileaa.ptr<f32, 3>) {{
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i4 = arith.constant 4 : i32
  %i8 = arith.constant 8 : i32
  %one = arith.constant 1.0 : f32
  %g = nv_tileaa.get_global @g : {P}
  %h = nv_tileaa.get_global @h : {P}
  %l = nv_tileaa.alloca 8 align 4 : {P}
  %m = nv_tileaa.alloca 8 align 4 : {P}
  %small = nv_tileaa.assume #nv_tileaa.bounded<0, 3>, %n : i32
"""


def accesses(body: str) -> tuple[Aliases, list[Operation]]:
    """The accesses of a function, in order."""
    module = read(HEAD + body + "\nnv_tileaa.return }")
    function = next(op for op in module.walk() if op.name == "nv_tileaa.func")
    return Aliases(function), [op for op in function.walk() if isinstance(op, AccessOp)]


def overlap(body: str) -> bool:
    aliases, ops = accesses(body)
    assert aliases.may_overlap(ops[0], ops[1]) == aliases.may_overlap(ops[1], ops[0])
    return aliases.may_overlap(ops[0], ops[1])


def touched(*pointers: str, kind: str = P) -> str:
    return "\n".join(
        f"%t{n} = nv_tileaa.store weak {each}, %one : {kind}, f32"
        for n, each in enumerate(pointers)
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("%a", "%a", True),
        ("%a", "%b", True),
        ("%g", "%h", False),
        ("%g", "%g", True),
        ("%g", "%l", False),
        ("%l", "%m", False),
        ("%l", "%a", False),
        # The host knows where a global is.
        ("%a", "%g", True),
    ],
)
def test_roots(first: str, second: str, expected: bool) -> None:
    assert overlap(touched(first, second)) is expected


def offset_pointer(name: str, base: str, offset: str, bytes: str = "") -> str:
    return f"%{name} = nv_tileaa.addptr {base}, {offset}{bytes} : {P}, i32\n"


@pytest.mark.parametrize(
    ("first", "second", "bytes", "expected"),
    [
        ("%i0", "%i1", "", False),
        ("%i1", "%i1", "", True),
        # Bytes one to four and bytes four to seven.
        ("%i1", "%i4", " bytes", True),
        ("%i0", "%i4", " bytes", False),
        ("%small", "%i4", "", False),
        ("%small", "%i1", "", True),
        ("%n", "%i1", "", True),
    ],
)
def test_offsets(first: str, second: str, bytes: str, expected: bool) -> None:
    text = offset_pointer("x", "%a", first, bytes) + offset_pointer("y", "%a", second, bytes)
    assert overlap(text + touched("%x", "%y")) is expected


def test_offsets_of_different_arguments_say_nothing() -> None:
    assert overlap(
        offset_pointer("x", "%a", "%i0") + offset_pointer("y", "%b", "%i8") + touched("%x", "%y")
    )


def test_a_choice_may_be_either() -> None:
    text = f"%x = nv_tileaa.select %c, %g, %l : i1, {P}\n"
    assert not overlap(text + touched("%x", "%h"))
    assert overlap(text + touched("%x", "%g"))
    assert overlap(text + touched("%x", "%l"))


def test_a_pointer_that_advances_in_a_loop() -> None:
    loop = f"""
    %r = scf.for %i = %i0 to %n step %i1 iter_args(%x = %g) -> ({P}) : i32 {{
      %t = nv_tileaa.store weak %x, %one : {P}, f32
      %y = nv_tileaa.addptr %x, %i1 : {P}, i32
      scf.yield %y : {P}
    }}
    """
    assert not overlap(loop + touched("%h"))
    assert overlap(loop + offset_pointer("z", "%g", "%i8") + touched("%z"))


def test_an_address_from_elsewhere_may_be_anything() -> None:
    text = f"""
    %k = nv_tileaa.ptr_to_int %l : {P} to i64
    %x = nv_tileaa.int_to_ptr %k : i64 to {P}
    """
    assert overlap(text + touched("%x", "%l"))


def test_spaces() -> None:
    text = "%t = nv_tileaa.store weak %s, %one : !nv_tileaa.ptr<f32, 3>, f32\n"
    assert not overlap(text + "%u = nv_tileaa.store weak %a, %one : !nv_tileaa.ptr<f32>, f32")


def tile(number: int, base: str, index: str, scope: str = "", stride: int = 1) -> str:
    source = f"!nv_tileaa.memref<?xf32, strides = [{stride}]{scope}>"
    view = f"!nv_tileaa.tiled_view<tile = [8], source = {source}>"
    return f"""
    %v{number} = nv_tileaa.make_memref {base} sizes(%n : i32) : {P} -> {source}
    %w{number} = nv_tileaa.block_tile %v{number} : {view}
    %l{number}:2 = nv_tileaa.tiled_load weak %w{number}[{index}] : i32 of {view} -> tensor<8xf32>
    """


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("%i0", "%i1", False), ("%i1", "%i1", True), ("%small", "%i4", False), ("%n", "%i4", True)],
)
def test_tiles_of_one_tensor(first: str, second: str, expected: bool) -> None:
    assert overlap(tile(0, "%a", first) + tile(1, "%a", second)) is expected


def test_tiles_of_tensors_with_different_strides() -> None:
    # Elements 8 to 15, and elements 0, 2, ..., 14.
    assert overlap(tile(0, "%a", "%i1") + tile(1, "%a", "%i0", stride=2))
    assert not overlap(tile(0, "%a", "%i0") + tile(1, "%a", "%i1", stride=2))


def test_alias_scopes() -> None:
    one, other = ", scope = one", ", scope = other"
    assert not overlap(tile(0, "%a", "%n", one) + tile(1, "%b", "%n", other))
    assert overlap(tile(0, "%a", "%n", one) + tile(1, "%b", "%n", one))
    assert overlap(tile(0, "%a", "%n", one) + tile(1, "%b", "%n"))
