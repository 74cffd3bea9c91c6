"""Time the two kernels of cuTile's fused mixture of experts on a GPU, without the host's work.

    python benchmarks/moe_kernels.py FOLDER

FOLDER is the folder `test` of a cuTile Python checkout; the compiler is the `tileiras` on the PATH.
cuTile's own benchmark assigns tokens to experts on the host for every run, which takes most of its
time. Here only `fused_moe_kernel` is timed, as it is launched for the first and for the second
GEMM: medians of CUDA graphs of 20 launches.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from cuda_graphs import median_us

SHAPES: Final = ((110, 1024, 16, 512, 4), (256, 2048, 1408, 32, 6))
"""Tokens, hidden size, experts, intermediate size and experts for each token."""
TILE: Final = (128, 128, 64)


def main() -> int:
    """Time each shape and element type."""
    sys.path.insert(0, sys.argv[1])
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    for shape in SHAPES:
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            first, second = times(torch, shape, dtype)
            name = f"{'-'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}"
            print(f"{name}: first GEMM {first:.1f} us, second GEMM {second:.1f} us", flush=True)
    return 0


def times(torch: Any, shape: tuple[int, ...], dtype: Any) -> tuple[float, float]:
    """The times of both GEMMs in microseconds."""
    from bench_moe import invoke_fused_moe_kernel  # noqa: PLC0415
    from kernels.fused_moe import moe_align_tile_size_torch  # noqa: PLC0415

    tokens, hidden, experts, intermediate, topk = shape

    def random(*sizes: int) -> Any:
        return torch.empty(sizes, device="cuda", dtype=dtype).normal_(0, 0.1)

    chosen = [torch.randperm(experts, device="cuda")[:topk] for _ in range(tokens)]
    weights = random(tokens, topk)
    order = moe_align_tile_size_torch(torch.stack(chosen), TILE[0], experts)

    def gemm(a: Any, b: Any, c: Any, *, last: bool) -> float:
        replicas = 1 if last else topk
        arguments = (a, b, c, weights, *order, last, replicas, *TILE)
        return median_us(torch, lambda: invoke_fused_moe_kernel(*arguments))

    first = random(tokens, topk, intermediate * 2)
    second = random(tokens, topk, hidden)
    return (
        gemm(random(tokens, hidden), random(experts, intermediate * 2, hidden), first, last=False),
        gemm(
            random(tokens * topk, intermediate),
            random(experts, hidden, intermediate),
            second,
            last=True,
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
