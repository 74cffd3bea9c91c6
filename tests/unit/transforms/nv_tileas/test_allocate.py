"""Tests of shared-memory planning: alternating areas, and barriers where both may be in use."""

from __future__ import annotations

import numpy as np
import pytest
from attention_programs import Attention
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.compile import compile

VIEW = "partition_view<tile=(64x64), tensor_view<64x64xi32, strides=[64,1]>>"


def program(transposes: str, *, loop: bool) -> str:
    """Return a kernel that transposes a tile several times, each time through shared memory."""
    body = (
        transposes
        if not loop
        else f"""
    %y = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%x = %x0)
        -> (tile<64x64xi32>) {{
      {transposes}
      continue %y : tile<64x64xi32>
    }}"""
    )
    first = "" if loop else "%x = addi %x0, %x0 : tile<64x64xi32>"
    return f"""cuda_tile.module @kernels {{
  entry @k(%a: tile<ptr<i32>>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %v = make_tensor_view %a, shape = [64, 64], strides = [64, 1]
        : tensor_view<64x64xi32, strides=[64,1]>
    %p = make_partition_view %v : {VIEW}
    %x0, %t = load_view_tko weak %p[%zero, %zero] : {VIEW}, tile<i32>
        -> tile<64x64xi32>, token
    {first}
    {body}
    %u = store_view_tko weak %y, %p[%zero, %zero] token = %t
        : tile<64x64xi32>, {VIEW}, tile<i32> -> token
    return
  }}
}}
"""


def transposed(count: int) -> str:
    """Compute `%y` from `%x` by adding the transpose, `count` times."""
    lines: list[str] = []
    last = "%x"
    for number in range(count):
        name = "%y" if number == count - 1 else f"%s{number}"
        lines.append(
            f"%p{number} = permute {last} [1, 0] : tile<64x64xi32> -> tile<64x64xi32>\n"
            f"{name} = addi %p{number}, {last} : tile<64x64xi32>"
        )
        last = name
    return "\n".join(lines)


def expected(array: np.ndarray, count: int, iterations: int) -> np.ndarray:
    result = array if iterations > 1 else array + array
    for _ in range(count * iterations):
        result = result.T + result
    return result


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.sampled(3)
def test_areas_are_not_written_while_they_are_read(count: int, loop: bool, arch: str) -> None:
    """The emulator's checker finds every race in shared memory."""
    array = np.arange(64 * 64, dtype=np.int32).reshape(64, 64)
    wanted = expected(array, count, 3 if loop else 1)
    text = program(transposed(count), loop=loop)
    tilewright.execute(text, "k", 1, [array], on="emulator", check=True, seed=count, arch=arch)
    assert np.array_equal(array, wanted)


def test_one_use_takes_one_area_and_more_take_two() -> None:
    areas = [
        compile(program(transposed(count), loop=False), arch="sm_90").entries["k"].resources.shared
        for count in (1, 2, 5)
    ]
    assert areas[1] == areas[2] == 2 * areas[0]


@pytest.mark.parametrize(("bins", "bytes"), [(64, 256), (4096, 16384), (16384, 16384)])
def test_bins_of_a_histogram_are_in_shared_memory(bins: int, bytes: int) -> None:
    """Four bytes each; more than 4096 are counted in several passes."""
    pointers = f"tensor<{bins}x!nv_tileaa.ptr<i32>>"
    text = f"""gpu.module @kernels {{
  nv_tileaa.func @count(%a: !nv_tileaa.ptr<i32>)
      attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
    %i = nv_tileaa.make_range : tensor<{bins}xi32>
    %h = nv_tileaa.histogram %i : tensor<{bins}xi32> -> tensor<{bins}xi32>
    %s = nv_tileaa.splat %a : !nv_tileaa.ptr<i32> -> {pointers}
    %p = nv_tileaa.addptr %s, %i : {pointers}, tensor<{bins}xi32>
    %t = nv_tileaa.store weak %p, %h : {pointers}, tensor<{bins}xi32>
    nv_tileaa.return
  }}
}}
"""
    assert compile(text, arch="sm_90").entries["count"].resources.shared == bytes


def test_a_barrier_for_a_tile_from_before_a_loop_is_before_it() -> None:
    """Q in shared memory: the dots of all iterations read it. Nothing in them is stored there."""
    program = Attention(rows=128, keys=128, k_major=False).program
    schedule = "agents=1,rotate=0"
    module = lowered_as_far_as("synchronize", program, schedule=schedule)
    barriers = [op for op in module.walk() if isinstance(op, BarrierOp)]
    assert barriers
    assert not any(isinstance(op.parent_op, ForOp) for op in barriers)
