"""The resource model bounds what passes allocate, for the programs of the benchmarks."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from program_archive import ARCHIVE, unpacked

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.async_copy import CreateTokenOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_BYTES
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, counts_copies
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.compile import Program
from tilewright.driver.pipelines import PLAN, level_pipeline, parse_pipeline, passes_to
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.operation import Operation
from tilewright.plans.allocations import aligned
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.schedule.shared_memory import BARRIER_RESERVE, SharedMemory, block_share
from tilewright.target.arch import ARCHES
from tilewright.target.memories import LINE
from tilewright.target.resources import MBARRIER_BYTES

ARCH: Final = "sm_90"
PARTS: Final = 40
"""A part has every fortieth program: about 13."""
ALLOCATION: Final = "allocate"


@cache
def programs() -> list[tuple[str, bytes]]:
    """The programs by name, equal ones once."""
    first: dict[bytes, str] = {}
    for name, code in unpacked(ARCHIVE.read_bytes()).items():
        first.setdefault(code, name)
    return [(name, code) for code, name in first.items()]


def before_planning(code: bytes) -> tuple[Operation, str]:
    """A program whose shared memory is not planned yet, and the passes that follow."""
    module = wrap_in_module(Program(code).module)
    optimizing = level_pipeline(3)
    assert optimizing is not None
    optimizing.run(module)
    for level in ("nv_tileaa", PLAN):
        parse_pipeline(passes_to(level, ARCH)).run(module)
    passes = passes_to("nv_tileas", ARCH).split(",")
    plan = [each.partition("{")[0] for each in passes].index(ALLOCATION)
    parse_pipeline(",".join(passes[:plan])).run(module)
    return module, ",".join(passes[plan:])


def bound_of(function: FuncOp) -> int:
    """The bytes by the model, and a second area of exchanges within warps.

    The model has one for them; they have a second one where it saves a barrier and there is space.
    """
    second = [aligned(scratch_bytes(op), LINE) for op in function.walk() if stays_in_warps(op)]
    return SharedMemory(function).planned(()) + max(second, default=0)


def planned_bytes(function: FuncOp) -> int:
    """What `allocate` has allocated."""
    planned = function.attributes.get(SCRATCH_BYTES)
    return planned.value if isinstance(planned, IntegerAttr) else 0


def mbarriers(function: FuncOp) -> int:
    """How many mbarriers tokens and pipelines have."""
    slots = [op.slot + 1 for op in function.walk() if isinstance(op, CreateTokenOp)]
    stages = [
        pipeline(op.result).stages
        for op in function.walk()
        if isinstance(op, CreatePipelineOp) and not counts_copies(op)
    ]
    return max(slots, default=0) + 2 * sum(stages)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_shared_memory_is_within_its_bounds(part: int) -> None:
    """What is allocated is at most what the model says, and leaves memory to the other blocks."""
    arch = ARCHES[ARCH]
    for name, code in programs()[part::PARTS]:
        module, rest = before_planning(code)
        functions = [op for op in module.walk() if isinstance(op, FuncOp)]
        bounds = [bound_of(function) for function in functions]
        parse_pipeline(rest).run(module)
        for function, bound in zip(functions, bounds, strict=True):
            spec = function.kernel_spec
            assert spec is not None, name
            barriers = mbarriers(function) * MBARRIER_BYTES
            assert planned_bytes(function) <= bound, name
            assert barriers <= BARRIER_RESERVE, name
            share = block_share(arch, spec.occupancy or 1)
            assert planned_bytes(function) + barriers <= share, name
