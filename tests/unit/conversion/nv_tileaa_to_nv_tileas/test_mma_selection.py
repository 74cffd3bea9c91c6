"""Selection of mma instructions: wgmma only where shared memory holds the operands together."""

from __future__ import annotations

from typing import Final

from dialect_text import read

from tilewright.conversion.nv_tileaa_to_nv_tileas.mma_selection import (
    select_all,
)
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.schedule.shared_memory import MOST_SCRATCH, SCRATCH_RESERVE
from tilewright.target.arch import ARCHES

SM_90: Final = ARCHES["sm_90"]
WARPS: Final = 8
A: Final = "tensor<128x128xf16>"
B: Final = "tensor<128x256xf16>"
C: Final = "tensor<128x256xf32>"
OPERAND_BYTES: Final = (128 * 128 + 128 * 256) * 2
"""Of one dot; those of two do not fit beside each other."""
BOTH: Final = [Atom.WGMMA, Atom.WGMMA]


def tiles(number: int) -> str:
    """Compute A and B with a number."""
    parts = [
        f"%{name}{number} = nv_tileaa.negf %{name} : {type}" for name, type in (("a", A), ("b", B))
    ]
    return "".join(f"{part}\n" for part in parts)


def dot(a: int, b: int) -> str:
    given = f'%a{a}, %b{b}, %c {{input_precision = "ieee"}} : {A}, {B}, {C}'
    return f"%d{a}{b} = nv_tileaa.dot {given}\n"


def loop(body: str) -> str:
    return f"scf.for %i{len(body)} = %n to %n step %n : i32 {{\n{body} scf.yield\n}}\n"


def atoms(body: str) -> list[Atom]:
    """The instruction of each dot, in order."""
    arguments = f"%a: {A}, %b: {B}, %c: {C}, %n: i32, %h: i1, %s: f32, %h16: f16"
    module = read(f"nv_tileaa.func @f({arguments}) {{ {body} nv_tileaa.return }}")
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    selections = select_all(dots, SM_90, WARPS)
    return [selections[op].atom for op in dots]


def test_the_operands_of_one_dot_fit_and_of_two_do_not() -> None:
    available = SM_90.static_shared - SCRATCH_RESERVE
    assert OPERAND_BYTES <= available < 2 * OPERAND_BYTES


def test_operands_of_a_loop_fit_together() -> None:
    """Whatever their order: stages hold tiles of several iterations."""
    together = tiles(0) + dot(0, 0) + tiles(1) + dot(1, 1)
    assert atoms(loop(together)) == [Atom.WGMMA, Atom.MMA_SYNC]
    assert atoms(loop(loop(together))) == [Atom.WGMMA, Atom.MMA_SYNC]


def test_an_operand_of_two_dots_is_counted_once() -> None:
    """A second B, or none, fits beside the operands of the first dot."""
    assert atoms(loop(tiles(0) + dot(0, 0) + dot(0, 0).replace("%d", "%e"))) == BOTH
    assert atoms(loop(tiles(0) + tiles(1) + dot(0, 0) + dot(0, 1))) == BOTH


def test_a_transposed_operand_is_stored_once() -> None:
    """Keys that are values as well: two Bs fit, three would not."""
    transposed = "tensor<256x128xf16>"
    given = f'%t, %a0, %e {{input_precision = "ieee"}} : {transposed}, {A}, tensor<256x128xf32>'
    again = (
        f"%t = nv_tileaa.permute %b0 [1, 0] : {B} -> {transposed}\n"
        f"%e = nv_tileaa.splat %s : f32 -> tensor<256x128xf32>\n"
        f"%f = nv_tileaa.dot {given}\n"
    )
    assert atoms(loop(tiles(0) + tiles(1) + dot(0, 0) + dot(0, 1) + again)) == [*BOTH, Atom.WGMMA]


def test_fragments_are_not_stored() -> None:
    """A that is computed from an accumulator stays in registers."""
    fragments, value, result = B, "tensor<256x128xf16>", "tensor<128x128xf32>"
    given = f'%p, %v, %e {{input_precision = "ieee"}} : {fragments}, {value}, {result}'
    second = (
        f"%p = nv_tileaa.fp_to_fp %d00 : {C} to {fragments}\n"
        f"%v = nv_tileaa.splat %h16 : f16 -> {value}\n"
        f"%e = nv_tileaa.splat %s : f32 -> {result}\n"
        f"%f = nv_tileaa.dot {given}\n"
    )
    assert atoms(loop(tiles(0) + dot(0, 0) + second)) == BOTH
    other = second.replace("fp_to_fp %d00", "fp_to_fp %c")
    assert atoms(loop(tiles(0) + dot(0, 0) + other)) == [Atom.WGMMA, Atom.MMA_SYNC]


def attention(values: int) -> str:
    """P of 128 x 128 is computed from a dot of Q from before the loop with keys of 256 elements."""
    q, k, s = "tensor<128x256xf16>", "tensor<256x128xf16>", "tensor<128x128xf32>"
    v, o = f"tensor<128x{values}xf16>", f"tensor<128x{values}xf32>"
    inside = (
        f"%k = nv_tileaa.splat %h16 : f16 -> {k}\n%z = nv_tileaa.splat %s : f32 -> {s}\n"
        f'%t = nv_tileaa.dot %q, %k, %z {{input_precision = "ieee"}} : {q}, {k}, {s}\n'
        f"%p = nv_tileaa.fp_to_fp %t : {s} to tensor<128x128xf16>\n"
        f"%v = nv_tileaa.splat %h16 : f16 -> {v}\n%o = nv_tileaa.splat %s : f32 -> {o}\n"
        f'%u = nv_tileaa.dot %p, %v, %o {{input_precision = "ieee"}} '
        f": tensor<128x128xf16>, {v}, {o}\n"
    )
    return f"%q = nv_tileaa.splat %h16 : f16 -> {q}\n" + loop(inside)


def test_less_memory_is_kept_where_fragments_would_be_spilled() -> None:
    """Q, K and V of 64 KiB fit beside 32 KiB, but not beside 48; a warp would read all of V."""
    three = 3 * 128 * 256 * 2
    assert SM_90.static_shared - SCRATCH_RESERVE < three <= SM_90.static_shared - MOST_SCRATCH
    assert atoms(attention(256)) == BOTH


def test_loops_that_follow_each_other_share_their_memory() -> None:
    """As in attention with a loop over all keys that are seen, and one over the others."""
    assert atoms(loop(tiles(0) + dot(0, 0)) + loop(tiles(1) + dot(1, 1))) == BOTH
    assert atoms(loop(tiles(0) + dot(0, 0)) + tiles(1) + dot(1, 1)) == BOTH
    assert atoms(tiles(0) + dot(0, 0) + loop(tiles(1) + dot(1, 1))) == BOTH


def test_a_loop_around_others_holds_its_tiles_no_longer_than_they_are_used() -> None:
    """As in persistent attention: K before a rotated loop, K and V in it, and V after it."""
    first, second, inner = tiles(0) + dot(0, 0), tiles(1) + dot(1, 1), loop(tiles(2) + dot(2, 2))
    assert atoms(loop(first + inner)) == BOTH
    assert atoms(loop(first + inner + second)) == [*BOTH, Atom.WGMMA]
    branch = f"scf.if %h {{\n{inner} scf.yield\n}}\n"
    assert atoms(loop(first + branch + second)) == [*BOTH, Atom.WGMMA]
    # Q is stored as long as the loop over keys runs.
    assert atoms(loop(tiles(0) + loop(tiles(2) + dot(2, 2) + dot(0, 0)))) == [
        Atom.WGMMA,
        Atom.MMA_SYNC,
    ]


def test_tiles_from_before_a_loop_are_stored_until_their_last_dot() -> None:
    before = tiles(0) + tiles(1)
    first = [Atom.WGMMA, Atom.MMA_SYNC]
    assert atoms(before + loop(dot(0, 0)) + loop(dot(1, 1))) == first
    assert atoms(before + loop(dot(0, 0)) + dot(1, 1)) == first
    # The inner loop reads its operands again in the next iteration of the outer one.
    assert atoms(tiles(0) + loop(loop(dot(0, 0)) + tiles(1) + dot(1, 1))) == first
    # The third dot reads the operands of the first one.
    last = dot(0, 0).replace("%d", "%e")
    assert atoms(tiles(0) + dot(0, 0) + tiles(1) + dot(1, 1) + last) == [*BOTH, Atom.MMA_SYNC]
    assert atoms(tiles(0) + dot(0, 0) + loop(tiles(1) + dot(1, 1))) == BOTH


def test_dots_of_a_block_that_follow_each_other_share_their_memory() -> None:
    assert atoms(tiles(0) + dot(0, 0) + tiles(1) + dot(1, 1)) == BOTH
    assert atoms(tiles(0) + tiles(1) + dot(0, 0) + dot(1, 1)) == [Atom.WGMMA, Atom.MMA_SYNC]


def test_branches_of_a_loop_are_part_of_it() -> None:
    branch = f"scf.if %h {{\n{tiles(1)}{dot(1, 1)} scf.yield\n}}\n"
    assert atoms(loop(tiles(0) + dot(0, 0) + branch)) == [Atom.WGMMA, Atom.MMA_SYNC]
    assert atoms(tiles(0) + dot(0, 0) + branch) == BOTH
