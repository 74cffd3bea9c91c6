"""Agents (warp specialization): regions that ranges of warps execute.

Layouts inside of an agent are over its warps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.nv_tileaa import queue as tileaa
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.async_copy import SLOT
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, IntegerKind
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import TERMINATOR, Effects, HasParent
from tilewright.ir.types import I32

COUNT: Final = IntegerKind(I32, minimum=1)


class YieldOp(Operation):
    """Terminate the region of an agent, yielding its values."""

    name = "nv_tileas.async.pipeline.yield"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("nv_tileas.async.pipeline.agent_switch"))
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)


class AgentSwitchOp(Operation):
    """Run a region on `warps` warps from `first` on; the other warps skip it.

    Only an agent of all warps gives values. The resources are what it was granted.
    """

    name = "nv_tileas.async.pipeline.agent_switch"
    syntax = "(`->` type($outputs)^)? attr-dict-with-keyword $body"

    first = d.attribute(SLOT, default=0)
    warps = d.attribute(COUNT)
    max_registers = d.attribute(tileaa.AMOUNT, default=0)
    named_barriers = d.attribute(tileaa.AMOUNT, default=0)
    shared_memory_bytes = d.attribute(tileaa.AMOUNT, default=0)
    tensor_memory_bytes = d.attribute(tileaa.AMOUNT, default=0)
    input_layouts = d.optional_attribute(ARRAY_ATTR)
    output_layouts = d.optional_attribute(ARRAY_ATTR)
    outputs = d.results(ANY_TYPE)
    body = d.region(terminator="nv_tileas.async.pipeline.yield")

    def verify_context(self) -> Iterator[str]:
        if agent_of(self) is not None:
            yield "expected an agent outside of all others"
        yield from self._warp_problems()
        end = self.body.block.terminator
        assert isinstance(end, YieldOp)
        expected, actual = types_of(self.outputs), types_of(end.values)
        if actual != expected:
            yield f"expected the region to yield {listed(expected)}, got {listed(actual)}"

    def _warp_problems(self) -> Iterator[str]:
        function = next((op for op in self.ancestors() if isinstance(op, FuncOp)), None)
        spec = None if function is None else function.kernel_spec
        whole = None if spec is None else spec.num_warps
        if whole is None:
            return
        if self.first + self.warps > whole:
            actual = f"{self.warps} from number {self.first} on"
            yield f"expected warps out of the {whole} of the kernel, got {actual}"
        elif self.outputs and self.warps != whole:
            yield f"expected all {whole} warps, since the agent gives values, got {self.warps}"


class ExecuteOp(tileaa.ExecuteOp):
    """Run a plugin in the enclosing agent."""

    name = "nv_tileas.execute"
    traits = (LAID_OUT,)


def agent_of(op: Operation) -> AgentSwitchOp | None:
    """The enclosing agent of an operation; `None` if all warps execute it."""
    for outer in op.ancestors():
        if isinstance(outer, AgentSwitchOp):
            return outer
    return None
