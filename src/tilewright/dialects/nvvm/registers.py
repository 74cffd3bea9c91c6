"""Reads of special registers: indices and sizes of blocks, clusters and grids; clocks."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.llvm.attributes import CONSTANT_RANGE
from tilewright.dialects.llvm.constraints import INT32, INT64
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects

PREFIX: Final = "nvvm.read.ptx.sreg."

_BY_AXIS: Final = (
    "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster.ctaid", "cluster.nctaid",
)  # fmt: skip
_SINGLE: Final = (
    "laneid", "warpsize", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "cluster.ctarank", "cluster.nctarank",
)  # fmt: skip
_MASKS: Final = ("lanemask.eq", "lanemask.le", "lanemask.lt", "lanemask.ge", "lanemask.gt")

CLUSTER_REGISTERS: Final = frozenset(
    [f"{register}.{axis}" for register in _BY_AXIS if "cluster" in register for axis in "xyz"]
    + ["cluster.ctarank", "cluster.nctarank"]
)
"""The registers of targets with clusters."""


class SpecialRegisterOp(NvvmOp):
    """Base of the reads of registers that are constant during a thread."""

    effects = Effects.PURE
    syntax = "(`range` $range^)? attr-dict `:` type($res)"

    range = d.optional_attribute(CONSTANT_RANGE)
    """The known range of the value: lower bound, and exclusive upper bound."""
    res = d.result(INT32)

    @property
    def register(self) -> str:
        """The name of the register, as PTX has it."""
        return self.name.removeprefix(PREFIX)


class ClockOp(NvvmOp):
    """Base of the reads of clocks."""

    syntax = "attr-dict `:` type($res)"

    @property
    def register(self) -> str:
        """The name of the register, as PTX has it."""
        return self.name.removeprefix(PREFIX)


class ClockReadOp(ClockOp):
    """The low half of the cycle counter."""

    name = f"{PREFIX}clock"

    res = d.result(INT32)


class Clock64ReadOp(ClockOp):
    """The cycle counter."""

    name = f"{PREFIX}clock64"

    res = d.result(INT64)


class GlobalTimerOp(ClockOp):
    """The global timer in nanoseconds."""

    name = f"{PREFIX}globaltimer"

    res = d.result(INT64)


def _declare(register: str) -> type[SpecialRegisterOp]:
    """Declare the operation that reads a register; they differ only by name."""
    words = "".join([part.capitalize() for part in register.split(".")])
    body = {"name": f"{PREFIX}{register}", "__doc__": f"The register `%{register}`."}
    return type(SpecialRegisterOp)(f"{words}Op", (SpecialRegisterOp,), body)  # pyrefly: ignore[bad-return]


REGISTERS: Final[dict[str, type[SpecialRegisterOp]]] = {
    register: _declare(register)
    for register in (
        *[f"{register}.{axis}" for register in _BY_AXIS for axis in "xyz"],
        *_SINGLE,
        *_MASKS,
    )
}
"""The operation of each register, by the name of the register: `REGISTERS["tid.x"]`."""
