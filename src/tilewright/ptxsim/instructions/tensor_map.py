"""`tensormap`: tensor maps modified by a kernel."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.instructions.data_movement import SCOPES, take_space
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.map_proxy import MapProxy
from tilewright.ptxsim.memory import GLOBAL_WINDOW, Kind, Space
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES
from tilewright.ptxsim.tensor_map import FIELDS, SIZE
from tilewright.ptxsim.warps import whole_warps

_WORDS: Final = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


@instruction("tensormap.replace")
def replace(op: Operation) -> Run:
    """`tensormap.replace.tile.field [map], value`, or `[map], index, value`."""
    if not op.flag("tile"):
        op.unsupported("only tile mode")
    field = op.choice(*FIELDS)
    if field is None:
        op.fail("expected the name of a field")
    offset, width, count = FIELDS[field]
    space = take_space(op)
    op.ignore("b1024")
    op.type()
    index = op.constant(1) if count > 1 else 0
    if index >= count:
        op.fail(f"expected a number below {count}, got {index}")
    offset += index * width
    address, site = op.address(0), op.site
    value = op.read(op.operand_count - 1, SCALAR_TYPES["b64" if width == 8 else "b32"])
    word = SCALAR_TYPES[_WORDS[width]].dtype
    op.needs(MapProxy)

    def run(lanes: Lanes) -> None:
        values = lanes.spread(value(lanes)).astype(word).reshape(-1, 1)
        addresses = address(lanes)
        if (addresses % 64).any():
            text = f"expected a tensor map at a multiple of 64, got 0x{int(addresses[0]):x}"
            lanes.wave.violation(text, site, int(lanes.threads[0]))
        lanes.wave.memory.store(lanes, space, addresses + offset, values, width, 1, site)

    return run


@instruction("tensormap.cp_fenceproxy", blocks=True)
def copy_and_fence(op: Operation) -> Run:
    """`tensormap.cp_fenceproxy [to], [from], 128`: copy and release a map to its proxy."""
    op.ignore("global", "shared::cta", "tensormap::generic", "release", "sync", "aligned", *SCOPES)
    target, source, site = op.address(0), op.address(1), op.site
    if op.constant(2) != SIZE:
        op.fail(f"expected a size of {SIZE}, got {op.constant(2)}")
    op.needs(MapProxy)

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        leaders = lanes.take(lanes.lane_ids == 0)
        memory = lanes.wave.memory
        from_, to = (lanes.spread(each(lanes))[::WARP] for each in (source, target))
        words = memory.load(leaders, Space.SHARED, from_, 8, SIZE // 8, site)
        memory.store(leaders, Space.GLOBAL, to, words, 8, SIZE // 8, site, Kind.ASYNC_WRITE)
        proxy = lanes.wave.state(MapProxy)
        for cta, map_address in zip(leaders.ctas, np.broadcast_to(to, leaders.count), strict=True):
            proxy.note_released(int(map_address) - GLOBAL_WINDOW, int(cta))

    return run
