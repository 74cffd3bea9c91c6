"""Checks of copies by TMA: boxes in bounds, and tensor maps that a kernel wrote."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case

from tilewright.ptxsim import Module
from tilewright.ptxsim.tensor_map import TensorMap
from tilewright.support.diagnostics import UserError

TENSOR = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 slot)
{{
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
    .shared .align 1024 .b8 tile[4096];
    .shared .align 8 .b8 full[8];
    mov.b64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [slot];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [full], 1;
    bar.warp.sync -1;
    {body}
    ret;
}}
"""
BOX = """
    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [full], 1024;
    @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [{to}], [{map}, {{{at}}}], [full];
    again: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
    @!%p2 bra again;
"""
BACK = """
    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {{{at}}}], [tile];
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group 0;
"""


def tensor(body: str, rows: int = 16) -> None:
    """A tensor of 16 rows of 64 words, boxes of 8 rows of 32; the map may claim more rows."""
    module = Module(TENSOR.format(body=body), "k.ptx")
    data = module.upload(np.arange(1024, dtype=np.uint32), "tensor")
    slot = module.upload(np.zeros(128, np.uint8), "slot")
    map = TensorMap(int(data), "u32", (64, rows), (256,), (32, 8), swizzle=128)
    module.launch("k", 1, 32, [bytes(map), slot])


@each_case(
    ("body", "rows", "text"),
    [
        (BOX.format(to="tile+3584", map="%rd1", at="0, 0"), 16,
         "asynchronous write of 1024 bytes outside of shared memory at address 0xe00"),
        (BOX.format(to="tile", map="%rd1", at="32, 12"), 24,
         "asynchronous read of 128 bytes outside of every allocation"),
        (BOX.format(to="tile", map="%rd1", at="3, 0"), 16, "misaligned box"),
        (BOX.format(to="tile+64", map="%rd1", at="0, 0"), 16, "expected 128 to divide it"),
        (BACK.format(at="-32, 0"), 16, "out-of-bounds box: a store may not begin at (-32, 0)"),
        (BACK.format(at="0, 0"), 16, "asynchronous read of 16 bytes that were never written"),
        (BOX.format(to="tile", map="%rd2", at="0, 0"), 16, "invalid tensor map"),
    ],
)  # fmt: skip
def test_boxes_out_of_bounds(body: str, rows: int, text: str) -> None:
    with pytest.raises(UserError) as caught:
        tensor(body, rows)
    assert text in caught.value.render()


def test_boxes_may_leave_the_tensor() -> None:
    tensor(BOX.format(to="tile", map="%rd1", at="32, 12"))
    tensor(BOX.format(to="tile", map="%rd1", at="-64, -40"))


COPY_MAP = """
    shl.b32 %r2, %r1, 2;
    cvt.u64.u32 %rd3, %r2;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.u32 %r3, [%rd4];
    st.global.u32 [%rd5], %r3;
    bar.warp.sync -1;
"""
RELEASE = "fence.proxy.tensormap::generic.release.gpu;\n"
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n"


def test_tensor_maps_that_the_kernel_wrote() -> None:
    use = BOX.format(to="tile", map="%rd2", at="0, 8")
    tensor(COPY_MAP + RELEASE + ACQUIRE + use)
    with pytest.raises(UserError, match="was written and not released"):
        tensor(COPY_MAP + use)
    with pytest.raises(UserError, match="was written and not acquired"):
        tensor(COPY_MAP + RELEASE + use)
