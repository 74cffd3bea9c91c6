"""Why the pipelines of a kernel have their stages: collected while they are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.schedule.resources import shares_sm

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp

ENOUGH: Final = "more would hide no more latency"
FORCED: Final = "the schedule is forced"
CROWDED: Final = "where other tiles share the rest of the memory, two are wanted"


class StageBudget(NamedTuple):
    """The shared memory of a pipeline while its stages are chosen."""

    wanted: int
    """Stages, if there is memory for them."""
    stage: int
    """Bytes of a stage."""
    free: int
    """Bytes that are left for all of them."""
    limit: str = "shared memory"
    """What limits the bytes that are left."""
    enough: str = ENOUGH
    """Why no more stages are wanted."""

    @property
    def fitting(self) -> int:
        """How many of the wanted stages fit."""
        return min(self.wanted, max(self.free, 0) // self.stage)

    @property
    def bound(self) -> str:
        """What bounds the number of stages."""
        if self.fitting == self.wanted:
            return self.enough
        return f"a stage takes {self.stage} bytes, and {self.limit} leaves {max(self.free, 0)}"


def memory_limit(function: FuncOp) -> str:
    """What limits the shared memory of a block."""
    if not shares_sm(function):
        return "shared memory"
    is_asked = function.asks(OCCUPANCY) is not None
    return "the hint occupancy" if is_asked else "its share of shared memory"


class PipelineReasons:
    """The reasons for the pipelines of the loops of a function."""

    __slots__ = ("bounds", "memory", "refusals")

    def __init__(self) -> None:
        self.bounds: dict[ForOp, str] = {}
        """What bounds the stages of each loop."""
        self.memory: dict[ForOp, str] = {}
        """Why a loop has another share of memory than one block of an SM by itself."""
        self.refusals: dict[ForOp, str] = {}
        """Why a loop that loads tiles has no pipeline."""
