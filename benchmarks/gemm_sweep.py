"""Time cuTile's GEMM kernel on a GPU for several tiles and forced schedules, beside torch.

    python benchmarks/gemm_sweep.py FOLDER [--dtype tf32] [--schedule stages=4] [--tiles 128x256x64]

FOLDER is the folder `test` of a cuTile Python checkout. The compiler is the `tileiras` on the PATH:
ours, or NVIDIA's, which ignores schedules. Each schedule runs in a process of its own, without
caches. Prints medians of CUDA graphs of 20 launches, and the largest difference from torch; a tile
that the compiler rejects is named as such. `--ctas` is the hint `num_ctas`, for each tile. Both
operands are row-major; for 8-bit types torch multiplies by a copy of B that is column-major, made
beforehand, since cuBLAS accepts no other. `--repeats` times torch and the kernel in turn, several
times, since large GEMMs lower the GPU's clock, and what ran before matters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import product
from statistics import median
from typing import Any, Final, NamedTuple

from cuda_graphs import median_us
from fresh_caches import run_children, schedule_label

SHAPES: Final = ("8192x8192x8192", "12288x4096x2560", "1024x1024x1024")
TILES: Final = ("128x256x64", "256x128x64", "128x128x64", "128x128x32", "128x256x32", "128x128x128")
TYPES: Final = {
    "f16": ("float16", "float16"),
    "bf16": ("bfloat16", "bfloat16"),
    "tf32": ("float32", "float32"),
    "e4m3": ("float8_e4m3fn", "float32"),
    "e5m2": ("float8_e5m2", "float32"),
    "int8": ("int8", "int32"),
}
"""The torch types of the operands and of the result."""


class Gemm(NamedTuple):
    """A kernel, and whether its blocks compute several tiles."""

    kernel: Any
    persistent: bool


def main() -> int:
    """Run the sweep; in a child process, that of one schedule."""
    parser = argparse.ArgumentParser(description="Time cuTile's GEMM kernel on a GPU.")
    parser.add_argument("folder", help="the folder `test` of a cuTile Python checkout")
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--dtype", choices=TYPES, default="f16")
    parser.add_argument("--shapes", nargs="+", default=SHAPES, help="MxNxK")
    parser.add_argument("--persistent", action="store_true", help="one block on each SM")
    parser.add_argument("--tiles", nargs="+", default=TILES, help="MxNxK")
    parser.add_argument("--ctas", type=int, nargs="+", default=(1,), help="the hint num_ctas")
    parser.add_argument("--repeats", type=int, default=0, help="times in turn with torch")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sys.path.insert(0, arguments.folder)
        shapes, tiles = (list(map(sizes, each)) for each in (arguments.shapes, arguments.tiles))
        kernel = gemm_kernel(arguments.dtype, persistent=arguments.persistent)
        sweep(arguments.dtype, kernel, shapes, tiles, arguments.ctas, arguments.repeats)
        return 0
    run_children(arguments.schedule or [""])
    return 0


def sizes(text: str) -> tuple[int, ...]:
    """The three sizes of MxNxK."""
    return tuple(map(int, text.split("x")))


def sweep(
    dtype: str,
    gemm: Gemm,
    shapes: Sequence[tuple[int, ...]],
    tiles: Sequence[tuple[int, ...]],
    ctas: Sequence[int],
    repeats: int,
) -> None:
    """Time every tile on every shape, with every number of CTAs."""
    import cuda.tile as ct  # noqa: PLC0415
    import torch  # noqa: PLC0415

    kind, result = (getattr(torch, each) for each in TYPES[dtype])
    torch.backends.cuda.matmul.allow_tf32 = True
    label = schedule_label()
    for m, n, k in shapes:
        a, b = (random(torch, each, kind) for each in ((m, k), (k, n)))
        c = torch.zeros((m, n), dtype=result, device="cuda")
        multiply = torch_gemm(torch, a, b, c)
        # cuBLAS may write to c itself.
        expected = multiply().float().clone()
        theirs = median_us(torch, multiply)
        print(f"{dtype} {m}x{n}x{k} torch {theirs:.1f} us {rate(m, n, k, theirs)}", flush=True)
        for (tm, tn, tk), count in product(tiles, ctas):
            blocks = -(-m // tm) * -(-n // tn)
            if gemm.persistent:
                processors = torch.cuda.get_device_properties(0).multi_processor_count
                blocks = min(blocks, processors // count)
            grid = (blocks, 1, 1)
            kernel = gemm.kernel.replace_hints(num_ctas=count) if count > 1 else gemm.kernel

            def launch(grid: Any = grid, kernel: Any = kernel, tile: Any = (tm, tn, tk)) -> None:
                stream = torch.cuda.current_stream()
                ct.launch(stream, grid, kernel, (a, b, c, *tile))  # noqa: B023

            case = f"{dtype} {m}x{n}x{k} {tm}x{tn}x{tk} ctas={count} ({label})"
            c.zero_()
            try:
                launch()
            except ct.TileError as error:
                print(f"{case} rejected: {str(error).splitlines()[0]}", flush=True)
                continue
            difference = (c.float() - expected).abs().max().item()
            ours = median_us(torch, launch)
            if repeats:
                theirs, ours = in_turn(torch, (multiply, launch), repeats)
                print(f"{case} in turn: torch {theirs:.1f} us", flush=True)
            speed = f"{rate(m, n, k, ours)}, {theirs / ours:.2f} of torch"
            print(f"{case} {ours:.1f} us {speed}, differs by {difference:.3g}", flush=True)


def in_turn(
    torch: Any, launches: Sequence[Callable[[], object]], repeats: int
) -> tuple[float, ...]:
    """The median time of each launch in microseconds, where they are timed in turn."""
    times = [[median_us(torch, launch) for launch in launches] for _ in range(repeats)]
    return tuple(median(each) for each in zip(*times, strict=True))


def gemm_kernel(dtype: str, *, persistent: bool) -> Gemm:
    """CuTile's kernels, which accumulate in f32; for 8-bit integers our own."""
    if dtype == "int8":
        from gemm_kernels import integer_gemm  # noqa: PLC0415

        return Gemm(integer_gemm, persistent=False)
    from kernels.matmul import matmul_kernel, persistent_matmul_kernel  # noqa: PLC0415

    return Gemm(persistent_matmul_kernel if persistent else matmul_kernel, persistent)


def random(torch: Any, shape: tuple[int, int], kind: Any) -> Any:
    """A matrix of uniformly distributed elements."""
    if kind == torch.int8:
        return torch.randint(-128, 128, shape, dtype=kind, device="cuda")
    return (torch.rand(shape, dtype=torch.float32, device="cuda") - 0.5).to(kind)


def torch_gemm(torch: Any, a: Any, b: Any, c: Any) -> Callable[[], Any]:
    """The same GEMM by cuBLAS, which has none of two e5m2 operands: B becomes e4m3."""
    if a.element_size() > 1:
        return lambda: torch.matmul(a, b, out=c)
    if a.dtype == torch.float8_e5m2:
        b = b.to(torch.float8_e4m3fn)
    column_major = b.t().contiguous().t()
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, column_major)
    one = torch.ones((), device="cuda")
    scaled = {"scale_a": one, "scale_b": one, "out_dtype": torch.float32}
    return lambda: torch._scaled_mm(a, column_major, **scaled)


def rate(m: int, n: int, k: int, microseconds: float) -> str:
    """The speed of a GEMM."""
    return f"{2 * m * n * k / microseconds / 1e6:.0f} TFLOP/s"


if __name__ == "__main__":
    sys.exit(main())
