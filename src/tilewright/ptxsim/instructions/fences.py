"""Fences and related instructions."""

from __future__ import annotations

from typing import Final

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.map_proxy import MapProxy
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.tensor_map import SIZE
from tilewright.ptxsim.warps import whole_warps

_SCOPES: Final = ("cta", "cluster", "gpu", "sys", "gl")


@instruction("membar", "fence")
def fence(op: Operation) -> Run:
    """`membar` and `fence`: memory is sequentially consistent here; only the checker sees them."""
    order = op.choice("sc", "acq_rel", "acquire", "release")
    op.choice(*_SCOPES)
    kind, site = ".".join((op.name, *op.modifiers)), op.site

    def run(lanes: Lanes) -> None:
        wave = lanes.wave
        if wave.checker is not None:
            wave.checker.fence(
                lanes.threads, acquires=order != "release", releases=order != "acquire"
            )
        if wave.observer is not None:
            wave.observer.synchronise(lanes.threads, kind, None, site)

    return run


@instruction("fence.mbarrier_init")
def fence_mbarrier_init(op: Operation) -> Run:
    """`fence.mbarrier_init`: make mbarrier initialisations visible to the cluster."""
    op.ignore("release", "cluster")
    return lambda lanes: None


@instruction("fence.proxy.async", "fence.proxy.async::generic", "fence.proxy.alias")
def fence_proxy(op: Operation) -> Run:
    """`fence.proxy.async`: make ordinary stores visible to the async proxy."""
    op.choice("acquire", "release")
    op.choice("global", "shared::cta", "shared::cluster", "sync_restrict::shared::cta")
    op.choice("sync_restrict::shared::cluster")
    op.choice(*_SCOPES)
    kind, site = ".".join((op.name, *op.modifiers)), op.site

    def run(lanes: Lanes) -> None:
        if lanes.wave.observer is not None:
            lanes.wave.observer.synchronise(lanes.threads, kind, None, site)

    return run


@instruction("fence.proxy.tensormap::generic")
def fence_tensor_map(op: Operation) -> Run:
    """`fence.proxy.tensormap::generic`: order stores to tensor maps for the tensormap proxy."""
    acquires = op.choice("acquire", "release") == "acquire"
    op.choice(*_SCOPES)
    if not acquires:
        return lambda lanes: lanes.wave.state(MapProxy).release(lanes.threads)
    address, size = op.address(0), op.constant(1)
    if size != SIZE:
        op.fail(f"expected a size of {SIZE}, got {size}")
    site = op.site

    def run(lanes: Lanes) -> None:
        lanes.wave.state(MapProxy).acquire(lanes, address(lanes), site)

    return run


@instruction("nanosleep")
def sleep(op: Operation) -> Run:
    """`nanosleep`: counts as polling."""
    op.type()
    op.ignore_operands()

    def run(lanes: Lanes) -> None:
        lanes.wave.polled = True

    return run


@instruction("griddepcontrol")
def grid_dependency(op: Operation) -> Run:
    """`griddepcontrol`: no effect, since launches are serialized here."""
    if op.choice("launch_dependents", "wait") is None:
        op.fail("expected .launch_dependents or .wait")
    return lambda lanes: None


@instruction("setmaxnreg", blocks=True)
def set_registers(op: Operation) -> Run:
    """`setmaxnreg`: set the number of registers per thread of a warpgroup."""
    op.choice("inc", "dec")
    op.ignore("sync", "aligned")
    op.type()
    count, site = op.constant(0), op.site
    if not 24 <= count <= 256 or count % 8:
        op.fail(f"expected a multiple of 8 from 24 to 256, got {count}")

    def run(lanes: Lanes) -> None:
        whole_warps(lanes, site)

    return run
