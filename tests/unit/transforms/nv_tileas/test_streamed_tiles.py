"""Which tiles of pipelines are evicted from L2 first: those that are read once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import consecutive_programs
import pytest
from attention_programs import Attention
from consecutive_programs import A_VIEW, FIRST
from decode_programs import Decode
from scheduled_loops import copy_loop, lowered_as_far_as, matmul, scheduled
from specialized_programs import Gemm

from tilewright.dialects.nv_tileas.attribute_names import ENGINE, EVICT_FIRST
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink

FORCED: Final = "evict-first=1"
GEMM: Final = Path(__file__).parents[4] / "examples" / "gemm.mlir"
ONCE: Final = "Tile evicted from L2 first: no other block or iteration reads it"
BLOCKS: Final = "other blocks may read it"
ITERATIONS: Final = "other iterations may read it"


def evicted(module: Operation) -> list[bool]:
    """Of each load of a pipeline, whether its tile is evicted first."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp) and ENGINE in op.attributes]
    return [EVICT_FIRST in load.attributes for load in loads]


def reasons(program: str, options: str = "") -> list[str]:
    """The remarks of `schedule-loops` on tiles that are evicted first, and on others."""
    module = lowered_as_far_as("keep-tiles", program, schedule="rotate=0")
    sink = Sink(remarks=True)
    parse_pipeline(f"record-requests{{evict-first=1 {options}}},schedule-loops").run(module, sink)
    remarks = [each for each in sink.remarks if each.name == "RemarkEvictFirst"]
    kinds = {each.kind for each in remarks if each.message == ONCE}
    assert kinds <= {"passed"}
    return [each.message.removeprefix("Tile not evicted from L2 first: ") for each in remarks]


@pytest.mark.parametrize("decode", [
    Decode(),
    Decode(floor=False),
    Decode(rows=3),
    Decode(rows=16),
    Decode(rows=64, dim=64, tile=(64, 64), keys=256),
])  # fmt: skip
def test_keys_and_values_of_a_head_are_read_once(decode: Decode) -> None:
    assert reasons(decode.program) == [ONCE, ONCE]


@pytest.mark.parametrize(("program", "expected"), [
    # Heads of a group read the same keys, and so do blocks of other queries.
    (Decode(heads=4, group=2).program, [BLOCKS, BLOCKS]),
    (Decode(rows=32).program, [BLOCKS, BLOCKS]),
    (Attention().program, [BLOCKS] * 4),
    # Blocks of a GEMM share A with others of their row, and B with others of their column.
    (GEMM.read_text(), [BLOCKS, BLOCKS]),
    # One block computes all rows of tiles of C: it reads B again for each of them.
    (Gemm().persistent(), [ONCE, ITERATIONS]),
    # All tiles are copied: stores evict as much as loads.
    (copy_loop(), ["the loop stores, too"]),
])  # fmt: skip
def test_tiles_that_are_read_again(program: str, expected: list[str]) -> None:
    assert reasons(program) == expected


def test_tiles_that_two_iterations_read() -> None:
    program = matmul(128, 128, 64)
    halved = "%two = constant <i32: 2> : tile<i32> %h = divi %i, %two signed : tile<i32> %a, %t1 ="
    program = program.replace("%a, %t1 =", halved).replace("%pv[%zero, %i]", "%pv[%zero, %h]")
    assert reasons(program) == [ITERATIONS, ONCE]


def test_tiles_that_two_loads_read() -> None:
    program = matmul(128, 128, 64).replace("make_tensor_view %q16", "make_tensor_view %p16")
    assert set(reasons(program)) == {"another load may read it"}


def test_loops_that_share_their_iterations() -> None:
    """The second loop goes on where the first ends; from the start, it reads all tiles again."""
    assert reasons(consecutive_programs.program()) == [ONCE] * 4
    twice = consecutive_programs.program([FIRST, FIRST])
    assert reasons(twice) == ["another load may read it"] * 4


def test_tiles_that_overlap() -> None:
    plain = consecutive_programs.program([FIRST])
    strided = A_VIEW.replace("partition_view<tile=(64x32)", "strided_view<tile=(64x32)").replace(
        "padding_value", "traversal_strides=[64,16], padding_value"
    )
    program = plain.replace(A_VIEW, strided).replace(
        "%av = make_partition_view", "%av = make_strided_view"
    )
    assert reasons(plain) == [ONCE, ONCE]
    assert reasons(program) == ["its tiles overlap", ONCE]


def test_it_can_be_forbidden() -> None:
    program = Decode().program
    assert evicted(scheduled(program)) == [True, True]
    assert evicted(scheduled(program, schedule="evict-first=0")) == [False, False]
    assert evicted(scheduled(program, schedule=FORCED)) == [True, True]


def test_copies_by_tma() -> None:
    program = Decode(rows=64, dim=64, tile=(64, 64), keys=256).program
    assert reasons(program, "agents=1") == [ONCE, ONCE]
    module = lowered_as_far_as("specialize-warps", program, schedule=f"{FORCED},agents=1,rotate=0")
    copies = [op for op in module.walk() if op.name.endswith("producer_copy")]
    assert [("evict_first" in op.attributes) for op in copies] == [True, True]
