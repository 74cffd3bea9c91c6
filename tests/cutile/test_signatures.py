"""Our signatures equal those of cuTile's own launcher.

cuTile asks the driver before it looks at arguments. A driver without a device, compiled here, is
enough to have it name the signature of arrays of the host.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

PROBE = """
from typing import Annotated, Any
import cuda.tile as ct
import numpy as np
from cuda.tile.compilation import CallingConvention, KernelSignature
from tilewright.cutile.signatures import Arguments

Static = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(-1,), static_stride_dims=(0,))]
Long = Annotated[ct.Array, ct.ArrayAnnotation(index_dtype=ct.int64)]
StaticList = Annotated[list, ct.ListAnnotation(element=ct.ArrayAnnotation(static_shape_dims=(0,)))]
V2 = CallingConvention.cutile_python_v2()

@ct.kernel
def plain(x, arrays, n, f, b, c: ct.Constant[int], t: tuple[ct.Constant[float], ct.ScalarInt64]):
    pass

@ct.kernel
def annotated(x: Static, y: Long, z: StaticList):
    pass

class OnDevice:
    def __init__(self, array):
        self.__cuda_array_interface__ = dict(
            version=3, shape=array.shape, strides=array.strides, typestr=array.dtype.str,
            data=(array.ctypes.data, False))

def theirs(argument):
    if isinstance(argument, np.ndarray):
        return OnDevice(argument)
    return [OnDevice(item) for item in argument] if isinstance(argument, list) else argument

def compare(kernel, *arguments):
    wanted = KernelSignature.from_kernel_args(kernel, tuple(map(theirs, arguments)), V2)
    found = Arguments(kernel, arguments).signature
    assert found == wanted, f"{found}\\n{wanted}"
    print(found.symbol)

zeros = np.zeros
ARRAYS = [
    zeros(64, np.float32), zeros(17, np.int8)[1:], zeros((4, 1, 64), np.float16),
    zeros((3, 5))[:, ::2], np.broadcast_to(zeros(4), (3, 4)), zeros((1, 1)), zeros(()),
    zeros((0, 16)), zeros((16, 1)), zeros((64, 64), np.float32).T, zeros((48, 40), bool),
    zeros((2, 2, 2, 2, 2)), zeros((2, 2, 2, 2, 2, 16)), zeros((32, 24), np.uint64)[:, 3:],
    zeros((8, 12), np.int16), zeros((6, 8, 10), np.uint32).transpose(2, 0, 1),
    zeros(100, np.int64)[::16], zeros((5, 1), np.float16)[::2],
]
for number, array in enumerate(ARRAYS):
    other = ARRAYS[(number + 1) % len(ARRAYS)]
    compare(plain, array, [array, array.copy()], 5, 2.5, True, 7, (0.5, 1 << 40))
    if array.ndim:
        compare(annotated, array, other, [array, array.copy()])
long, short = zeros((16, 32)), zeros((5, 32))
compare(plain, long, [long, short], -1, 1.0, False, -7, (-0.0, 0))
compare(plain, long, [short, short[:, ::2]], -1, 1.0, False, 1 << 63, (1e300, -1))
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler, on Linux")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("driver.c")
    library = folder / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return folder


def test_signatures_are_those_of_cutiles_launcher(driver: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(driver)}
    probe = driver / "probe.py"
    probe.write_text(PROBE)
    done = subprocess.run(
        [sys.executable, probe], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 37
