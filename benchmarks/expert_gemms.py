"""Time our GEMM kernels over experts on a GPU, beside torch.

    python benchmarks/expert_gemms.py [--dtype f16] [--schedule stages=4] [--tiles 128x256x64]

The compiler is the `tileiras` on the PATH. `grouped` is `grouped_gemm`, persistent, on rows that
are sorted already; `gather` is `gather_gemm`, which gathers the rows of A and multiplies the result
by routing weights. Both are checked against torch in f32. Tokens choose experts at random.

Prints medians of CUDA graphs of 20 launches. Rates count the rows that tokens have chosen, not
padding. torch's time, of the same type, is that of `torch._grouped_mm` where it has a kernel for it
(bf16, sm_90 and sm_100), else of a loop of `torch.matmul` over experts; beside `gather` it includes
the `index_select` of the rows of A, and leaves the routing weights out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import cuda.tile as ct
import numpy as np
from cuda_graphs import median_us
from fresh_caches import run_children, schedule_label
from gemm_kernels import gather_gemm, grouped_gemm
from gemm_sweep import rate, sizes
from routing import Array, Routing, route

TYPES: Final = {"f16": "float16", "bf16": "bfloat16"}
TILES: Final = ("128x128x64", "128x256x64")
GROUPED_MM_ARCHES: Final = (9, 10)
"""The major compute capabilities that `torch._grouped_mm` has a kernel for."""


class Layer(NamedTuple):
    """The first GEMM of a mixture of experts."""

    name: str
    experts: int
    k: int
    n: int
    tokens: int
    topk: int


LAYERS: Final = (
    Layer("mixtral", 8, 4096, 14336, 512, 2),
    Layer("mixtral", 8, 4096, 14336, 4096, 2),
    Layer("deepseek", 64, 2048, 1408, 1024, 6),
)


class Operands(NamedTuple):
    """What both kernels and torch multiply, on the GPU."""

    a: Any
    """Tokens by K."""
    b: Any
    """Experts by K by N."""
    b_k_contiguous: Any
    """Experts by N by K."""
    weights: Any
    """Of each choice of each token."""


def main() -> int:
    """Time each layer; in a child process, with one schedule."""
    parser = argparse.ArgumentParser(description="Time our GEMM kernels over experts on a GPU.")
    parser.add_argument(
        "--schedule", action="append", default=[], help="as for `tilewright compile`"
    )
    parser.add_argument("--dtype", choices=TYPES, nargs="+", default=tuple(TYPES))
    parser.add_argument("--tiles", nargs="+", default=TILES, help="MxNxK")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.child:
        run_children(arguments.schedule or [""])
        return 0
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    for layer in LAYERS:
        random = np.random.default_rng(0)
        chosen = random.random((layer.tokens, layer.experts)).argsort(axis=1)[:, : layer.topk]
        for dtype in arguments.dtype:
            time_layer(torch, layer, chosen, dtype, [sizes(each) for each in arguments.tiles])
    return 0


def time_layer(
    torch: Any, layer: Layer, chosen: Array, dtype: str, tiles: Sequence[tuple[int, ...]]
) -> None:
    """Time both kernels with every tile, and torch, on one layer; check their results."""
    kind = getattr(torch, TYPES[dtype])
    operands = random_operands(torch, layer, kind)
    rows = route(chosen, layer.experts, 1)
    by_expert = indices(torch, rows.tokens)
    expected = expert_gemm(torch, operands, rows)
    weighted = expected * operands.weights[by_expert, indices(torch, rows.choices)][:, None]
    bound = {"rtol": torch.finfo(kind).eps, "atol": torch.finfo(kind).eps, "check_dtype": False}
    reference, how = torch_gemm(torch, operands, rows)

    def gathered() -> None:
        reference(torch.index_select(operands.a, 0, by_expert))

    sorted_a = operands.a[by_expert]
    theirs = {
        "grouped": median_us(torch, lambda: reference(sorted_a)),
        "gather": median_us(torch, gathered),
    }
    for tile in tiles:
        routing = route(chosen, layer.experts, tile[0])
        launch, c = grouped(torch, sorted_a, operands, routing, tile)
        launch()
        torch.testing.assert_close(c, expected, **bound)
        ours = {"grouped": median_us(torch, launch)}
        launch, c = gather(torch, operands, routing, tile)
        launch()
        torch.testing.assert_close(c[indices(torch, routing.padded)], weighted, **bound)
        ours["gather"] = median_us(torch, launch)
        for name, time in ours.items():
            shape = f"{layer.experts}x{layer.k}x{layer.n} {layer.tokens} tokens top-{layer.topk}"
            case = f"{name} {layer.name} {shape} {dtype} {'x'.join(map(str, tile))}"
            speed = rate(len(rows.tokens), layer.n, layer.k, time)
            ratio = f"{theirs[name] / time:.2f} of torch ({how}, {theirs[name]:.1f} us)"
            print(f"{case} ({schedule_label()}) {time:.1f} us {speed}, {ratio}", flush=True)


def random_operands(torch: Any, layer: Layer, kind: Any) -> Operands:
    """Uniformly distributed elements."""

    def uniform(*shape: int) -> Any:
        return torch.rand(shape, device="cuda", dtype=kind) - 0.5

    b = uniform(layer.experts, layer.k, layer.n)
    weights = torch.rand((layer.tokens, layer.topk), device="cuda")
    return Operands(uniform(layer.tokens, layer.k), b, b.transpose(1, 2).contiguous(), weights)


def on_gpu(torch: Any, array: Array) -> Any:
    """A copy of an array on the GPU."""
    return torch.from_numpy(array).cuda()


def indices(torch: Any, array: Array) -> Any:
    """A copy of an array on the GPU that torch can index by."""
    return on_gpu(torch, array).long()


def grouped(
    torch: Any, a: Any, operands: Operands, routing: Routing, tile: tuple[int, ...]
) -> tuple[Callable[[], None], Any]:
    """A launch of `grouped_gemm`, one block for each SM, and its result."""
    c = torch.full((len(a), operands.b.shape[2]), torch.nan, dtype=a.dtype, device="cuda")
    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    arguments = (a, operands.b, on_gpu(torch, routing.offsets), c, *tile)
    grid = (blocks, 1, 1)
    return lambda: ct.launch(torch.cuda.current_stream(), grid, grouped_gemm, arguments), c


def gather(
    torch: Any, operands: Operands, routing: Routing, tile: tuple[int, ...]
) -> tuple[Callable[[], None], Any]:
    """A launch of `gather_gemm`, one block for each tile, and its result, with padding."""
    a, n = operands.a, operands.b.shape[2]
    rows = len(routing.padded_tokens)
    c = torch.full((rows, n), torch.nan, dtype=a.dtype, device="cuda")
    weights = torch.zeros(rows, device="cuda")
    tokens, choices = indices(torch, routing.tokens), indices(torch, routing.choices)
    weights[indices(torch, routing.padded)] = operands.weights[tokens, choices]
    order = (on_gpu(torch, routing.padded_tokens), on_gpu(torch, routing.tile_experts), weights)
    arguments = (a, operands.b_k_contiguous, *order, c, True, *tile)
    grid = (len(routing.tile_experts) * -(-n // tile[1]), 1, 1)
    return lambda: ct.launch(torch.cuda.current_stream(), grid, gather_gemm, arguments), c


def expert_gemm(torch: Any, operands: Operands, rows: Routing) -> Any:
    """The rows by expert, times the matrix of each, in f32."""
    a = operands.a[indices(torch, rows.tokens)].float()
    parts = [a[part] @ operands.b[expert].float() for expert, part in parts_of(rows)]
    return torch.cat(parts)


def parts_of(rows: Routing) -> list[tuple[int, slice]]:
    """Each expert that has rows, and which."""
    bounds = rows.offsets.tolist()
    parts = [slice(*each) for each in pairwise(bounds)]
    return [(expert, part) for expert, part in enumerate(parts) if part.start < part.stop]


def torch_gemm(
    torch: Any, operands: Operands, rows: Routing
) -> tuple[Callable[[Any], object], str]:
    """The same GEMM by torch, of rows by expert, and its name."""
    b = operands.b
    has_kernel = torch.cuda.get_device_capability()[0] in GROUPED_MM_ARCHES
    if has_kernel and b.dtype == torch.bfloat16 and hasattr(torch, "_grouped_mm"):
        ends = on_gpu(torch, rows.offsets[1:])
        return lambda a: torch._grouped_mm(a, b, offs=ends), "_grouped_mm"
    parts = parts_of(rows)
    c = torch.empty((len(rows.tokens), b.shape[2]), dtype=b.dtype, device="cuda")

    def loop(a: Any) -> None:
        for expert, part in parts:
            torch.matmul(a[part], b[expert], out=c[part])

    return loop, "loop of matmul"


if __name__ == "__main__":
    sys.exit(main())
