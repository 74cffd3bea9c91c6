"""Rows in the form of cuTile's benchmarks: integer reductions, and reductions into views.

Copy the file beside them (`.gpu/cutile/test`) to run it with `benchmarks/version_pairs.py`, which
lets it import the modules of `benchmarks/`.
"""

from __future__ import annotations

import cuda.tile as ct
import pytest
import torch
from gemm_kernels import split_gemm

ConstInt = ct.Constant[int]


@ct.kernel
def reduce_rows(x, out, columns: ConstInt):
    """The sum of each row."""
    tile = ct.load(x, (ct.bid(0), 0), (1, columns))
    ct.store(out, (ct.bid(0),), ct.sum(tile, axis=1))


@pytest.mark.parametrize("columns", [256, 1024, 4096])
def bench_reduce_rows_i32(columns, benchmark):
    """Integer additions over rows, which `redux.sync` computes."""
    x = torch.randint(-100, 100, (65536, columns), dtype=torch.int32, device="cuda")
    out = torch.zeros(65536, dtype=torch.int32, device="cuda")

    def run():
        ct.launch(torch.cuda.current_stream(), (65536,), reduce_rows, (x, out, columns))

    run()
    assert torch.equal(out, x.sum(1, dtype=torch.int32))
    benchmark.pedantic(run, (), cudagraph=True)


@pytest.mark.parametrize("k", [1024, 8192])
@pytest.mark.parametrize("size", [512, 2048])
def bench_split_gemm(size, k, benchmark):
    """Additions of f32 into a view."""
    a, b = (torch.randn(size, k, dtype=torch.float16, device="cuda") for _ in range(2))
    b = b.t().contiguous()
    c = torch.zeros(size, size, dtype=torch.float32, device="cuda")

    def run():
        arguments = (a, b, c, 128, 128, 64, 4)
        ct.launch(torch.cuda.current_stream(), (132,), split_gemm, arguments)

    run()
    torch.testing.assert_close(c, a.float() @ b.float(), atol=0.5, rtol=1e-2)
    benchmark.pedantic(run, (), cudagraph=True)
