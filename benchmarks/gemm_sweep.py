"""Time cuTile's GEMM kernel on a GPU for several tiles and forced schedules, beside torch.

    python benchmarks/gemm_sweep.py FOLDER [--schedule stages=4] [--tiles 128x256x64] [--ctas 1 2]

FOLDER is the folder `test` of a cuTile Python checkout. The compiler is the `tileiras` on the PATH:
ours, or NVIDIA's, which ignores schedules. Each schedule runs in a process of its own, without
caches. Prints medians of CUDA graphs of 20 launches, and the largest difference from torch; a tile
that the compiler rejects is named as such. `--ctas` is the hint `num_ctas`, for each tile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from typing import Any, Final

from cuda_graphs import median_us

SHAPES: Final = ((8192, 8192, 8192), (12288, 4096, 2560), (1024, 1024, 1024))
TILES: Final = ("128x256x64", "256x128x64", "128x128x64", "128x128x32", "128x256x32", "128x128x128")
SCHEDULE: Final = "TILEWRIGHT_SCHEDULE"


def main() -> int:
    """Run the sweep; in a child process, that of one schedule."""
    parser = argparse.ArgumentParser(description="Time cuTile's GEMM kernel on a GPU.")
    parser.add_argument("folder", help="the folder `test` of a cuTile Python checkout")
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--dtype", choices=("f16", "bf16"), default="f16")
    parser.add_argument("--tiles", nargs="+", default=TILES, help="MxNxK")
    parser.add_argument("--ctas", type=int, nargs="+", default=(1,), help="the hint num_ctas")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sys.path.insert(0, arguments.folder)
        tiles = [tuple(map(int, each.split("x"))) for each in arguments.tiles]
        sweep(arguments.dtype, tiles, arguments.ctas)
        return 0
    for schedule in arguments.schedule or [""]:
        with tempfile.TemporaryDirectory() as cache:
            fresh = {"CUDA_TILE_CACHE_DIR": cache, "TILEWRIGHT_CACHE": "0", SCHEDULE: schedule}
            command = [sys.executable, *sys.argv, "--child"]
            subprocess.run(command, env={**os.environ, **fresh}, check=True)
    return 0


def sweep(dtype: str, tiles: Sequence[tuple[int, ...]], ctas: Sequence[int]) -> None:
    """Time every tile on every shape, with every number of CTAs."""
    import cuda.tile as ct  # noqa: PLC0415
    import torch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    from kernels.matmul import matmul_kernel  # noqa: PLC0415  # pyright: ignore

    kind = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    label = os.environ.get(SCHEDULE) or "chosen"
    for m, n, k in SHAPES:
        a = torch.rand((m, k), dtype=kind, device="cuda") - 0.5
        b = torch.rand((k, n), dtype=kind, device="cuda") - 0.5
        c = torch.zeros((m, n), dtype=kind, device="cuda")
        expected = (a @ b).float()
        theirs = median_us(torch, lambda a=a, b=b, c=c: torch.matmul(a, b, out=c))
        print(f"{m}x{n}x{k} torch {theirs:.1f} us {rate(m, n, k, theirs)}", flush=True)
        for (tm, tn, tk), count in product(tiles, ctas):
            grid = (-(-m // tm) * -(-n // tn), 1, 1)
            kernel = matmul_kernel.replace_hints(num_ctas=count) if count > 1 else matmul_kernel

            def launch(grid: Any = grid, kernel: Any = kernel, tile: Any = (tm, tn, tk)) -> None:
                stream = torch.cuda.current_stream()
                ct.launch(stream, grid, kernel, (a, b, c, *tile))  # noqa: B023

            case = f"{m}x{n}x{k} {tm}x{tn}x{tk} ctas={count} ({label})"
            c.zero_()
            try:
                launch()
            except ct.TileError as error:
                print(f"{case} rejected: {str(error).splitlines()[0]}", flush=True)
                continue
            difference = (c.float() - expected).abs().max().item()
            ours = median_us(torch, launch)
            speed = f"{rate(m, n, k, ours)}, {theirs / ours:.2f} of torch"
            print(f"{case} {ours:.1f} us {speed}, differs by {difference:.3g}", flush=True)


def rate(m: int, n: int, k: int, microseconds: float) -> str:
    """The speed of a GEMM."""
    return f"{2 * m * n * k / microseconds / 1e6:.0f} TFLOP/s"


if __name__ == "__main__":
    sys.exit(main())
