"""Cuts of programs: what is cut together, what is rematerialized, and reasons why tiles are not."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from integrity import check_integrity
from tileaa_programs import module

import tilewright
from tilewright.dialects.nv_tileaa.view import TileStoreOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.transforms.tile.closure import CannotCut, Cut, Scope
from tilewright.transforms.tile.loop import build_loop
from tilewright.transforms.tile.region import PartRegion

NAMES: Final = {
    "!T": "tensor<16x16xf32>",
    "!V": "!aa.tiled_view<tile = [16, 16], source = !M>",
    "!M": "!aa.memref<16x16xf32, strides = [16, 1]>",
    "!R": "tensor<16xf32>",
}
LOAD: Final = "%x, %t0 = aa.tiled_load weak %pv[%c0, %c0] : i32, i32 of !V -> !T\n"
SUM: Final = """{
    ^bb0(%a: f32, %b: f32):
      %c = aa.addf %a, %b : f32
      aa.yield %c : f32
    }"""


def program(body: str) -> Operation:
    """A kernel on tensors of 16 by 16 floats at `%p` and `%q`, with a view of each."""
    text = f"""module {{ aa.func @f(%p: !aa.ptr<f32>, %q: !aa.ptr<f32>, %i: i32, %z: f32)
        attributes {{kernel_spec = #aa.kernel_spec<>}} {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %pm = aa.make_memref %p : !aa.ptr<f32> -> !M
      %qm = aa.make_memref %q : !aa.ptr<f32> -> !M
      %pv = aa.block_tile %pm : !V
      %qv = aa.block_tile %qm : !V
      {body}
      aa.return
    }} }}"""
    for name, type in NAMES.items():
        text = text.replace(name, type)
    return module(text)


def store(value: str, token: str = "", view: str = "%qv") -> str:
    ordered = f" token = {token}" if token else ""
    return f"%t9 = aa.tiled_store weak {value}, {view}[%c0, %c0]{ordered} : !T, i32, i32 of !V\n"


def region(root: Operation, dim: int, parts: int = 4) -> PartRegion:
    """What is cut with the tile of the last store, in a loop over parts."""
    last = [op for op in root.walk() if isinstance(op, TileStoreOp)][-1]
    assert last.parent is not None
    cut = Cut(Scope.of_block(last.parent), parts, lambda *_: True)
    return PartRegion(last.parent, cut.with_op(last, cut.way_along(last, last.tile, dim)))


def run(root: Operation) -> tuple[Any, Any]:
    """Verify and run the kernel; return the tensors before and after."""
    verify(root)
    check_integrity(root)
    before = np.random.default_rng(3).integers(-9, 9, (16, 16)).astype(np.float32)
    p, q = before.copy(), np.zeros((16, 16), np.float32)
    tilewright.execute(root, "f", 1, [p, q, 2, 0.5], check=True)
    return before, q


NO_PART: Final = ("range", 1)
"""The columns of a range that was reshaped are no part of it."""
REMADE: Final = {
    "constant": ("%y = arith.constant dense<1.5> : !T\n", lambda i, j: 1.5 + 0 * i),
    "splat": ("%y = aa.splat %z : f32 -> !T\n", lambda i, j: 0.5 + 0 * i),
    "range": (
        "%n = aa.make_range {start = 3 : i64} : tensor<256xi32>\n"
        "%m = aa.view %n : tensor<256xi32> -> tensor<16x16xi32>\n"
        "%y = arith.sitofp %m : tensor<16x16xi32> to !T\n",
        lambda i, j: 3.0 + 16 * i + j,
    ),
    "rearranged": (
        "%n = aa.make_range : tensor<16xi32>\n"
        "%e = aa.expand_dims %n {axis = 1 : i64} : tensor<16xi32> -> tensor<16x1xi32>\n"
        "%b = aa.broadcast %e : tensor<16x1xi32> -> tensor<16x16xi32>\n"
        "%m = aa.permute %b [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>\n"
        "%y = arith.sitofp %m : tensor<16x16xi32> to !T\n",
        lambda i, j: 1.0 * j + 0 * i,
    ),
}


@pytest.mark.parametrize(
    ("name", "dim"), [(name, dim) for name in REMADE for dim in (0, 1) if (name, dim) != NO_PART]
)
def test_tiles_of_scalars_are_rematerialized(name: str, dim: int) -> None:
    text, expected = REMADE[name]
    root = program(text + store("%y"))
    build_loop(region(root, dim))
    i, j = np.indices((16, 16))
    assert np.array_equal(run(root)[1], expected(i, j).astype(np.float32))


def test_effects_are_cut_with_their_tiles() -> None:
    root = program(
        f"{LOAD}%b = aa.optimization_barrier %x : !T\n"
        "%ok = arith.cmpf oeq, %b, %b : !T\n"
        'aa.assert %ok, "unordered" : tensor<16x16xi1>\n' + store("%b")
    )
    build_loop(region(root, 1))
    assert len([op for op in root.walk() if isinstance(op, ForOp)]) == 1
    before, after = run(root)
    assert np.array_equal(before, after)


def test_a_splat_is_scattered_before_the_same_elements_are_gathered() -> None:
    """Part by part is correct, although no part of the splat is a part of another tile."""
    sparse = "!aa.tiled_view<tile = [16, 16], source = !M, sparse = 0>"
    numbers = "!aa.tiled_view<tile = [16], source = !aa.memref<16xi32, strides = [1]>>"
    root = program(
        "%ip = aa.bitcast %q : !aa.ptr<f32> to !aa.ptr<i32>\n"
        "%im = aa.make_memref %ip : !aa.ptr<i32> -> !aa.memref<16xi32, strides = [1]>\n"
        f"%iv = aa.block_tile %im : {numbers}\n"
        f"%g = aa.block_tile %pm : {sparse}\n"
        f"%n, %t0 = aa.tiled_load weak %iv[%c0] : i32 of {numbers} -> tensor<16xi32>\n"
        "%s = aa.splat %z : f32 -> !T\n"
        f"%t1 = aa.scatter_store weak %s, %g[%n, %c0] : !T, tensor<16xi32>, i32 of {sparse}\n"
        "%x, %t2 = aa.gather_load weak %g[%n, %c0] token = %t1 "
        f": tensor<16xi32>, i32 of {sparse} -> !T\n" + store("%x")
    )
    build_loop(region(root, 0))
    verify(root)
    check_integrity(root)
    (loop_over_parts,) = (op for op in root.walk() if isinstance(op, ForOp))
    names = [op.name for op in loop_over_parts.walk()]
    assert names.index("nv_tileaa.scatter_store") < names.index("nv_tileaa.gather_load")


def test_a_body_inside_of_a_loop_uses_a_value_of_the_loop() -> None:
    root = program(
        "%w = arith.constant dense<0.0> : !R\n"
        "%v = scf.for %k = %c0 to %i step %c1 iter_args(%l = %w) -> (!R) : i32 {\n"
        "%y, %t1 = aa.tiled_load weak %pv[%k, %c0] : i32, i32 of !V -> !T\n"
        "%f = arith.sitofp %k : i32 to f32\n"
        "%r = aa.reduce %y {axis = 1 : i32} : !T -> !R {\n"
        "^bb0(%a: f32, %b: f32):\n"
        "%c = aa.addf %a, %b : f32\n"
        "%d = aa.mulf %c, %f : f32\n"
        "aa.yield %d : f32\n"
        "}\n"
        "%s = aa.addf %l, %r : !R\n"
        "scf.yield %s : !R\n"
        "}\n"
        "%e = aa.expand_dims %v {axis = 1 : i64} : !R -> tensor<16x1xf32>\n"
        "%u = aa.broadcast %e : tensor<16x1xf32> -> !T\n" + store("%u")
    )
    build_loop(region(root, 0))
    verify(root)
    check_integrity(root)


def test_assumptions_on_groups_of_elements_are_dropped() -> None:
    root = program(
        f"{LOAD}%n = arith.fptosi %x : !T to tensor<16x16xi32>\n"
        "%s = aa.assume #aa.same_elements<[16, 1]>, %n : tensor<16x16xi32>\n"
        "%y = arith.sitofp %s : tensor<16x16xi32> to !T\n" + store("%y")
    )
    build_loop(region(root, 0))
    verify(root)
    assert not [op for op in root.walk() if op.name == "nv_tileaa.assume"]


def centred(tile: str) -> str:
    """Subtract the sum of each column from a tile."""
    return (
        f"%r = aa.reduce {tile} {{axis = 0 : i32}} : !T -> !R {SUM}\n"
        "%e = aa.expand_dims %r {axis = 0 : i64} : !R -> tensor<1x16xf32>\n"
        "%u = aa.broadcast %e : tensor<1x16xf32> -> !T\n"
        f"%y = aa.subf {tile}, %u : !T\n"
    )


def loop(body: str, carried: str = "%l = %x", types: str = "!T") -> str:
    return (
        f"{LOAD}%v = scf.for %k = %c0 to %i step %c1 iter_args({carried}) -> ({types}) : i32 {{\n"
        f"{body}}}\n" + store("%v")
    )


REASONS: Final = {
    "two ways": (
        f"{LOAD}%y = aa.permute %x [1, 0] : !T -> !T\n%s = aa.addf %x, %y : !T\n" + store("%s"),
        "its tiles would be split in two ways",
    ),
    "another block": (
        f"{LOAD}%c = arith.cmpi eq, %i, %c0 : i32\nscf.if %c {{ {store('%x')} }}",
        "it is outside of what is cut",
    ),
    "scan": (
        f"{LOAD}%y = aa.scan %x {{axis = 0 : i32, inclusive = true}} : !T -> !T {SUM}\n"
        + store("%y"),
        "a scan along the dimension needs all of it",
    ),
    "constant": (
        f"%y = arith.constant dense<{[[float(16 * i + j) for j in range(16)] for i in range(16)]}>"
        " : !T\n" + store("%y"),
        "the elements of a constant differ",
    ),
    "extract": (
        f"{LOAD}%e = aa.extract %x[%c0, %c0] : !T -> f32\n" + store("%x"),
        "an element is extracted by its index in the whole tile",
    ),
    "print": (
        f'{LOAD}%t5 = aa.print "%f", %x : !T\n' + store("%x"),
        "a tile is printed at once",
    ),
    "generate": (
        "%y = aa.generate : !T {\n^bb0(%a: i32, %b: i32):\naa.yield %z : f32\n}\n" + store("%y"),
        "each element is computed from its index in the whole tile",
    ),
    "volatile": (
        "%x, %t0 = aa.tiled_load weak %pv[%c0, %c0] {volatile} : i32, i32 of !V -> !T\n"
        + store("%x"),
        "it is not weak, or its view is not of tiles of a tensor",
    ),
    "several values": (
        f"{LOAD}%b:2 = aa.optimization_barrier %x, %x : !T, !T\n" + store("%b#0"),
        "several tiles pass the barrier together",
    ),
    "finished reduction": (
        f"{LOAD}{centred('%x')}" + store("%y"),
        "parts depend on a reduction over all of them",
    ),
    "carried scalar": (
        loop(
            "%y = aa.addf %l, %l : !T\nscf.yield %y, %s : !T, f32\n", "%l = %x, %s = %z", "!T, f32"
        )
        .replace("%v = scf", "%v:2 = scf")
        .replace("%v,", "%v#0,"),
        "a loop carries a value that is not cut",
    ),
    "store in a loop": (
        loop(store("%l").replace("%t9", "%t8") + "scf.yield %l : !T\n"),
        "it would run once for each part",
    ),
    "reduction in a loop": (
        loop(centred("%l") + "scf.yield %y : !T\n"),
        "parts of a reduction are not combined around a loop",
    ),
    "effect on all parts": (
        f"{LOAD}%y = aa.addf %x, %x : !T\n"
        + store("%y", view="%pv", token="%t0").replace("%t9", "%t1")
        + "%t5 = aa.fence_alias token = %t1 : !aa.mem_token\n"
        + store("%y", token="%t5"),
        "parts depend on what follows all of them",
    ),
    "other elements": (
        f"{LOAD}%t1 = aa.tiled_store weak %x, %pv[%c1, %c0] : !T, i32, i32 of !V\n"
        "%y, %t2 = aa.tiled_load weak %pv[%c0, %c0] token = %t1 : i32, i32 of !V -> !T\n"
        "%s = aa.addf %x, %y : !T\n" + store("%s"),
        "it is ordered after an access to other parts",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_tiles_stay_whole_for_a_reason(name: str) -> None:
    body, expected = REASONS[name]
    with pytest.raises(CannotCut) as error:
        region(program(body), dim=0)
    assert error.value.reason == expected
