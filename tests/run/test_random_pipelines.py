"""Random loops with loads and dots compute the same under every schedule, on the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from pipeline_text import Loop, text_of
from random_pipelines import problem, random_loop
from repeats import keep
from scheduled_loops import dots_in_flight, engines, lowered_as_far_as, optimized, scheduled

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp
from tilewright.dialects.nv_tileas.attribute_names import CONTINUES
from tilewright.dialects.nv_tileas.attributes import Atom, CopyEngine, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp, CreatePipelineOp, ProducerCopyOp
from tilewright.ir.types import F16

KINDS: Final = {
    "private stages",
    "stages that other threads read",
    "loads that are ordered before a store",
    "copies through pointers with a mask",
    "dots in flight",
    "dots in slices",
    "A of wgmma in registers",
    "f16 accumulators of wgmma",
    "tiles that pass through registers",
    "an engine for each operand",
    "padding other than zero",
    "loops that share a pipeline",
    "dots in flight in loops that share a pipeline",
    "iterations that are split along K",
    "a producer and consumers",
    "stores by TMA",
    "an operand that is computed",
    "large views that threads copy from",
    "large views that TMA copies from",
}
KEPT: Final = (2, 3, 14, 29, 50, 58)
"""The programs that `make test` runs."""


@pytest.mark.parametrize("seed", keep(range(100), lambda seed: seed in KEPT))
@pytest.mark.sampled(3)
def test_results_do_not_depend_on_the_schedule(seed: int) -> None:
    assert problem(seed) is None


def kinds(seed: int) -> Iterator[str]:
    """What the pipelines of a program have."""
    loop = random_loop(seed)
    yield from _operations(loop)
    yield from _decisions(loop)


def _operations(loop: Loop) -> Iterator[str]:
    """What the operations of the pipelines show."""
    program = optimized(text_of(loop))
    for op in lowered_as_far_as("slice-dots", program, loop.arch, schedule=loop.schedule).walk():
        if isinstance(op, DotOp):
            yield from _of_dot(op)
        match op:
            case CreatePipelineOp():
                yield "private stages" if op.private else "stages that other threads read"
                if loop.overwrites and not op.private:
                    yield "loads that are ordered before a store"
            case AgentSwitchOp():
                yield "a producer and consumers"
            case AsyncTiledStoreOp():
                yield "stores by TMA"
            case ProducerCopyOp() if op.mask is not None:
                yield "copies through pointers with a mask"
            case ConsumerReadOp() if op.at is not None:
                yield "dots in slices"
            case _:
                pass


def _of_dot(op: DotOp) -> Iterator[str]:
    """What a dot shows."""
    if op.asynchronous:
        yield "dots in flight"
    if op.atom is Atom.WGMMA and element_of(op.c.type) is F16:
        yield "f16 accumulators of wgmma"
    if op.atom is Atom.WGMMA and not in_shared_memory(op.a):
        yield "A of wgmma in registers"


def _decisions(loop: Loop) -> Iterator[str]:
    """What the program has, and what the passes decided before they built the pipelines."""
    if loop.b and loop.b.computed:
        yield "an operand that is computed"
    program = optimized(text_of(loop))
    refined = lowered_as_far_as("tile", program, loop.arch, schedule=loop.schedule)
    if any(isinstance(op, TiledLoadOp) and op.sliced for op in refined.walk()):
        yield "iterations that are split along K"
    module = scheduled(optimized(text_of(loop)), loop.arch, schedule=loop.schedule)
    chosen = [engine for engine in engines(module) if engine is not None]
    if loop.views.is_large and chosen:
        copier = "TMA copies" if CopyEngine.TMA in chosen else "threads copy"
        yield f"large views that {copier} from"
    if CopyEngine.REGISTERS in chosen:
        yield "tiles that pass through registers"
        operands = [loop.a, loop.b or loop.a]
        if any(not each.gathered and each.padding != "zero" for each in operands):
            yield "padding other than zero"
    if len(set(chosen)) > 1:
        yield "an engine for each operand"
    if any(CONTINUES in op.attributes for op in module.walk()):
        yield "loops that share a pipeline"
        if dots_in_flight(module):
            yield "dots in flight in loops that share a pipeline"


def test_the_programs_that_are_kept_have_pipelines_of_all_kinds() -> None:
    assert {kind for seed in KEPT for kind in kinds(seed)} == KINDS
