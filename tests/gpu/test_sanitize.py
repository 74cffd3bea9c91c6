"""Kernels on a GPU that check their accesses, and kernels for a debugger."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.runtime.device import current_gpu

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
PATIENCE = 60

SCALE = """\
!view = !cuda_tile.tensor_view<?xf32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(128), tensor_view<?xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>, %n: tile<i32>, %first: tile<i32>) {
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %index = addi %b, %first : tile<i32>
    %two = constant <f32: 2.0> : tile<128xf32>
    %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> !view
    %xv = make_partition_view %xt : !tiles
    %v, %t0 = load_view_tko weak %xv[%index] : !tiles, tile<i32> -> tile<128xf32>, token
    %w = mulf %v, %two : tile<128xf32>
    %t1 = store_view_tko weak %w, %xv[%index] token=%t0
      : tile<128xf32>, !tiles, tile<i32> -> token
    return
  }
}
"""
GATHER = """\
!view = !cuda_tile.tensor_view<?xi32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @gather(%x: tile<ptr<i32>>, %n: tile<i32>, %limit: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <i32: -1> : tile<64xi32>
    %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> !view
    %xv = make_partition_view %xt : !tiles
    %i = iota : tile<64xi32>
    %l1 = reshape %limit : tile<i32> -> tile<1xi32>
    %l = broadcast %l1 : tile<1xi32> -> tile<64xi32>
    %mask = cmpi less_than %i, %l, signed : tile<64xi32> -> tile<64xi1>
    %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %xs = broadcast %x1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %p = offset %xs, %i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %v, %t0 = load_ptr_tko weak %p, %mask, %none
      : tile<64xptr<i32>>, tile<64xi1>, tile<64xi32> -> tile<64xi32>, token
    %t1 = store_view_tko weak %v, %xv[%zero] token=%t0 : tile<64xi32>, !tiles, tile<i32> -> token
    return
  }
}
"""


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, because a failing kernel loses the context."""
    folders = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    command = [sys.executable, "-m", "tilewright", "run", path, "--on=gpu", "--sanitize=memcheck"]
    return subprocess.run(
        [*command, *arguments],
        capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment,
    )  # fmt: skip


@pytest.mark.parametrize("n", [256, 200])
def test_correct_kernels_are_unaffected(n: int) -> None:
    array = np.arange(256, dtype=np.float32)
    expected = np.where(np.arange(256) < n, array * 2, array)
    tilewright.execute(SCALE, "scale", 2, [array, n, 0], on="gpu", sanitize=True)
    np.testing.assert_array_equal(array, expected)


def test_masked_elements_are_not_accessed() -> None:
    array = np.arange(40, dtype=np.int32)
    tilewright.execute(GATHER, "gather", 1, [array, 40, 40], on="gpu", sanitize=True)
    np.testing.assert_array_equal(array, np.arange(40))


@pytest.mark.parametrize(("first", "index"), [(1, 2), (-1, -1)])
def test_a_tile_outside_of_its_view(tmp_path: Path, first: int, index: int) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    done = run(path, "--grid=2", "--arg=zeros:256xf32", "--arg=256", f"--arg={first}")
    assert done.returncode == 1
    assert f"{path}:10:15: error: kernel '@scale': " in done.stderr
    assert "load_view_tko outside of its view" in done.stderr
    # A driver may lose the output of a kernel that fails.
    message = f"{path}:10:15: error: load_view_tko outside of its view: expected index 0 below 2, "
    if done.stdout:
        assert f"{message}got {index}, in block (" in done.stdout


def test_a_pointer_outside_of_the_view_of_its_base(tmp_path: Path) -> None:
    path = tmp_path / "gather.mlir"
    path.write_text(GATHER)
    # The array is longer than the view: only the check can detect this.
    done = run(path, "--arg=zeros:4096xi32", "--arg=40", "--arg=41")
    assert done.returncode == 1
    assert f"{path}:16:15: error: kernel '@gather': " in done.stderr
    assert "load_ptr_tko outside of the memory of its pointer" in done.stderr


@pytest.mark.parametrize("sanitize", [False, True])
def test_kernels_for_a_debugger_compute_the_same(sanitize: bool) -> None:
    array = np.arange(256, dtype=np.float32)
    module = tilewright.compile(
        SCALE, arch=current_gpu().arch, device_debug=True, sanitize=sanitize
    )
    tilewright.launch(module, "scale", 2, [array, 256, 0])
    np.testing.assert_array_equal(array, np.arange(256, dtype=np.float32) * 2)
