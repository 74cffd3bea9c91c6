"""The dependence graph of a block: an edge of each kind, and what follows from them."""

from __future__ import annotations

from dialect_text import read

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.operation import Operation
from tilewright.transforms.nv_tileas.schedule_operations import DependenceGraph

LINE = "#nv_tileas.layout<[64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>"
TILE = f"tensor<64xf32, {LINE}>"
PLACED = "#nv_tileas.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>"
VIEW = "!nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<?xf32, strides = [1]>>"

LANES = "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>"
B_LANES = "lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>"
A = "tensor<16x16xf16, #nv_tileas.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], "
A += f"{LANES}>"
B = f"tensor<16x8xf16, #nv_tileas.layout<[16, 8], register = [[1, 0], [8, 0]], {B_LANES}>"
C = f"tensor<16x8xf32, #nv_tileas.layout<[16, 8], register = [[0, 1], [8, 0]], {LANES}>"
FRAGMENTS = [("a", A), ("b", B), ("d", C)]
ATOM = "{atom = #nv_tileas.atom<mma_sync>}"


def graph_of(*lines: str) -> DependenceGraph:
    """The graph of a kernel with one warp."""
    arguments = f"%v: {VIEW}, %w: {VIEW}, %i: i32, %t: !nv_tileaa.mem_token, %x: {TILE}, %c: i1"
    module = read(
        f"""gpu.module @m {{
          nv_tileaa.func @f({arguments}) attributes {{
              kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>}} {{
            {" ".join(lines)}
            nv_tileaa.return
          }}
        }}"""
    )
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return DependenceGraph(function.body.block)


def edges(graph: DependenceGraph) -> list[tuple[int, int]]:
    """The edges, as the operations before know them; those after know the same ones."""
    known = sorted((a, b) for a, after in enumerate(graph.successors) for b in after)
    assert known == sorted((a, b) for b, before in enumerate(graph.predecessors) for a in before)
    return known


def load(name: str, token: str, view: str = "%v", kind: str = "weak") -> str:
    access = f"{kind} {view}[%i] token = {token}"
    return f"{name}:2 = nv_tileas.tiled_load {access} : i32 of {VIEW} -> {TILE}"


def store(name: str, tile: str, token: str, view: str = "%v") -> str:
    access = f"weak {tile}, {view}[%i] token = {token}"
    return f"{name} = nv_tileas.tiled_store {access} : {TILE}, i32 of {VIEW}"


def neg(name: str, tile: str) -> str:
    return f"{name} = nv_tileaa.negf {tile} : {TILE}"


def test_values_lead_from_definitions_to_uses() -> None:
    assert edges(graph_of(neg("%a", "%x"), neg("%b", "%x"), neg("%c0", "%a"))) == [(0, 2)]


def test_values_lead_to_uses_in_regions() -> None:
    branch = f"%r = scf.if %c -> ({TILE}) {{ {neg('%n', '%a')} scf.yield %n : {TILE} }}"
    branch += f" else {{ scf.yield %x : {TILE} }}"
    assert edges(graph_of(neg("%a", "%x"), neg("%b", "%x"), branch)) == [(0, 2)]


def test_tokens_order_loads_with_stores() -> None:
    # The second load is ordered after the store, the first one before it; the third is not.
    lines = [
        load("%a", "%t"),
        store("%s", "%x", "%a#1"),
        load("%b", "%s"),
        load("%d", "%t"),
    ]
    assert edges(graph_of(*lines)) == [(0, 1), (1, 2), (1, 4)]


def test_effects_keep_their_order() -> None:
    # Both stores and the return; no token orders them.
    lines = [store("%s", "%x", "%t"), neg("%a", "%x"), store("%u", "%x", "%t", "%w")]
    assert edges(graph_of(*lines)) == [(0, 2), (2, 3)]


def test_loads_that_order_others_keep_their_order() -> None:
    kind = "acquire gpu"
    lines = [store("%s", "%x", "%t"), load("%a", "%t", kind=kind), load("%b", "%t")]
    assert edges(graph_of(*lines)) == [(0, 1), (1, 3)]


def test_barriers_keep_their_order_with_effects() -> None:
    lines = [store("%s", "%x", "%t"), "nv_tileas.barrier", load("%a", "%t"), neg("%b", "%x")]
    assert edges(graph_of(*lines)) == [(0, 1), (1, 4)]


def test_allocations_of_shared_memory_keep_their_order() -> None:
    stored = f"%p = nv_tileas.convert_layout %x : {TILE} -> tensor<64xf32, {PLACED}>"
    assert edges(graph_of(store("%s", "%x", "%t"), stored, neg("%a", "%x"))) == [(0, 1), (1, 3)]


def test_dots_keep_their_order() -> None:
    # Computing a dot again, or elsewhere, would be correct: it has no effect.
    dots = [f"%{name} = nv_tileas.dot %a, %b, %d {ATOM} : {A}, {B}, {C}" for name in "ef"]
    tiles = [f"%{name} = arith.constant dense<0.0> : {type}" for name, type in FRAGMENTS]
    assert {(3, 4), (4, 5)} <= set(edges(graph_of(*tiles, *dots)))


def test_what_a_load_needs() -> None:
    lines = [
        "%j = arith.addi %i, %i : i32",
        neg("%a", "%x"),
        "%k = arith.addi %j, %i : i32",
        load("%b", "%t").replace("[%i]", "[%k]"),
    ]
    graph = graph_of(*lines)
    assert graph.needed(3, 0) == {0, 2}
    assert graph.needed(3, 1) == {2}


def test_operations_are_free_until_something_fixed_or_a_load_needs_them() -> None:
    lines = [
        neg("%a", "%x"),  # the store needs it
        neg("%b", "%x"),  # only %d needs it
        "%j = arith.addi %i, %i : i32",  # the load needs it
        store("%s", "%a", "%t"),
        load("%l", "%t").replace("[%i]", "[%j]"),
        neg("%d", "%b"),
    ]
    graph = graph_of(*lines)
    assert graph.free_until(6) == {1, 5}
    # Until before the store, nothing needs them.
    assert graph.free_until(3) == {0, 1, 2}


def test_operations_are_numbered_in_program_order() -> None:
    graph = graph_of(neg("%a", "%x"), neg("%b", "%a"))
    block = graph.ops[0].parent
    assert block is not None
    ops: list[Operation] = list(block)
    assert graph.ops == ops
