"""Two blocks on an SM: which loops have them, and what they get."""

from __future__ import annotations

import re

import pytest
from scheduled_loops import dots_in_flight, matmul, schedule_of, scheduled
from specialized_programs import Gemm

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.ir.operation import Operation

PLAIN = matmul(128, 128, 64)
CLUSTER = "optimization_hints=<sm_90 = {num_cta_in_cga = 2}>"


def occupancy(module: Operation) -> int | None:
    """How many blocks the only kernel of a program is to have on an SM."""
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert kernel.kernel_spec is not None
    return kernel.kernel_spec.occupancy


def test_two_blocks_have_three_stages_each() -> None:
    """A stage has 32 KiB. One is multiplied while two are copied."""
    module = scheduled(PLAIN)
    assert occupancy(module) == 2
    assert schedule_of(module) == ScheduleAttr(3, distance=2)
    assert dots_in_flight(module) == 1


@pytest.mark.parametrize(("program", "options"), [
    (matmul(128, 128, 64, occupancy=1), ""),
    (matmul(128, 256, 64), ""),  # 128 accumulators of a thread
    (matmul(64, 64, 64), ""),  # six stages fit in half of the memory
    (matmul(128, 128, 128), ""),  # three stages do not
    (PLAIN, "stages=4"),
    (Gemm(tile=(256, 128, 64), hints=CLUSTER).one_shot(), "agents=0"),
])  # fmt: skip
def test_others_are_as_asked(program: str, options: str) -> None:
    assert occupancy(scheduled(program, schedule=options)) in (None, 1)


def after_the_loop(op: str) -> str:
    """The program, with an operation on the result before it is stored."""
    store = next(line for line in PLAIN.splitlines() if "store_view_tko" in line)
    return PLAIN.replace(store, f"{op}\n{store}").replace("weak %g,", "weak %changed,")


@pytest.mark.parametrize(("op", "blocks"), [
    ("%changed = addf %e, %e : tile<128x128xf32>", 2),
    (
        "%old, %t8 = load_view_tko weak %rv[%zero, %zero] : RESULT, tile<i32> -> "
        "tile<128x128xf32>, token\n%changed = addf %e, %old : tile<128x128xf32>",
        None,
    ),
    (
        "%row = reduce %e dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32>\n"
        "(%x: tile<f32>, %y: tile<f32>) { %z = addf %x, %y : tile<f32>\nyield %z : tile<f32> }\n"
        "%rows = reshape %row : tile<128xf32> -> tile<128x1xf32>\n"
        "%all = broadcast %rows : tile<128x1xf32> -> tile<128x128xf32>\n"
        "%changed = subf %e, %all : tile<128x128xf32>",
        None,
    ),
])  # fmt: skip
def test_another_tile_after_the_loop_takes_the_registers(op: str, blocks: int | None) -> None:
    view = re.search(r"%rv = make_partition_view %rt : (.*)", PLAIN)
    assert view is not None
    assert occupancy(scheduled(after_the_loop(op.replace("RESULT", view[1])))) == blocks


def test_persistent_kernels_keep_an_sm() -> None:
    program = Gemm(tile=(128, 128, 64)).persistent()
    assert occupancy(scheduled(program, schedule="agents=0")) is None
