"""From tiles to tiles with layouts: warps, layouts, instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.remarks import report_dots
from tilewright.analysis.targets import target_of
from tilewright.conversion.nv_tileaa_to_nv_tileas.assign import Assignment
from tilewright.conversion.nv_tileaa_to_nv_tileas.plugins import make_agents
from tilewright.conversion.nv_tileaa_to_nv_tileas.queues import convert_queues
from tilewright.conversion.nv_tileaa_to_nv_tileas.rebuild import Rebuild
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.operation import Region
from tilewright.ir.passes import Pass
from tilewright.plans.warps import choose_warps
from tilewright.support.diagnostics import UserError

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch


class ConvertTileAAToTileAS(Pass):
    """Decide who holds what: a layout for every tile, an instruction for every product."""

    name = "convert-tileaa-to-tileas"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                lay_out(function, required_target(function))
                report_dots(function, sink, self.name)


def required_target(function: FuncOp) -> Arch:
    """The GPU that the module of a function is for."""
    arch = target_of(function)
    if arch is None:
        raise UserError([function.error("expected a module with a target specification")])
    return arch


def lay_out(function: FuncOp, arch: Arch) -> None:
    """Give every tile of a kernel its layout."""
    spec = function.kernel_spec
    assert spec is not None
    convert_queues(function)
    warps = choose_warps(function, spec.num_warps)
    body = Region()
    Rebuild(Assignment(function, arch, warps)).region(function.body, body)
    function.attributes["kernel_spec"] = KernelSpecAttr(spec.num_ctas, warps, spec.occupancy)
    old = function.body
    for block in old.blocks:
        block.parent = None
    old.blocks = body.blocks
    for block in old.blocks:
        block.parent = old
    make_agents(function, warps)
