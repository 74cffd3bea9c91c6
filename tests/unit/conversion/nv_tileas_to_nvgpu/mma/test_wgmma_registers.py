"""dot by wgmma with A in registers: the fence, and results on the emulator."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

import tilewright
from tilewright.ptxsim import Module

# B is K-major: its swizzle spans 64 of the 128 along K, so that there are two issues.
PROGRAM: Final = """
!a = !cuda_tile.tensor_view<64x512xf32, strides=[512,1]>
!av = !cuda_tile.partition_view<tile=(64x128), tensor_view<64x512xf32, strides=[512,1]>>
!b = !cuda_tile.tensor_view<512x64xf16, strides=[1,512]>
!bv = !cuda_tile.partition_view<tile=(128x64), tensor_view<512x64xf16, strides=[1,512]>>
!c = !cuda_tile.tensor_view<64x64xf32, strides=[64,1]>
!cv = !cuda_tile.partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
cuda_tile.module @kernels {
  entry @k(%ap: tile<ptr<f32>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<64x64xf32>
    %a16 = assume div_by<16>, %ap : tile<ptr<f32>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %at = make_tensor_view %a16, shape = [64, 512], strides = [512, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b16, shape = [512, 64], strides = [1, 512] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %cp, shape = [64, 64], strides = [64, 1] : !c
    %cv = make_partition_view %ct : !cv
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<64x64xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : !av, tile<i32> -> tile<64x128xf32>, token
      %h = ftof %x : tile<64x128xf32> -> tile<64x128xf16>
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : !bv, tile<i32> -> tile<128x64xf16>, token
      %next = mmaf %h, %y, %acc : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %t = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x64xf32>, !cv, tile<i32> -> token
    return
  }
}
"""  # noqa: E501


def compiled() -> str:
    return tilewright.compile(PROGRAM, arch="sm_90", emit="ptx", schedule="k-parts=1,agents=0").ptx


def test_a_is_written_before_its_fence() -> None:
    """Each issue has one: LLVM may write registers of A between two issues."""
    writes = re.compile(r"^\s+(?:mov|cvt|prmt|or|shl)\S*\s+(%r\d+),")
    written: set[str] = set()
    issues = fences = 0
    for line in compiled().splitlines():
        if "wgmma.fence" in line:
            fences += 1
            written.clear()
        elif "wgmma.mma_async" in line:
            issues += 1
            _, a, *_ = re.findall(r"\{([^}]*)\}", line)
            assert not written & set(a.split(", "))
        elif match := writes.match(line):
            written.add(match[1])
    assert issues == 128 // 16
    assert fences >= 2


def test_results() -> None:
    module = Module(compiled(), "k")
    random = np.random.default_rng(1)
    a = random.integers(-4, 5, (64, 512)).astype(np.float32)
    b = random.integers(-4, 5, (512, 64)).astype(np.float16)
    target = module.upload(np.zeros((64, 64), np.float32), "c")
    arguments = [module.upload(a, "a"), module.upload(np.ascontiguousarray(b.T), "b"), target, 4]
    module.launch("k", 1, 128, arguments, check=True)
    result = target.download(np.float32).reshape(64, 64)
    assert (result == a @ b.astype(np.float32)).all()
