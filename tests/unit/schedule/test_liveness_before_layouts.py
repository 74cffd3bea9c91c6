"""The words of tiles that are live together, counted by hand: 128 elements of f32 are 128 words."""

from __future__ import annotations

from dialect_text import read
from each_case import each_case

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.schedule.liveness_before_layouts import live_words

T = "tensor<128xf32>"


def kernel(body: str, arguments: str = f"%x: {T}, %y: {T}") -> FuncOp:
    text = f"""
      gpu.module @kernels attributes {{
          nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>}} {{
        nv_tileaa.func @k({arguments}, %n: i32, %s: f32, %is: i1)
            attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
          {body}
          nv_tileaa.return
        }}
      }}"""
    (function,) = (op for op in read(text).walk() if isinstance(op, FuncOp))
    return function


LOOP = f"""
  %r = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> ({T}) : i32 {{
    %a = nv_tileaa.mulf %acc, %y : {T}
    %b = nv_tileaa.addf %a, %acc : {T}
    scf.yield %b : {T}
  }}
  %c = nv_tileaa.addf %r, %r : {T}
"""


@each_case(("body", "words"), [
    (f"%a = nv_tileaa.addf %x, %y : {T}", 2 * 128),  # nothing uses the sum
    (f"""%a = nv_tileaa.addf %x, %y : {T}
      %b = nv_tileaa.mulf %a, %x : {T}
      %c = nv_tileaa.mulf %a, %b : {T}
      %d = nv_tileaa.addf %c, %c : {T}""", 2 * 128),  # each result replaces an operand
    (f"""%a = nv_tileaa.addf %x, %y : {T}
      %b = nv_tileaa.mulf %a, %x : {T}
      %c = nv_tileaa.mulf %b, %x : {T}
      %d = nv_tileaa.addf %c, %y : {T}
      %e = nv_tileaa.addf %d, %a : {T}""", 4 * 128),  # a, b, x, y
    (f"""%z = nv_tileaa.splat %s : f32 -> {T}
      %a = nv_tileaa.addf %x, %z : {T}
      %b = nv_tileaa.addf %a, %z : {T}
      %c = nv_tileaa.addf %b, %y : {T}""", 2 * 128),  # a splat takes none
    (f"""%h = nv_tileaa.fp_to_fp %x : {T} to tensor<128xf16>
      %f = nv_tileaa.fp_to_fp %h : tensor<128xf16> to {T}
      %c = nv_tileaa.addf %f, %y : {T}""", 2 * 128),  # half of the words between
])  # fmt: skip
def test_straight_line_code(body: str, words: int) -> None:
    assert live_words(kernel(body)) == words


def test_a_loop_carries_its_tile_beside_those_that_it_uses() -> None:
    """In the loop the carried tile, %a and %y; its first value has become the carried tile."""
    assert live_words(kernel(LOOP)) == 3 * 128


def test_a_tile_that_is_used_after_a_loop_is_live_in_it() -> None:
    after = f"%d = nv_tileaa.addf %c, %x : {T}"
    assert live_words(kernel(LOOP + after)) == 4 * 128


def test_the_larger_branch_counts() -> None:
    """One branch holds a tile beside both operands; the other one overwrites one of them."""
    body = f"""
      %r = scf.if %is -> ({T}) {{
        %a = nv_tileaa.mulf %x, %y : {T}
        %b = nv_tileaa.addf %a, %x : {T}
        %c = nv_tileaa.addf %b, %y : {T}
        scf.yield %c : {T}
      }} else {{
        %a = nv_tileaa.mulf %x, %y : {T}
        scf.yield %a : {T}
      }}
      %d = nv_tileaa.addf %r, %r : {T}"""
    assert live_words(kernel(body)) == 3 * 128


@each_case(("operand", "words"), [
    ("%a#0", 64 * 64),  # the accumulator alone
    ("%negative", 64 * 64 + 64 * 64 // 2),  # and an A of f16
])  # fmt: skip
def test_operands_that_are_loaded_for_a_dot_take_none(operand: str, words: int) -> None:
    a, c = "tensor<64x64xf16>", "tensor<64x64xf32>"
    pointers = "tensor<64x64x!nv_tileaa.ptr<f16>>"
    negative = f"%negative = nv_tileaa.negf %a#0 : {a}" if operand == "%negative" else ""
    body = f"""
      %t = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
      %p = nv_tileaa.splat %base : !nv_tileaa.ptr<f16> -> {pointers}
      %a:2 = nv_tileaa.load weak %p token = %t : {pointers} -> {a}
      {negative}
      %d = nv_tileaa.dot {operand}, {operand}, %zero {{input_precision = "tf32"}} : {a}, {a}, {c}
      %e = nv_tileaa.addf %d, %d : {c}"""
    assert live_words(kernel(body, f"%base: !nv_tileaa.ptr<f16>, %zero: {c}")) == words


def test_reduced_tiles_do_not_count() -> None:
    body = (
        "%a = nv_tileaa.addf %q, %q : tensor<16xf32>\n%b = nv_tileaa.addf %a, %q : tensor<16xf32>"
    )
    assert live_words(kernel(body, "%q: tensor<16xf32>")) == 0


@each_case(("start", "words"), [
    ("", 128 + 128),  # a mask that each iteration computes takes none
    ("before", 128 + 128 + 128),  # indices from before the loop are kept
])  # fmt: skip
def test_what_is_computed_of_ranges_in_a_loop_takes_none(start: str, words: int) -> None:
    index = "tensor<128xi32>"
    made = f"""%range = nv_tileaa.make_range : {index}
      %all = nv_tileaa.splat %n : i32 -> {index}
      %sum = nv_tileaa.addi %range, %all : {index}"""
    body = f"""{made if start else ""}
      %r = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> ({T}) : i32 {{
        {"" if start else made}
        %u = nv_tileaa.addi %sum, %sum : {index}
        %a = nv_tileaa.mulf %acc, %acc : {T}
        %b = nv_tileaa.addf %a, %y : {T}
        scf.yield %b : {T}
      }}
      %c = nv_tileaa.addf %r, %r : {T}"""
    assert live_words(kernel(body)) == words
