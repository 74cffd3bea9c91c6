"""Which tiles CTAs of a cluster multicast, what is reported, and what cannot be."""

from __future__ import annotations

from typing import Final

import pytest
from cluster_programs import ClusterGemm
from scheduled_loops import lowered_as_far_as, scheduled

import tilewright
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, MULTICAST
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32
from tilewright.support.diagnostics import Sink
from tilewright.text.printer import print_op

RANK: Final = "the iterations of a pipelined loop depend on the rank of the CTA"


def masks(module: Operation) -> list[int]:
    """The masks of the pipelined loads of a module; 0 for those that are not multicast."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp) and ENGINE in op.attributes]
    chosen = [load.attributes.get(MULTICAST) for load in loads]
    return [mask.value if isinstance(mask, IntegerAttr) else 0 for mask in chosen]


@pytest.mark.parametrize(("gemm", "expected"), [
    (ClusterGemm(2), [0, 1]),
    (ClusterGemm(2, 2), [2, 1]),
    (ClusterGemm(16), [0, 3]),  # 4 KiB of B, of which a part has 1 KiB or more
    (ClusterGemm(16, tile=(64, 128, 64)), [0, 15]),
    # B passes through registers; TMA writes whole rows of it.
    (ClusterGemm(2, element="f8E4M3FN", tile=(64, 64, 64)), [0, 1]),
])  # fmt: skip
def test_ctas_multicast_what_they_share(gemm: ClusterGemm, expected: list[int]) -> None:
    assert masks(scheduled(gemm.persistent(), schedule="agents=1")) == expected


@pytest.mark.parametrize("schedule", ["agents=0", "agents=1,multicast=0"])
def test_it_can_be_forbidden(schedule: str) -> None:
    assert masks(scheduled(ClusterGemm().persistent(), schedule=schedule)) == [0, 0]


def rank_dependent(gemm: ClusterGemm, what: str) -> str:
    """A kernel whose control flow depends on the rank."""
    loop = gemm.k_loop()
    match what:
        case "bound":
            body = gemm.k_loop(steps="%row_of_cta") + gemm.store()
        case "condition":
            body = f"""
      %some = arith.cmpi eq, %row_of_cta, %zero : i32
      scf.if %some {{
        {loop}
        {gemm.store()}
      }}"""
        case "carried":
            return gemm.program(f"""
    %end = scf.for %i = %zero to %tiles step %one iter_args(%count = %steps) -> (i32) : i32 {{
      %row = arith.addi %i, %row_of_cta : i32
      %column = arith.addi %column_of_cta, %zero : i32
      {gemm.k_loop(steps="%count")}
      {gemm.store()}
      %next = arith.addi %count, %rank : i32
      scf.yield %next : i32
    }}""")
        case _:
            return gemm.persistent().replace("%i = %zero to", "%i = %rank to")
    return gemm.persistent(body)


@pytest.mark.parametrize("what", ["bound", "condition", "carried", "outer"])
def test_all_ctas_fill_the_same_stages(what: str) -> None:
    text = rank_dependent(ClusterGemm(), what)
    assert masks(scheduled(text, schedule="agents=1")) == [0, 0]
    assert remarks(text, "{agents=1}") == [("missed", f"Tile not multicast: {RANK}")]


def remarks(program: str, options: str) -> list[tuple[str, str]]:
    """The remarks of `schedule-loops` on tiles that CTAs share."""
    module = lowered_as_far_as("move-conversions", program)
    sink = Sink(remarks=True)
    parse_pipeline(f"record-requests{options},schedule-loops").run(module, sink)
    return [(each.kind, each.message) for each in sink.remarks if each.name == "RemarkMulticast"]


@pytest.mark.parametrize(("options", "expected"), [
    ("{agents=1}", ("passed", "Tile multicast to 2 CTAs")),
    ("{agents=0}", ("missed", "Tile not multicast: no producer copies it by TMA")),
    (
        "{agents=1 multicast=0}",
        ("missed", "Tile not multicast: it has too few boxes, or the schedule forbids it"),
    ),
])  # fmt: skip
def test_shared_tiles_are_reported(options: str, expected: tuple[str, str]) -> None:
    assert remarks(ClusterGemm().persistent(), options) == [expected]


def test_loops_that_depend_on_the_rank_are_not_split_with_multicast() -> None:
    """A hand-written program may ask for it; it stays as it is."""
    module = scheduled(rank_dependent(ClusterGemm(), "bound"), schedule="agents=1")
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    loads[-1].attributes[MULTICAST] = IntegerAttr(1, I32)
    before = print_op(module)
    with pytest.raises(tilewright.UserError, match=f"expected stages that CTAs can share: {RANK}"):
        parse_pipeline("specialize-warps").run(module)
    assert print_op(module) == before
