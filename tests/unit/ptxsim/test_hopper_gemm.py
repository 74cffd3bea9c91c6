"""Warp-specialised GEMMs for Hopper: TMA, mbarriers, wgmma, clusters, device-built tensor maps.

On an H200 these kernels give exactly the asserted results, `gemm_nn_c2` included: see its test.
"""

from __future__ import annotations

import functools
import pathlib
import re
from typing import Any

import numpy as np
import pytest
from repeats import keep_first

from tilewright.ptxsim import Module
from tilewright.ptxsim.tensor_map import TensorMap
from tilewright.support.diagnostics import UserError

PTX = pathlib.Path(__file__).parents[2] / "ptx"
DYNAMIC_SHARED = 229440
Array = np.ndarray[Any, np.dtype[Any]]


@functools.cache
def text(name: str) -> str:
    return (PTX / f"{name}.ptx").read_text()


def bf16(values: Array) -> Array:
    words = values.astype(np.float32).view(np.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)


def gemm(
    name: str, shape: tuple[int, int, int], grid: int, ptx: str | None = None, **options: Any
) -> tuple[Array, Array]:
    """Return C of the kernel and of NumPy; accumulators of small integers are exact."""
    m, n, k = shape
    transposed = "_nt_" in name
    random = np.random.default_rng(m + n + k)
    a, b = (random.integers(-4, 5, size).astype(np.float32) for size in ((m, k), (k, n)))
    module = Module(ptx or text(name), f"{name}.ptx")
    left = module.upload(bf16(a), "A")
    right = module.upload(bf16(np.ascontiguousarray(b.T) if transposed else b), "B")
    result = module.alloc(2 * m * n, "C")
    if "plain" in name:
        module.launch(name, grid, 1, [left, right, result, m, n, k], **options)
    else:
        columns = 128 if name.endswith("c2") else 256
        box = (64, columns) if transposed else (64, 64)
        dims = (k, n) if transposed else (n, k)
        maps = (
            TensorMap(int(left), "bf16", (k, m), (2 * k,), (64, 128), swizzle=128),
            TensorMap(int(right), "bf16", dims, (2 * dims[0],), box, swizzle=128),
            TensorMap(int(result), "bf16", (n, m), (2 * n,), (64, 64), swizzle=128),
        )
        args = [*map(bytes, maps), m, n, k]
        module.launch(name, grid, 384, args, shared=DYNAMIC_SHARED, **options)
    return result.download(np.uint16).reshape(m, n), bf16(a @ b)


@pytest.mark.parametrize(
    ("name", "shape", "grid"),
    [
        ("gemm_nt_c1", (128, 256, 64), 1),
        # Six steps through a ring of four stages, ragged in every direction, two tiles for one CTA.
        ("gemm_nt_c1", (200, 264, 328), 2),
        ("gemm_nn_c1", (200, 264, 72), 3),
        ("gemm_nt_c2", (256, 256, 128), 2),
        ("gemm_nt_c2", (300, 264, 136), 2),
        ("gemm_nt_plain", (136, 264, 72), 2),
        ("gemm_nn_plain", (128, 256, 136), 1),
        # Ten CTAs contend for eight slots of tensor maps.
        ("gemm_nt_plain_s8", (128, 2560, 64), 10),
    ],
)
@pytest.mark.sampled(3)
def test_gemms(name: str, shape: tuple[int, int, int], grid: int) -> None:
    actual, expected = gemm(name, shape, grid)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("seed", keep_first([1, 2]))
@pytest.mark.parametrize("name", ["gemm_nt_c1", "gemm_nt_c2", "gemm_nn_c1", "gemm_nt_plain"])
@pytest.mark.sampled(1)
def test_gemms_in_another_order(name: str, seed: int) -> None:
    actual, expected = gemm(name, (256, 256, 328), 2, seed=seed)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.sampled(1)
def test_slots_in_another_order(seed: int) -> None:
    actual, expected = gemm("gemm_nt_plain_s8", (128, 2560, 64), 10, seed=seed)
    np.testing.assert_array_equal(actual, expected)


def test_descriptors_with_the_rank_of_the_cta_in_them() -> None:
    """The second CTA of a cluster has its shared memory at 1 << 24.

    The kernel shifts that address into its descriptors and does not cut it to 18 bits: bit 20 falls
    into the leading offset, 8192 bytes become 8448, and blocks of columns are read from rows
    further on. The other kernels are not affected, because their layouts ignore the offset.
    """
    with pytest.raises(UserError, match="race: nothing orders this asynchronous read"):
        gemm("gemm_nn_c2", (256, 256, 128), 2)
    actual, expected = gemm("gemm_nn_c2", (256, 256, 128), 2, check=False)
    wrong = (actual != expected).reshape(2, 128, 4, 64).any(axis=(1, 3))
    np.testing.assert_array_equal(wrong, [[False] * 4, [False, True, True, True]])
    shift = r"(\tshr\.u32 \t(%r45|%r47), %r\d+, 4;\n)"
    mended = re.sub(shift, r"\1\tand.b32 \t\2, \2, 0x3fff;\n", text("gemm_nn_c2"))
    actual, expected = gemm("gemm_nn_c2", (256, 256, 128), 2, mended)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("pattern", "replacement", "report"),
    [
        # Stages are released too early, or never.
        (r"mbarrier\.arrive\.shared\.b64", "//", "deadlock"),
        (r"wgmma\.wait_group\.sync\.aligned 1", "wgmma.wait_group.sync.aligned 3", "race"),
        (r"\tfence\.proxy\.async\.shared::cta;", "", "no fence.proxy.async in between"),
        (r"49152", "49168", "deadlock"),
        (r"49152", "32768", "16384 bytes too many"),
        (r"cp\.async\.bulk\.wait_group\.read \t1", "cp.async.bulk.wait_group.read \t2", "race"),
        (r"bar\.sync \t(%r\d+), 128", r"bar.sync \t\1, 256", "deadlock"),
    ],
)
def test_mistakes_in_a_gemm(pattern: str, replacement: str, report: str) -> None:
    ptx, count = re.subn(pattern, replacement, text("gemm_nt_c1"))
    assert count
    with pytest.raises(UserError) as caught:
        gemm("gemm_nt_c1", (128, 256, 328), 1, ptx)
    assert report in caught.value.render()
