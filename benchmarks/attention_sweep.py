"""Time cuTile's attention kernel on a GPU for several tiles and forced schedules, beside torch.

    python benchmarks/attention_sweep.py FOLDER [--dtype bf16] [--schedule rotate=0]

FOLDER is the folder `test` of a cuTile Python checkout. The compiler is the `tileiras` on the PATH:
ours, or NVIDIA's, which ignores schedules. Each schedule runs in a process of its own, without
caches. A shape is BATCHxHEADSxKV_HEADSxQUERIESxKEYS, with a causal mask if there are as many keys
as queries, unless `--full`; a tile is ROWSxKEYSxOCCUPANCY. Prints medians of CUDA graphs of 20
launches, and the largest difference from torch (cuDNN's attention).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

from cuda_graphs import median_us
from fresh_caches import run_children, schedule_label

SHAPES: Final = ("1x32x32x8192x8192", "1x32x8x8192x8192", "1x32x32x1024x1024")
TILES: Final = ("128x128x1", "64x128x2", "128x64x1")
TYPES: Final = {"f16": "float16", "bf16": "bfloat16"}
HEAD: Final = 128


class Shape(NamedTuple):
    """The sizes of an attention."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int


def main() -> int:
    """Run the sweep; in a child process, that of one schedule."""
    parser = argparse.ArgumentParser(description="Time cuTile's attention kernel on a GPU.")
    parser.add_argument("folder", help="the folder `test` of a cuTile Python checkout")
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--dtype", choices=TYPES, default="f16")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--tiles", nargs="+", default=TILES)
    parser.add_argument("--head", type=int, default=HEAD, help="the size of a head")
    parser.add_argument("--full", action="store_true", help="without a mask")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.child:
        run_children(arguments.schedule or [""])
        return 0
    sys.path.insert(0, arguments.folder)
    tiles = [sizes(tile) for tile in arguments.tiles]
    for shape in arguments.shapes:
        case = Shape(*sizes(shape))
        causal = case.queries == case.keys and not arguments.full
        sweep(case, arguments.dtype, arguments.head, tiles, causal=causal)
    return 0


def sizes(text: str) -> tuple[int, ...]:
    """The numbers of AxBxC."""
    return tuple(map(int, text.split("x")))


def sweep(
    shape: Shape, dtype: str, head: int, tiles: Sequence[tuple[int, ...]], *, causal: bool
) -> None:
    """Time every tile on a shape."""
    import cuda.tile as ct  # noqa: PLC0415
    import torch  # noqa: PLC0415
    from kernels.attention import fmha_kernel  # noqa: PLC0415

    batch, heads, kv_heads, queries, keys = shape
    kind = getattr(torch, TYPES[dtype])
    q = torch.randn((batch, heads, queries, head), dtype=kind, device="cuda")
    k, v = (torch.randn((batch, kv_heads, keys, head), dtype=kind, device="cuda") for _ in "kv")
    out = torch.empty_like(q)
    attend = torch_attention(torch, q, k, v, causal=causal)
    expected, theirs = attend().float(), median_us(torch, attend)
    flop = 4 * batch * heads * queries * keys * head / (2 if causal else 1)
    name = f"{dtype} {'x'.join(map(str, shape))}x{head} {'causal' if causal else 'full'}"
    print(f"{name} torch {theirs:.1f} us {flop / theirs / 1e6:.0f} TFLOP/s", flush=True)
    for rows, columns, occupancy in tiles:
        kernel = fmha_kernel.replace_hints(occupancy=occupancy)
        grid = (-(-queries // rows), batch * heads, 1)
        position = 0 if queries == keys else keys - queries
        constants = (head, heads, rows, columns, heads // kv_heads, causal, keys % columns == 0)
        passed = (q, k, v, out, 1 / sqrt(head), position, *constants)

        def launch(kernel: Any = kernel, grid: Any = grid, passed: Any = passed) -> None:
            ct.launch(torch.cuda.current_stream(), grid, kernel, passed)

        case = f"{name} {rows}x{columns} occupancy {occupancy} ({schedule_label()})"
        try:
            launch()
        except ct.TileError as error:
            print(f"{case} rejected: {str(error).splitlines()[0]}", flush=True)
            continue
        difference = (out.float() - expected).abs().max().item()
        ours = median_us(torch, launch)
        speed = f"{flop / ours / 1e6:.0f} TFLOP/s, {theirs / ours:.2f} of torch"
        print(f"{case} {ours:.1f} us {speed}, differs by {difference:.2g}", flush=True)


def torch_attention(torch: Any, q: Any, k: Any, v: Any, *, causal: bool) -> Any:
    """The same attention by cuDNN; FlashAttention where there are fewer queries than keys."""
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415

    is_square = q.shape[2] == k.shape[2]
    backend = SDPBackend.CUDNN_ATTENTION if is_square else SDPBackend.FLASH_ATTENTION
    attention = torch.nn.functional.scaled_dot_product_attention

    def attend() -> Any:
        with sdpa_kernel(backend):
            return attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    return attend


if __name__ == "__main__":
    sys.exit(main())
