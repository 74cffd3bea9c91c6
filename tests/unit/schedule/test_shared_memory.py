"""The shared memory of a block: its share of an SM's, and the rules on what it takes."""

from __future__ import annotations

from each_case import each_case
from linear_programs import LinearAttention
from scheduled_loops import lowered_as_far_as, matmul

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.schedule.shared_memory import (
    SharedMemory,
    block_share,
    fitting_mbarriers,
    pipeline_mbarriers,
    sm_share,
    specialized_bytes,
    stage_bytes,
)
from tilewright.target.arch import ARCHES

SM_90 = ARCHES["sm_90"]
KIB = 1024
WIDE = LinearAttention(128, 128, 128)


def function_of(module: Operation) -> FuncOp:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function


@each_case(("arch", "blocks", "declared", "of_sm"), [
    ("sm_90", 1, 227 * KIB, 227 * KIB),
    ("sm_90", 2, 113 * KIB, 113 * KIB),  # half of 228 KiB, without 1 KiB of each block
    ("sm_90", 3, 75 * KIB, 75 * KIB),
    ("sm_120", 2, 49 * KIB, 49 * KIB),  # half of 100 KiB
    ("sm_80", 1, 48 * KIB, 48 * KIB),
    ("sm_80", 2, 24 * KIB - 512, 48 * KIB),  # an SM has 164 KiB, of which a block declares 48
    ("sm_80", 4, 12 * KIB - 256 - 512, 40 * KIB),
])  # fmt: skip
def test_the_share_of_a_block(arch: str, blocks: int, declared: int, of_sm: int) -> None:
    gpu = ARCHES[arch]
    assert block_share(gpu, blocks) == declared
    assert sm_share(gpu, blocks) == of_sm
    assert gpu.shared.ctas(sm_share(gpu, blocks)) >= blocks


def test_mbarriers() -> None:
    """Two of 8 bytes for each stage."""
    assert pipeline_mbarriers(4) == 8
    assert fitting_mbarriers(SM_90, 227 * KIB - 65) == 8
    assert fitting_mbarriers(SM_90, 227 * KIB + 1) == 0


@each_case(("blocks", "maps", "pipelines", "bytes"), [
    (1, 2, 1, 226 * KIB),  # 256 bytes of maps and 128 of mbarriers: less than 1 KiB
    (2, 2, 1, 112 * KIB),
    (1, 8, 4, 227 * KIB - 8 * 128 - 4 * 8 * 2 * 8),
])  # fmt: skip
def test_memory_beside_maps_and_mbarriers(
    blocks: int, maps: int, pipelines: int, bytes: int
) -> None:
    assert specialized_bytes(SM_90, blocks, maps, pipelines) == bytes


def test_a_loop_over_k() -> None:
    """128×128×64 in f16: a stage holds A and B; the store exchanges the result piece by piece."""
    function = function_of(lowered_as_far_as("keep-tiles", matmul(128, 128, 64)))
    (loop,) = (op for op in function.walk() if isinstance(op, ForOp))
    loads = [op for op in loop.body.block if isinstance(op, TiledLoadOp)]
    conversions = {user for load in loads for user in load.results[0].users}
    assert stage_bytes(loads) == 2 * 128 * 64 * 2
    memory = SharedMemory(function)
    assert memory.beside_pipeline(loop, conversions) == 0
    assert memory.beside_pipeline(loop, ()) == 2 * 128 * 64 * 2
    exchange = memory.planned(conversions)
    assert 0 < exchange <= 2 * 16 * KIB, "no operation has more than two areas of 16 KiB"
    assert memory.unplanned == 2 * 128 * 64 * 2 + 2 * 16 * KIB


def test_tiles_that_are_never_live_together() -> None:
    """The state and V of later chunks have 32 KiB each, at different times, and so has Q."""
    function = function_of(lowered_as_far_as("keep-tiles", WIDE.program))
    (loop,) = (op for op in function.walk() if isinstance(op, ForOp))
    memory = SharedMemory(function)
    each = memory.beside_pipeline(loop, ())
    shared = memory.beside_pipeline(loop, (), is_planned=True)
    assert shared < each
    assert (each - shared) % (32 * KIB) == 0


def test_mbarriers_have_memory_beside_pipelines() -> None:
    """Once a function has a pipeline, a kilobyte is left for them; its stages are 32 KiB each."""
    module = lowered_as_far_as("materialize-schedule", matmul(128, 128, 64, occupancy=1))
    function = function_of(module)
    loop = next(op for op in function.walk() if isinstance(op, ForOp))
    (pipeline,) = (op for op in function.walk() if isinstance(op, CreatePipelineOp))
    memory = SharedMemory(function)
    stages = memory.unplanned - 2 * 16 * KIB
    assert stages % (32 * KIB) == 0
    assert memory.beside_pipeline(loop, {pipeline}) == KIB
    assert memory.beside_moved(loop, []) == stages + KIB
