"""The installed tools, and modules that clients compile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright

KERNEL = """\
cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %i = iota : tile<128xi32>
    %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %y1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ys = broadcast %y1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %px = offset %xs, %i : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %py = offset %ys, %i : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %a, %t0 = load_ptr_tko weak %px : tile<128xptr<f32>> -> tile<128xf32>, token
    %b, %t1 = load_ptr_tko weak %py : tile<128xptr<f32>> -> tile<128xf32>, token
    %s = addf %a, %b rounding<nearest_even> : tile<128xf32>
    %t2 = store_ptr_tko weak %py, %s : tile<128xptr<f32>>, tile<128xf32> -> token
    return
  }
}
"""

Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def tools() -> Path:
    """The folder of the installed `tileiras` and `tileirdisasm`."""
    folder = Path(sys.executable).parent
    if not (folder / "tileiras").exists():
        pytest.skip("the console scripts of Tilewright are not installed beside Python")
    return folder


@pytest.fixture
def tileiras(tools: Path, tmp_path: Path) -> Tool:
    """Start the installed `tileiras` as clients do, in an empty folder."""

    def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [tools / "tileiras", *words]
        settings = {"cwd": tmp_path, "capture_output": True, "text": True, **options}
        return subprocess.run(command, check=False, **settings)

    return run


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A file of bytecode."""
    path = tmp_path / "kernel.bytecode"
    path.write_bytes(tilewright.write_bytecode(tilewright.read(KERNEL)))
    return path
