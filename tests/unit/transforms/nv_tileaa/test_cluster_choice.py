"""Splits over CTAs: along what tiles are split, kernels that stay whole, and why."""

from __future__ import annotations

from typing import Final

import pytest
from integrity import check_integrity
from repeats import keep_first
from run_random import CANONICAL, changed, outcome
from scheduled_loops import lowered_as_far_as, matmul
from tileaa_programs import module

from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.attribute_names import CLUSTER_SHARED
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr, MemSemantic
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink
from tilewright.support.remarks import Remark
from tilewright.testing.generate.kernel import Options
from tilewright.testing.generate.program import generate
from tilewright.text.printer import print_op

POINTERS: Final = "tensor<64x!aa.ptr<f32>>"
TOKEN: Final = "!aa.mem_token"
HEAD: Final = f"""
  %lane = aa.make_range : tensor<64xi32>
  %ps = aa.splat %p : !aa.ptr<f32> -> {POINTERS}
  %pp = aa.addptr %ps, %lane : {POINTERS}, tensor<64xi32>
  %qs = aa.splat %q : !aa.ptr<f32> -> {POINTERS}
  %qp = aa.addptr %qs, %lane : {POINTERS}, tensor<64xi32>
"""
LOAD: Final = f"%x, %t0 = aa.load weak %pp : {POINTERS} -> tensor<64xf32>"
SUM: Final = """{
  ^bb0(%a: f32, %b: f32):
    %c = aa.addf %a, %b : f32
    aa.yield %c : f32
  }"""


def store(value: str, pointers: str = "%qp", token: str = "") -> str:
    ordered = f" token = {token}" if token else ""
    return f"%t9 = aa.store weak {pointers}, {value}{ordered} : {POINTERS}, tensor<64xf32>"


def program(body: str, ctas: int = 2, capability: int = 90) -> Operation:
    """A kernel on 64 floats at `%p` and at `%q`, with a hint."""
    target = f"aa.target_spec = #aa.target_spec<compute_capability = {capability}>"
    arguments = "%p: !aa.ptr<f32>, %q: !aa.ptr<f32>, %i: i32, %z: f32"
    asked = f"aa.asked = #aa.asked<num_ctas = <{ctas}, entry>>"
    spec = f"kernel_spec = #aa.kernel_spec<>, {asked}"
    return module(
        f"gpu.module @m attributes {{{target}}} {{ aa.func @f({arguments}) attributes {{{spec}}} {{"
        f"{HEAD}\n{body}\naa.return }} }}"
    )


def distributed(root: Operation) -> tuple[FuncOp, list[Remark]]:
    """Run the pass, and verify the program afterwards."""
    sink = Sink(remarks=True)
    parse_pipeline("plan-splits{forms=cta},tile").run(root, sink)
    verify(root)
    check_integrity(root)
    (function,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return function, sink.remarks


def refusal(body: str, ctas: int = 2, capability: int = 90) -> str:
    """The reason for which a kernel stays as it was, which it has, too."""
    root = program(body, ctas, capability)
    before = print_op(root)
    function, remarks = distributed(root)
    assert function.refused is not None
    [(key, reason)] = function.refused.refusals
    function.refused = None
    assert print_op(root) == before
    assert function.cluster_size == 1
    (remark,) = remarks
    assert (remark.kind, remark.name) == ("missed", "RemarkCluster")
    start = f"num_ctas {ctas} is not used: "
    assert (key, f"{start}{reason}") == ("num_ctas", remark.message)
    return reason


@pytest.mark.parametrize(
    ("tile", "ctas", "expected", "half"),
    [
        ((128, 128, 64), 2, "M", (64, 128)),  # 64 + 128 either way
        ((128, 256, 64), 2, "N", (128, 128)),
        ((256, 128, 64), 2, "M", (128, 128)),
        ((64, 128, 64), 2, "N", (64, 64)),  # a warpgroup has 64 rows
        ((64, 8, 64), 2, "M", (32, 8)),  # and an instruction 8 columns at the least
        ((128, 128, 64), 4, "M, then N", (64, 64)),
        ((256, 256, 64), 8, "M, then N, then M", (64, 128)),
    ],
)
def test_dots_are_split_so_that_least_is_loaded(
    tile: tuple[int, int, int], ctas: int, expected: str, half: tuple[int, int]
) -> None:
    text = matmul(*tile, occupancy=1).replace("occupancy = 1", f"num_cta_in_cga = {ctas}")
    function, (remark,) = distributed(lowered_as_far_as("expand-dots", text))
    assert function.cluster_size == ctas
    assert remark.kind == "passed"
    assert remark.message == f"{ctas} CTAs of a cluster share tiles, split along {expected}"
    (dot,) = (op for op in function.walk() if isinstance(op, DotOp))
    assert dot.result.type.shape == half  # pyrefly: ignore[missing-attribute]


def test_kernels_without_the_hint_stay() -> None:
    root = lowered_as_far_as("expand-dots", matmul(128, 128, 64, occupancy=1))
    before = print_op(root)
    assert distributed(root)[1] == []
    assert print_op(root) == before


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            f"{LOAD}\n%s = aa.reduce %x {{axis = 0 : i32}} : tensor<64xf32> -> f32 {SUM}\n"
            f"%y = aa.splat %s : f32 -> tensor<64xf32>\n%w = aa.addf %x, %y : tensor<64xf32>\n"
            f"{store('%w')}",
            "a reduction along the dimension needs all of it",
        ),
        (
            f"{LOAD}\n%y = aa.scan %x {{axis = 0 : i32, inclusive = true}} : "
            f"tensor<64xf32> -> tensor<64xf32> {SUM}\n{store('%y')}",
            "a scan along the dimension needs all of it",
        ),
        (
            "%y = arith.constant dense<[" + ", ".join(f"{n}.0" for n in range(64)) + "]> "
            f": tensor<64xf32>\n{store('%y')}",
            "the elements of a constant differ",
        ),
        (
            f"{LOAD}\n%c0 = arith.constant 3 : i32\n%e = aa.extract %x[%c0] : tensor<64xf32> -> f32"
            f"\n%y = aa.splat %e : f32 -> tensor<64xf32>\n%w = aa.addf %x, %y : tensor<64xf32>\n"
            f"{store('%w')}",
            "an element is extracted by its index in the whole tile",
        ),
        (
            f"%y = aa.splat %z : f32 -> tensor<64xf32>\n%old, %t = aa.atomic_rmw relaxed gpu addf "
            f"%pp, %y : {POINTERS}, tensor<64xf32>\n{store('%old')}",
            "the result of an atomic would differ between CTAs",
        ),
        (
            f"%y = aa.splat %z : f32 -> tensor<64xf32>\n%old, %t = aa.atomic_rmw acq_rel gpu addf "
            f"%pp, %y : {POINTERS}, tensor<64xf32>",
            "an atomic orders accesses",
        ),
        (
            f"%x, %t0 = aa.load acquire gpu %pp : {POINTERS} -> tensor<64xf32>\n{store('%x')}",
            "an access is not weak",
        ),
        (
            "%m = aa.alloca 4 align 16 : !aa.ptr<f32>\n"
            f"%y = aa.splat %z : f32 -> tensor<64xf32>\n{store('%y')}",
            "'nv_tileaa.alloca' would run in every CTA",
        ),
        (
            "%t = aa.store weak %p, %z : !aa.ptr<f32>, f32",
            "it writes no tile that can be split",
        ),
        (
            f'{LOAD}\n%t8 = aa.print "%f", %x : tensor<64xf32>\n{store("%x")}',
            "a tile is printed at once",
        ),
    ],
)
def test_kernels_stay_whole_for_a_reason(body: str, reason: str) -> None:
    assert refusal(body) == reason


def test_no_cluster_without_support() -> None:
    assert refusal(f"{LOAD}\n{store('%x')}", capability=80) == "the GPU has no clusters"


@pytest.mark.parametrize(("ctas", "met"), [(3, 2), (6, 4), (16, 8)])
def test_the_largest_power_of_two_that_can_be_launched(ctas: int, met: int) -> None:
    function, (passed, missed) = distributed(program(f"{LOAD}\n{store('%x')}", ctas))
    assert function.cluster_size == met
    assert passed.message.startswith(
        f"{met} CTAs of a cluster share tiles, split along dimension 0"
    )
    reason = "not a power of two up to 8"
    assert missed.message == f"num_ctas {ctas} is met by {met} CTAs only: {reason}"


ORDERED: Final = "it is ordered after an access of another CTA"
REVERSED: Final = f"""
  %last = arith.constant dense<63> : tensor<64xi32>
  %other = aa.subi %last, %lane : tensor<64xi32>
  %op = aa.addptr %ps, %other : {POINTERS}, tensor<64xi32>
"""


@pytest.mark.parametrize(
    "body",
    [
        # A store of other elements after a load, and a load of them after a store.
        f"{REVERSED}\n{LOAD}\n{store('%x', '%op', '%t0')}",
        f"{REVERSED}\n%y = aa.splat %z : f32 -> tensor<64xf32>\n{store('%y', '%pp')}\n"
        f"%x, %t = aa.load weak %op token = %t9 : {POINTERS} -> tensor<64xf32>\n"
        + store("%x").replace("%t9", "%t7"),
        # The first CTA stores a scalar, which all CTAs read.
        f"%t = aa.store weak %p, %z : !aa.ptr<f32>, f32\n"
        f"%s, %t1 = aa.load weak %p token = %t : !aa.ptr<f32> -> f32\n"
        f"%y = aa.splat %s : f32 -> tensor<64xf32>\n{store('%y')}",
        # The tokens of all iterations of a loop, whose pointers differ.
        f"""%c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %first = aa.create_mem_token : {TOKEN}
        %end = scf.for %k = %c0 to %i step %c1 iter_args(%t = %first) -> ({TOKEN}) : i32 {{
          %ks = aa.splat %k : i32 -> tensor<64xi32>
          %kp = aa.addptr %pp, %ks : {POINTERS}, tensor<64xi32>
          %x, %t0 = aa.load weak %kp token = %t : {POINTERS} -> tensor<64xf32>
          %t1 = aa.store weak %kp, %x token = %t0 : {POINTERS}, tensor<64xf32>
          scf.yield %t1 : {TOKEN}
        }}""",
    ],
)
def test_tokens_do_not_order_accesses_of_two_ctas(body: str) -> None:
    assert refusal(body) == ORDERED


MEMREF: Final = "!aa.memref<64x64xf32, strides = [64, 1]>"
TILE: Final = "tensor<16x64xf32>"
VIEW: Final = f"!aa.tiled_view<tile = [16, 64], source = {MEMREF}>"


@pytest.mark.parametrize(
    "body",
    [
        # In place: each CTA stores what it has loaded.
        f"{LOAD}\n{store('%x', '%pp', '%t0')}",
        # The first CTA makes both stores.
        f"%t = aa.store weak %p, %z : !aa.ptr<f32>, f32\n"
        f"%u = aa.store weak %p, %z token = %t : !aa.ptr<f32>, f32\n"
        f"%y = aa.splat %z : f32 -> tensor<64xf32>\n{store('%y')}",
        # Tiles of one view do not overlap, and each CTA has the same rows of all of them.
        f"""%m = aa.make_memref %p : !aa.ptr<f32> -> {MEMREF}
        %v = aa.block_tile %m : {VIEW}
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %first = aa.create_mem_token : {TOKEN}
        %end = scf.for %k = %c0 to %i step %c1 iter_args(%t = %first) -> ({TOKEN}) : i32 {{
          %x, %t0 = aa.tiled_load weak %v[%k, %c0] token = %t : i32, i32 of {VIEW} -> {TILE}
          %t1 = aa.tiled_store weak %x, %v[%c0, %c0] token = %t0 : {TILE}, i32, i32 of {VIEW}
          scf.yield %t1 : {TOKEN}
        }}""",
    ],
)
def test_accesses_of_one_cta_may_be_ordered(body: str) -> None:
    function, (remark,) = distributed(program(body))
    assert remark.kind == "passed"
    assert function.cluster_size == 2
    assert any(isinstance(op, GetCtaRankOp) for op in function.walk())


def test_loads_that_several_ctas_make_are_marked_at_nv_tileas() -> None:
    text = matmul(128, 128, 64, occupancy=1).replace("occupancy = 1", "num_cta_in_cga = 4")
    root = lowered_as_far_as("move-conversions", text)
    loads = [op for op in root.walk() if isinstance(op, TiledLoadOp)]
    # M is split by bit 0 of the rank, N by bit 1: A is the same for both values of bit 1.
    assert [op.attributes[CLUSTER_SHARED] for op in loads] == [
        IntegerAttr(2, I32),
        IntegerAttr(1, I32),
    ]


def weakened(root: Operation) -> None:
    """Make accesses weak and atomics relaxed, so that the CTAs of a cluster may share them."""
    for op in root.walk():
        if isinstance(op, LoadOp | StoreOp | TileLoadOp | TileStoreOp):
            op.semantic, op.scope, op.volatile = MemSemantic.WEAK, None, False
        elif isinstance(op, AtomicOp):
            op.semantic = MemSemantic.RELAXED


@pytest.mark.parametrize("seed", keep_first(range(40), 8))
def test_random_programs_keep_their_results(seed: int) -> None:
    program = generate(seed, Options(profile="sm_90"))
    root = changed(program.module(), CANONICAL)
    weakened(root)
    arrays, lines = outcome(program, root)
    for kernel in (op for op in root.walk() if isinstance(op, FuncOp) and op.is_kernel):
        kernel.attributes["kernel_spec"] = KernelSpecAttr(4)
    parse_pipeline("inline-calls,record-requests,plan-splits{forms=cta},tile").run(root)
    verify(root)
    actual, printed = outcome(program, root)
    assert not list(program.differences(actual, arrays))
    assert printed == lines
