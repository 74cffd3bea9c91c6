"""Tokens in the lowering pipeline: the token graph is preserved, and its order is observed."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import lowered_to

import tilewright
from tilewright.driver.compile import compile
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.text.parser import parse_text

VIEW = "partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>"
BACK = "partition_view<tile=(32x64), tensor_view<32x64xf32, strides=[64,1]>>"

JOINED = f"""cuda_tile.module @kernels {{
  entry @both(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {{
    %i = constant <i32: 0> : tile<i32>
    %vx = make_tensor_view %x, shape = [64, 32], strides = [32, 1]
        : tensor_view<64x32xf32, strides=[32,1]>
    %px = make_partition_view %vx : {VIEW}
    %vy = make_tensor_view %y, shape = [64, 32], strides = [32, 1]
        : tensor_view<64x32xf32, strides=[32,1]>
    %py = make_partition_view %vy : {VIEW}
    %wx = make_tensor_view %x, shape = [32, 64], strides = [64, 1]
        : tensor_view<32x64xf32, strides=[64,1]>
    %qx = make_partition_view %wx : {BACK}
    %wy = make_tensor_view %y, shape = [32, 64], strides = [64, 1]
        : tensor_view<32x64xf32, strides=[64,1]>
    %qy = make_partition_view %wy : {BACK}
    %wz = make_tensor_view %z, shape = [32, 64], strides = [64, 1]
        : tensor_view<32x64xf32, strides=[64,1]>
    %qz = make_partition_view %wz : {BACK}
    %a, %t0 = load_view_tko weak %px[%i, %i] : {VIEW}, tile<i32> -> tile<64x32xf32>, token
    %b = addf %a, %a : tile<64x32xf32>
    %t1 = store_view_tko weak %b, %px[%i, %i] token = %t0
        : tile<64x32xf32>, {VIEW}, tile<i32> -> token
    %t2 = store_view_tko weak %a, %py[%i, %i] token = %t0
        : tile<64x32xf32>, {VIEW}, tile<i32> -> token
    %t3 = join_tokens %t1, %t2 : token
    %c, %t4 = load_view_tko weak %qx[%i, %i] token = %t3
        : {BACK}, tile<i32> -> tile<32x64xf32>, token
    %d, %t5 = load_view_tko weak %qy[%i, %i] token = %t3
        : {BACK}, tile<i32> -> tile<32x64xf32>, token
    %e = subf %c, %d : tile<32x64xf32>
    %t6 = store_view_tko weak %e, %qz[%i, %i] : tile<32x64xf32>, {BACK}, tile<i32> -> token
    return
  }}
}}
"""


def token_graph(module: Operation) -> list[list[int]]:
    """For each operation with a token result, in order, the indices of its token operands."""
    numbers: dict[object, int] = {}
    graph: list[list[int]] = []
    for op in module.walk():
        made = [result for result in op.results if "token" in str(result.type)]
        if not made:
            continue
        graph.append([numbers[value] for value in op.operands if value in numbers])
        numbers[made[0]] = len(graph) - 1
    return graph


@pytest.mark.requirement("R2-051")
def test_lowering_keeps_the_token_graph() -> None:
    before = token_graph(tilewright.read(JOINED))
    assert before == [[], [0], [0], [1, 2], [3], [3], []]
    stages = compile(JOINED, arch="sm_90").stages
    for level in ("nv_tileaa", "nv_tileas"):
        assert token_graph(parse_text(stages[level], context())) == before


@pytest.mark.requirement("R2-045", kind="behaviour")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_token_order_is_observed(arch: str) -> None:
    """Threads read what other threads wrote: the joined token becomes a barrier, without races."""
    x = np.arange(64 * 32, dtype=np.float32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    expected = x.copy()
    tilewright.execute(JOINED, "both", 1, [x, y, z], on="emulator", arch=arch)
    assert np.array_equal(z, expected)
    assert np.array_equal(x, 2 * expected)


@pytest.mark.requirement("R2-045", kind="behaviour")
def test_no_barrier_without_a_token_dependence() -> None:
    """The same accesses without a token dependence have no barrier."""
    free = JOINED.replace(" token = %t3", "").replace(" token = %t0", "")
    assert "gpu.barrier" in lowered_to("nvgpu", JOINED)
    assert "gpu.barrier" not in lowered_to("nvgpu", free)
