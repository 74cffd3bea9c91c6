"""Kernels that fail on a GPU, each in a process of its own, because the context is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
PATIENCE = 60

STORE = """\
cuda_tile.module @kernels {
  entry @store(%x: tile<ptr<i32>>, %at: tile<i32>) {
    %p = offset %x, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t1 = store_ptr_tko weak %p, %at : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""
SPEAK = """\
cuda_tile.module @kernels {
  entry @speak(%x: tile<i32>) {
    %t = print_tko "x is %d\\\\0A", %x : tile<i32> -> token
    %zero = constant <i32: 0> : tile<i32>
    %fine = cmpi greater_than %x, %zero, signed : tile<i32> -> tile<i1>
    assert %fine, "x is positive" : tile<i1>
    return
  }
}
"""
VIEW = """\
cuda_tile.module @kernels {
  entry @fill(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %v = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %p = make_partition_view %v : partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %w = constant <i32: 7> : tile<8xi32>
    %t1 = store_view_tko weak %w, %p[%b] : tile<8xi32>, partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
"""  # noqa: E501


def outcome(*command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own."""
    folders = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment,
    )  # fmt: skip


def tilewright(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `tilewright run` on the GPU in a process of its own."""
    return outcome("-m", "tilewright", "run", str(path), "--on=gpu", *arguments)


def test_out_of_bounds_store(tmp_path: Path) -> None:
    path = tmp_path / "store.mlir"
    path.write_text(STORE)
    done = tilewright(path, "--arg=zeros:4xi32", "--arg=1000000000")
    assert done.returncode == 1
    assert "kernel '@store': the kernel accessed memory that is not there" in done.stderr
    # The hardware reports addresses in the shared and local windows differently.
    assert re.search("CUDA_ERROR_(ILLEGAL_ADDRESS|INVALID_ADDRESS_SPACE)", done.stderr)
    assert "--sanitize=memcheck" in done.stderr
    assert "Traceback" not in done.stderr


def test_misaligned_addresses() -> None:
    done = outcome(
        "-c",
        "import tilewright\n"
        "from tilewright.runtime.device import current_gpu\n"
        "from tilewright.runtime.driver import bindings\n"
        "device = current_gpu()\n"
        "device.use()\n"
        "import numpy as np\n"
        "home = bindings().CUdeviceptr(device.upload(np.zeros(64, np.uint8)) + 1)\n"
        f"try:\n    tilewright.execute('''{STORE}''', 'store', 1, [home, 0], on='gpu')\n"
        "except tilewright.Error as error:\n    print(error.status)\n",
    )
    assert done.stdout == "CUDA_ERROR_MISALIGNED_ADDRESS\n", done.stderr


def test_assertions_have_their_text_and_location(tmp_path: Path) -> None:
    path = tmp_path / "speak.mlir"
    path.write_text(SPEAK.replace("\\\\", "\\"))
    fine = tilewright(path, "--arg=3")
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "x is 3\n", "")
    done = tilewright(path, "--arg=-3")
    assert done.returncode == 1
    assert done.stdout in ("x is -3\n", "")
    assert f"{path}:6:" in done.stderr
    assert "kernel '@speak': assertion failed in block [0,0,0]: x is positive" in done.stderr


def test_checked_accesses_have_a_location(tmp_path: Path) -> None:
    path = tmp_path / "view.mlir"
    path.write_text(VIEW)
    plain = tilewright(path, "--grid=2", "--arg=zeros:16xi32", "--arg=16", "--show=0")
    assert (plain.returncode, plain.stdout) == (0, f"[{' '.join('7' * 16)}]\n")
    done = tilewright(path, "--grid=3", "--arg=zeros:16xi32", "--arg=16", "--sanitize=memcheck")
    assert done.returncode == 1
    assert f"{path}:7:" in done.stderr
    assert "store_view_tko outside of its view" in done.stderr


def test_null_pointer(tmp_path: Path) -> None:
    path = tmp_path / "store.mlir"
    path.write_text(STORE)
    done = tilewright(path, "--arg=0", "--arg=64")
    assert done.returncode == 1
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stderr


def test_large_output(tmp_path: Path) -> None:
    path = tmp_path / "speak.mlir"
    path.write_text(SPEAK.replace("\\\\", "\\"))
    done = tilewright(path, "--grid=100000", "--arg=3")
    assert (done.returncode, done.stdout) == (0, "x is 3\n" * 100_000)


def test_later_launches_report_earlier_failures() -> None:
    done = outcome(
        "-c",
        "import torch, tilewright\n"
        "from tilewright.runtime.device import current_gpu\n"
        f"kernel = tilewright.compile('''{STORE}''', arch=current_gpu().arch)\n"
        "x = torch.zeros(4, dtype=torch.int32, device='cuda')\n"
        "tilewright.launch(kernel, 'store', 1, [x, 1000000000])\n"
        "try:\n    torch.cuda.synchronize()\n"
        "except RuntimeError as error:\n    print('torch learns of it')\n"
        "try:\n    tilewright.launch(kernel, 'store', 1, [x, 0])\n"
        "except tilewright.Error as error:\n    print(error)\n",
    )
    lines = done.stdout.splitlines()
    assert lines[:1] == ["torch learns of it"], done.stderr
    assert "a kernel that was launched before: the kernel accessed memory" in lines[1]


def test_prints_of_launches_reach_standard_output() -> None:
    done = outcome(
        "-c",
        "import torch, tilewright\n"
        "from tilewright.runtime.device import current_gpu\n"
        f"kernel = tilewright.compile('''{SPEAK}''', arch=current_gpu().arch)\n"
        "tilewright.launch(kernel, 'speak', 2, [3])\n"
        "torch.cuda.synchronize()\n",
    )
    assert (done.returncode, done.stdout) == (0, "x is 3\n" * 2), done.stderr
