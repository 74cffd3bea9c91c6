"""The launches of cuTile's benchmarks and of `rows/`, with arrays that need neither GPU nor torch.

Shapes, element types and constants are those of the rows that `cutile_rows.py` times; tiles and
hints are those of each file of `benchmarks/tiles/` and of the one that NVIDIA's compiler prefers.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import cuda.tile as ct
from variant_arrays import UnfilledArrays
from variant_sizes import Shape

TILES: Final = Path(__file__).parent / "tiles"
ROWS: Final = Path(__file__).parent / "rows"
TUNED: Final = "h200-tuning.json"
"""The tiles that NVIDIA's compiler prefers, beside cuTile's checkout."""
SHORT: Final = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
}
EPS: Final = 1e-5

Config = Mapping[str, int]


class Row(NamedTuple):
    """One kernel of a row, with the arguments of its launch."""

    name: str
    kernel: Any
    arguments: Sequence[Any]


class StandIn(ModuleType):
    """A module instead of torch, whose element types are those of cuTile."""

    def __getattr__(self, name: str) -> Any:
        """A type of cuTile, or any class for an annotation."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(ct, name, object)


class Benchmarks:
    """The kernels of a checkout of cuTile Python, and tiles for them."""

    def __init__(self, folder: Path) -> None:
        sys.modules.setdefault("torch", StandIn("torch"))
        sys.path.append(str(folder / "cutile" / "test"))
        self._tiles = [json.loads(path.read_text()) for path in sorted(TILES.glob("*.json"))]
        self._tiles.append(json.loads((folder / TUNED).read_text()))
        self._arrays = UnfilledArrays()

    def kernel(self, module: str, name: str) -> Any:
        """A kernel of cuTile's tests."""
        return getattr(importlib.import_module(f"kernels.{module}"), name)

    def array(self, dtype: str, *shape: int) -> Any:
        """An array that is never written to."""
        return self._arrays.zeros(*shape, dtype=dtype)

    def configs(self, benchmark: str, **parameters: Any) -> list[Config]:
        """The distinct tiles and hints of a benchmark."""
        chosen: list[Config] = []
        for tiles in self._tiles:
            for entries in tiles["gpus"].values():
                for entry in entries.get(benchmark, ()):
                    if entry["params"] == parameters and entry["config"] not in chosen:
                        chosen.append(entry["config"])
        return chosen


def label(*parts: object) -> str:
    """The name of a row: extents, an element type, and tiles with hints."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Mapping):
            texts += (f"{key}{value}" for key, value in part.items())
        elif isinstance(part, tuple):
            texts.append("x".join(map(str, part)))
        else:
            texts.append(SHORT.get(str(part), str(part)))
    return "-".join(texts)


def all_rows(folder: Path) -> Iterator[Row]:
    """All rows, with the checkout of cuTile that `cutile_rows.py` runs."""
    benchmarks = Benchmarks(folder)
    for rows in (attention, gemms, split_k, scaled, layer_norm, rms_norm, transpose, vec_add):
        yield from rows(benchmarks)
    yield from fft(benchmarks)
    yield from experts(benchmarks)
    yield from reductions(benchmarks)


def attention(given: Benchmarks) -> Iterator[Row]:
    """`bench_attention.py`: prefill and decode, with and without groups of queries."""
    kernel = given.kernel("attention", "fmha_kernel")
    shapes = [(1, 1024, 1024), (1, 8192, 8192), (1, 1, 1024), (8, 1, 1024)]
    for batch, queries, keys in shapes:
        causal = queries == keys
        for config in given.configs("fmha", is_causal=causal):
            tile_m, tile_n = config["tile_m"], config["tile_n"]
            hinted = kernel.replace_hints(occupancy=config["occupancy"])
            for heads, dtype in (
                (32, "float16"),
                (32, "bfloat16"),
                (8, "float16"),
                (8, "bfloat16"),
            ):
                q, out = (given.array(dtype, batch, 32, queries, 128) for _ in range(2))
                k, v = (given.array(dtype, batch, heads, keys, 128) for _ in range(2))
                constants = (128, 32, tile_m, tile_n, 32 // heads, causal, keys % tile_n == 0)
                position = 0 if causal else keys - 1
                scale = 1 / math.sqrt(128)
                yield Row(
                    label("fmha", (batch, 32, heads, queries, keys, 128), dtype, config),
                    hinted,
                    (q, k, v, out, scale, position, *constants),
                )


def gemms(given: Benchmarks) -> Iterator[Row]:
    """`bench_matmul.py`: plain, persistent and batched GEMMs."""
    plain = [(1024, 1024, 1024), (8192, 8192, 8192), (12288, 4096, 2560)]
    batched = [(2, 1024, 1024, 1024), (4, 8192, 8192, 2000), (8, 12288, 4096, 2560)]
    types = ("float16", "float32")
    cases = (
        ("matmul", plain, types),
        ("persistent_matmul", plain, types),
        ("batch_matmul", batched, ("float8_e4m3fn", "float8_e5m2")),
    )
    for name, shapes, dtypes in cases:
        kernel = given.kernel("matmul", f"{name}_kernel")
        for config in given.configs(name):
            hinted = kernel.replace_hints(num_ctas=config["num_ctas"])
            tile = (config["tm"], config["tn"], config["tk"])
            for dtype in dtypes:
                result = "float32" if name == "batch_matmul" else dtype
                for *batch, m, n, k in shapes:
                    a, b = given.array(dtype, *batch, m, k), given.array(dtype, *batch, k, n)
                    c = given.array(result, *batch, m, n)
                    yield Row(
                        label(name, (*batch, m, n, k), dtype, config), hinted, (a, b, c, *tile)
                    )


def split_k(given: Benchmarks) -> Iterator[Row]:
    """`bench_matmul.py`: GEMMs whose K is split."""
    kernel = given.kernel("matmul", "matmul_split_k_kernel")
    for config in given.configs("matmul_split_k"):
        for dtype in ("float16", "float32"):
            for m, n, k in ((256, 256, 4096), (128, 128, 8192)):
                arrays = [given.array(dtype, *shape) for shape in ((m, k), (k, n), (m, n))]
                locks, counts = (given.array("int32", m * n // 2048) for _ in range(2))
                constants = [config[key] for key in ("tm", "tn", "tk", "split_k")]
                yield Row(
                    label("matmul_split_k", (m, n, k), dtype, config),
                    kernel,
                    (*arrays, locks, counts, *constants),
                )


def scaled(given: Benchmarks) -> Iterator[Row]:
    """`bench_matmul.py`: GEMMs with scales of 32 elements in the order of tensor memory."""
    kernel = given.kernel("scaled_matmul", "block_scaled_matmul_kernel")
    for config in given.configs("swizzled_scaled_matmul"):
        hinted = kernel.replace_hints(num_ctas=config["num_ctas"])
        for m, n, k in ((1024, 1024, 1024), (8192, 8192, 8192), (12288, 4096, 2560)):
            a = given.array("float8_e4m3fn", m, k)
            b = given.array("float8_e4m3fn", n, k).T
            scales = [given.array("float8_e8m0fnu", e // 128, k // 128, 32, 16) for e in (m, n)]
            c = given.array("float32", m, n)
            tile = (config["tm"], config["tn"], config["tk"])
            yield Row(
                label("swizzled_scaled_matmul", (m, n, k), config),
                hinted,
                (a, scales[0], b, scales[1], c, *tile, 32),
            )


def layer_norm(given: Benchmarks) -> Iterator[Row]:
    """`bench_layer_norm.py`: forward and backward."""
    forward = given.kernel("layer_norm", "layer_norm_fwd")
    backward = given.kernel("layer_norm", "layer_norm_bwd_dx_partial_dwdb")
    last = given.kernel("layer_norm", "layer_norm_bwd_dwdb")
    for m, n in ((128, 512), (100, 250), (1000, 4000), (2048, 8192), (65536, 16384)):
        for dtype in ("bfloat16", "float32"):
            x, y, dy = (given.array(dtype, m, n) for _ in range(3))
            weight, bias = (given.array(dtype, n) for _ in range(2))
            mean, rstd = (given.array("float32", m) for _ in range(2))
            dw, db = (given.array("float32", 64, n) for _ in range(2))
            locks = given.array("int32", 64)
            row = partial(label, "layer_norm")
            yield Row(
                row("forward", (m, n), dtype), forward, (x, weight, bias, y, mean, rstd, EPS, 1024)
            )
            yield Row(
                row("backward", (m, n), dtype),
                backward,
                (y, dy, dw, db, x, weight, mean, rstd, locks, 1024),
            )
            yield Row(row("backward-last", (m, n), dtype), last, (dw, db, weight, bias, 32, 1024))


def rms_norm(given: Benchmarks) -> Iterator[Row]:
    """`bench_rms_norm.py`: three algorithms."""
    kernels = {
        "persistent": given.kernel("rms_norm", "rms_norm_kernel_static_persistent"),
        "gather": given.kernel("rms_norm", "rms_norm_kernel_gather"),
        "regular": given.kernel("rms_norm", "rms_norm_kernel"),
    }
    m = 65536
    for name, kernel in kernels.items():
        for n in (1024, 2048, 4096):
            for dtype in ("float16", "float32", "bfloat16"):
                x, y = (given.array(dtype, m, n) for _ in range(2))
                weight, rstd = given.array(dtype, n), given.array("float32", m)
                for config in given.configs("rms_norm", algo=name, shape=[m, n], dtype=dtype):
                    row = label("rms_norm", name, (m, n), dtype, config)
                    if name == "persistent":
                        tile = (config["tile_size_m"], config["tile_size_n"])
                        yield Row(row, kernel, (x, y, weight, *tile, n, EPS))
                        continue
                    hinted = kernel.replace_hints(num_worker_warps=config["num_worker_warps"])
                    yield Row(row, hinted, (x, weight, y, rstd, n, EPS, config["tile_size"]))


def transpose(given: Benchmarks) -> Iterator[Row]:
    """`bench_transpose.py`."""
    kernel = given.kernel("transpose", "transpose_kernel")
    for config in given.configs("transpose"):
        for dtype in ("float16", "float32"):
            for m, n in ((1024, 1024), (2048, 8000), (12288, 4096)):
                arrays = (given.array(dtype, m, n), given.array(dtype, n, m))
                yield Row(
                    label("transpose", (m, n), dtype, config),
                    kernel,
                    (*arrays, config["tm"], config["tn"]),
                )


def vec_add(given: Benchmarks) -> Iterator[Row]:
    """`bench_vec_add.py`: one and two dimensions, by views and by gathers."""
    million = 1 << 20
    shapes: list[Shape] = [(32 * million,), (128 * million,), (1024 * million,)]
    shapes += [(million, 32), (2 * million, 16), (million, 128), (4 * million, 32)]
    shapes += [(million, 1024), (8 * million, 128), (32 * million, 32)]
    for way, suffix in (("load", ""), ("gather", "_gather")):
        for shape in shapes:
            kernel = given.kernel("vec_add", f"vec_add_kernel_{len(shape)}d{suffix}")
            columns = min(1024, shape[-1])
            tile = (columns,) if len(shape) == 1 else (1024 // columns, columns)
            for dtype in ("float16", "float32"):
                arrays = [given.array(dtype, *shape) for _ in range(3)]
                yield Row(label("vec_add", way, shape, dtype), kernel, (*arrays, *tile))


def fft(given: Benchmarks) -> Iterator[Row]:
    """`bench_fft.py`: complex numbers of two f16 and of two f32."""
    kernel = given.kernel("fft", "fft_kernel")
    batch, radix = 16384, 16
    length, last = radix**3, 64
    for dtype in ("float16", "float32"):
        signals = [given.array(dtype, batch, length * 2 // last, last) for _ in range(2)]
        shapes = [(radix, radix, 2)] * 3 + [(radix, radix**2, 2), (radix, radix, 2)]
        tables = [given.array(dtype, *shape) for shape in shapes]
        constants = (length, radix, radix, radix, 2, last)
        yield Row(label("fft", (batch, length), dtype), kernel, (*signals, *tables, *constants))


def experts(given: Benchmarks) -> Iterator[Row]:
    """`bench_moe.py`: both GEMMs over experts, and what lies between.

    Tiles of 128 rows: all 16 experts of the first shape have one, of the second about 935 of 1,408.
    """
    gemm = given.kernel("fused_moe", "fused_moe_kernel")
    silu = given.kernel("fused_moe", "silu_and_mul_kernel")
    shapes = ((110, 1024, 16, 512, 4, 16), (256, 2048, 1408, 32, 6, 935))
    for tokens, hidden, count, inner, topk, tiles in shapes:
        rows = tokens * topk
        for dtype in ("float16", "bfloat16", "float32"):
            weights = given.array(dtype, rows)
            order = (weights, given.array("int32", tiles * 128), given.array("int32", tiles))
            between = given.array(dtype, rows, inner * 2)
            activated = given.array(dtype, rows, inner)
            row = partial(label, "moe")
            shape = (tokens, hidden, count, inner, topk)
            first = (
                given.array(dtype, tokens, hidden),
                given.array(dtype, count, inner * 2, hidden),
            )
            yield Row(
                row("first", shape, dtype),
                gemm,
                (*first, between, *order, topk, False, 128, 128, 64),
            )
            parts = (between[:, :inner], between[:, inner:])
            yield Row(row("silu", shape, dtype), silu, (*parts, activated, inner))
            second = (activated, given.array(dtype, count, hidden, inner))
            result = given.array(dtype, rows, hidden)
            yield Row(
                row("second", shape, dtype), gemm, (*second, result, *order, 1, True, 128, 128, 64)
            )


def reductions(given: Benchmarks) -> Iterator[Row]:
    """`rows/bench_reductions.py`: integer reductions, and reductions into views."""
    # Before the copy that a GPU machine has beside cuTile's benchmarks.
    sys.path.insert(0, str(ROWS))
    rows = importlib.import_module("bench_reductions")
    for columns in (256, 1024, 4096):
        arrays = (given.array("int32", 65536, columns), given.array("int32", 65536))
        yield Row(label("reduce_rows", (columns,)), rows.reduce_rows, (*arrays, columns))
    for size in (512, 2048):
        for k in (1024, 8192):
            a, b = given.array("float16", size, k), given.array("float16", k, size)
            c = given.array("float32", size, size)
            yield Row(
                label("split_gemm", (size, size, k)), rows.split_gemm, (a, b, c, 128, 128, 64, 4)
            )
