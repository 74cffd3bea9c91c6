"""TornadoVM, in Java: it translates tile kernels to CUDA Tile C++ and starts nvcc.

nvcc is the one that the property `tornado.cuda.nvcc` names, or of CUDA_PATH, or on the path; its
version must be 13.3 or later.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tile_cpp_tools import missing_nvcc

import tilewright
from tilewright.emit.note import own_note, read_note

SOURCE = """\
#include <cuda_tile.h>
namespace ct = cuda::tiles;
extern "C" __tile_global__ void fill(float *out) {
  auto index = ct::iota<ct::tile<int, ct::shape<64>>>();
  ct::store_masked(out + index, ct::full<ct::tile<float, ct::shape<64>>>(1.0f), index < 64);
}
"""


@pytest.fixture(autouse=True)
def _nvcc() -> None:
    if reason := missing_nvcc():
        pytest.skip(reason)


def test_the_release() -> None:
    done = tilewright.nvcc(["--version"], capture=True)
    release = re.search(r"release\s+(\d+)\.(\d+)", done.stdout)
    assert done.returncode == 0
    assert release is not None
    assert (int(release[1]), int(release[2])) >= (13, 3)


def test_the_command_line(tmp_path: Path) -> None:
    source, cubin = tmp_path / "kernel.cu", tmp_path / "kernel.cubin"
    source.write_text(SOURCE)
    options = ["-tilecubin", "--tile-only", "-std=c++20", "-arch=sm_90"]
    done = tilewright.nvcc([*options, "-o", str(cubin), str(source)], capture=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_note(cubin.read_bytes()) == own_note()
