"""Each key of a forced schedule is followed, or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import pytest
from attention_programs import Attention
from cluster_programs import ClusterGemm
from decode_programs import Decode
from kept_programs import NORM
from scheduled_loops import (
    copy_loop,
    dots_in_flight,
    lowered_as_far_as,
    matmul,
    optimized,
    schedule_of,
)
from specialized_programs import Gemm
from tma_store_programs import StoredGemm

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, EVICT_FIRST, MULTICAST, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine, ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp, TiledStoreOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.driver.assembly import parse_any
from tilewright.driver.pipelines import PLAN, parse_pipeline, passes_to
from tilewright.ir.operation import Operation
from tilewright.ir.types import TensorType
from tilewright.support.schedule_keys import CHOICES

COPY: Final = copy_loop()
GEMM: Final = Gemm().persistent()
STORED: Final = StoredGemm(Gemm())
"""A kernel whose rows of C are aligned."""
EMPTY: Final = "cuda_tile.module @m { entry @k() { return } }"


def has(module: Operation, kind: type[Operation], attribute: str = "") -> bool:
    """Whether there is an operation of a class, with an attribute if one is named."""
    ops = [op for op in module.walk() if isinstance(op, kind)]
    return any(not attribute or attribute in op.attributes for op in ops)


def by_tma(module: Operation, kind: type[Operation]) -> bool:
    """Whether TMA executes an access of a class."""
    ops = [op for op in module.walk() if isinstance(op, kind)]
    return any(op.attributes.get(ENGINE) is CopyEngine.TMA for op in ops)


def has_stages(module: Operation) -> bool:
    schedules = [op.attributes.get(SCHEDULE) for op in module.walk()]
    return any(isinstance(each, ScheduleAttr) and each.stages == 3 for each in schedules)


def has_lag(module: Operation) -> bool:
    schedule = schedule_of(module)
    return schedule is not None and schedule.lag == 1 and dots_in_flight(module) > 0


def splits_k(module: Operation) -> bool:
    """Whether tiles of A have half of the 32 columns of the program."""
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    return any(tiled_view(load.view).tile == (64, 16) for load in loads)


def is_rotated(module: Operation) -> bool:
    """Whether there are dots before or after loops."""
    dots = [op for op in module.walk() if isinstance(op, DotOp)]
    return any(not isinstance(dot.parent_op, ForOp) for dot in dots)


def carries_tiles(module: Operation) -> bool:
    loops = [op for op in module.walk() if isinstance(op, ForOp)]
    return any(isinstance(each.type, TensorType) for loop in loops for each in loop.carried)


def has_eight_warps(module: Operation) -> bool:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function.kernel_spec is not None and function.kernel_spec.num_warps == 8


class Key(NamedTuple):
    """A schedule with a key, and how to see in a program that it is followed."""

    schedule: str
    is_followed: Callable[[Operation], bool]
    able: str
    unable: str = ""
    """A program that cannot follow it, if there is any."""


KEYS: Final = {
    "stages": Key("stages=3,agents=0", has_stages, GEMM, EMPTY),
    "in-flight": Key("in-flight=1", has_lag, matmul(64, 64, 32), COPY),
    "k-parts": Key("k-parts=2", splits_k, matmul(64, 64, 32), COPY),
    "agents": Key("agents=1", lambda each: by_tma(each, TiledLoadOp), GEMM, COPY),
    "multicast": Key(
        "multicast=1,agents=1",
        lambda each: has(each, TiledLoadOp, MULTICAST),
        ClusterGemm().persistent(),
        GEMM,
    ),
    "tma-stores": Key(
        "tma-stores=1,agents=1",
        lambda each: by_tma(each, TiledStoreOp),
        STORED.persistent(f"{STORED.converted()}\n{STORED.store()}"),
        GEMM,
    ),
    "evict-first": Key(
        "evict-first=1", lambda each: has(each, TiledLoadOp, EVICT_FIRST), Decode().program, COPY
    ),
    "rotate": Key("rotate=1", is_rotated, Attention().program, GEMM),
    "kept-tiles": Key(
        "kept-tiles=4,single-trip=0", lambda each: has(each, CreatePipelineOp), NORM, COPY
    ),
    "single-trip": Key("single-trip=1", lambda each: has(each, IfOp), NORM, COPY),
    "prefetch": Key("prefetch=1", carries_tiles, copy_loop(rows=1), EMPTY),
    "warps": Key("warps=8", has_eight_warps, GEMM),
}


def scheduled(text: str, schedule: str, opt_level: int = 3) -> tuple[Operation, dict[str, str]]:
    """Lower a kernel as far as its loops are scheduled; with its refusals."""
    is_lowered = "nv_tileaa.func" in text
    program = parse_any(text, "kernel.mlir") if is_lowered else optimized(text, opt_level)
    module = lowered_as_far_as("schedule-loops", program, "sm_90", opt_level, schedule)
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    refused = () if function.refused is None else function.refused.refusals
    return module, {key.replace("_", "-"): reason for key, reason in refused}


def test_all_keys_are_tested() -> None:
    assert set(KEYS) == set(CHOICES)


@pytest.mark.parametrize("name", CHOICES)
def test_a_key_is_followed(name: str) -> None:
    key = KEYS[name]
    module, refused = scheduled(key.able, key.schedule)
    assert key.is_followed(module)
    assert name not in refused


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if key.unable])
def test_a_key_is_refused_with_a_reason(name: str) -> None:
    key = KEYS[name]
    module, refused = scheduled(key.unable, key.schedule)
    assert not key.is_followed(module)
    assert refused[name]


@pytest.mark.parametrize("name", CHOICES)
def test_no_key_is_followed_at_lower_levels(name: str) -> None:
    key = KEYS[name]
    module, refused = scheduled(key.able, key.schedule, opt_level=1)
    assert not key.is_followed(module)
    assert refused[name].endswith(" of schedule: schedules are followed from -O2 on")


@pytest.mark.parametrize("name", [name for name in CHOICES if name not in ("stages", "k-parts")])
def test_a_request_to_do_nothing_is_not_refused(name: str) -> None:
    for level in (1, 3):
        _, refused = scheduled(KEYS[name].able, f"{name}=0", level)
        assert name not in refused


def test_no_key_is_followed_beside_checks() -> None:
    schedule = "stages=3 warps=8 agents=0"
    passes = passes_to(PLAN, "sm_90", checked=True, schedule=schedule).split(",")
    module = lowered_as_far_as("inline-calls", GEMM)
    parse_pipeline(",".join(each for each in passes if "record-requests" in each)).run(module)
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert function.refused is not None
    reason = "--sanitize keeps accesses beside their checks"
    assert dict(function.refused.refusals) == {
        "stages": f"3 of schedule: {reason}",
        "warps": f"8 of schedule: {reason}",
    }
