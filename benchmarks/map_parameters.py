"""Time GEMMs on a GPU whose tensor maps the kernel encodes, and ones that get them as parameters.

    python benchmarks/map_parameters.py [--shapes 8192x8192x8192] [--tiles 128x256x64]

compiles a persistent kernel and one whose blocks compute one tile, in f16, each as a
warp-specialized kernel with its own maps (`kernel`), with maps of the launcher (`parameters`), with
such maps that promote L2 accesses to 128 or 256 bytes, and with copies by cp.async instead. All run
through `tilewright.launch`. Prints medians of CUDA graphs of 20 launches, what the host spends on a
launch, and the largest difference from torch. It needs an H100 or H200, torch and cuda.bindings.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from cuda_graphs import median_us

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "src")]

import tilewright  # noqa: E402
from tilewright.driver.launch import Plan  # noqa: E402
from tilewright.driver.map_parameters import MapArguments  # noqa: E402
from tilewright.runtime.tensor_maps import encode_map  # noqa: E402
from tilewright.support.tensor_map_parameters import KERNEL, PARAMETERS  # noqa: E402

SHAPES: Final = ("8192x8192x8192", "12288x4096x2560", "2048x2048x2048", "1024x1024x1024")
TILES: Final = ("128x256x64", "128x128x64")
ENTRY: Final = "gemm"
GROUPED_ROWS: Final = 8
"""Tiles of C in a column that consecutive blocks compute, so that they share operands in L2."""
HOST_LAUNCHES: Final = 200


class Variant(NamedTuple):
    """How a kernel is compiled and launched."""

    name: str
    agents: int
    tensor_maps: str = KERNEL
    l2_promotion: int = 0


VARIANTS: Final = (
    Variant("cp.async", 0),
    Variant("kernel", 1),
    Variant("parameters", 1, PARAMETERS),
    Variant("parameters, L2 128", 1, PARAMETERS, 128),
    Variant("parameters, L2 256", 1, PARAMETERS, 256),
)


def program(m: int, n: int, k: int, *, persistent: bool) -> str:
    """A GEMM of row-major f16 matrices, with tiles of m x n x k, that accumulates in f32."""

    def view(rows: int, columns: int, padding: str = ", padding_value = zero") -> str:
        tensor = "tensor_view<?x?xf16, strides=[?,1]>"
        return f"!cuda_tile.partition_view<tile=({rows}x{columns}){padding}, {tensor}>"

    body = f"""
      %in_group = muli %across, %group : tile<i32>
      %number = divi %t, %in_group signed : tile<i32>
      %first = muli %number, %group : tile<i32>
      %left = subi %down, %first : tile<i32>
      %height = mini %left, %group signed : tile<i32>
      %within = remi %t, %in_group signed : tile<i32>
      %row = remi %within, %height signed : tile<i32>
      %i = addi %first, %row : tile<i32>
      %j = divi %within, %height signed : tile<i32>
      %sum = for %p in (%zero to %steps, step %one) : tile<i32>
          iter_values(%acc = %none) -> (tile<{m}x{n}xf32>) {{
        %u, %t0 = load_view_tko weak %av[%i, %p] : !a, tile<i32> -> tile<{m}x{k}xf16>, token
        %v, %t1 = load_view_tko weak %bv[%p, %j] : !b, tile<i32> -> tile<{k}x{n}xf16>, token
        %next = mmaf %u, %v, %acc : tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, tile<{m}x{n}xf32>
        continue %next : tile<{m}x{n}xf32>
      }}
      %narrow = ftof %sum : tile<{m}x{n}xf32> -> tile<{m}x{n}xf16>
      %t2 = store_view_tko weak %narrow, %cv[%i, %j]
        : tile<{m}x{n}xf16>, !c, tile<i32> -> token"""
    if persistent:
        loop = "for %t in (%block to %tiles, step %blocks) : tile<i32>"
        body = f"    {loop} {{{body}\n      continue\n    }}"
    else:
        body = body.replace("%t,", "%block,")
    return f"""
!tensor = !cuda_tile.tensor_view<?x?xf16, strides=[?,1]>
!a = {view(m, k)}
!b = {view(k, n)}
!c = {view(m, n, "")}
cuda_tile.module @kernels {{
  entry @{ENTRY}(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>,
      %m: tile<i32>, %n0: tile<i32>, %k0: tile<i32>) {{
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f16>>
    %n = assume div_by<16>, %n0 : tile<i32>
    %k = assume div_by<16>, %k0 : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> !tensor
    %bt = make_tensor_view %pb, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> !tensor
    %ct = make_tensor_view %pc, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> !tensor
    %av = make_partition_view %at : !a
    %bv = make_partition_view %bt : !b
    %cv = make_partition_view %ct : !c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %group = constant <i32: {GROUPED_ROWS}> : tile<i32>
    %tm = constant <i32: {m}> : tile<i32>
    %tn = constant <i32: {n}> : tile<i32>
    %tk = constant <i32: {k}> : tile<i32>
    %none = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %down = divi %m, %tm signed rounding<positive_inf> : tile<i32>
    %across = divi %n, %tn signed rounding<positive_inf> : tile<i32>
    %steps = divi %k, %tk signed rounding<positive_inf> : tile<i32>
    %tiles = muli %down, %across : tile<i32>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
{body}
    return
  }}
}}"""


def compiled(text: str, variant: Variant) -> tilewright.CompiledModule:
    """Compile a kernel as a variant says."""
    kernel = tilewright.compile(
        text, "sm_90", schedule=f"agents={variant.agents}", tensor_maps=variant.tensor_maps
    )
    if bool(kernel.map_parameters) != (variant.tensor_maps == PARAMETERS):
        raise RuntimeError(f"expected other tensor maps, got {kernel.map_parameters}")
    plan = Plan.of(kernel, ENTRY)
    maps = plan.map_arguments.maps
    promoting = [map._replace(l2_promotion=variant.l2_promotion) for map in maps]
    plan.map_arguments = MapArguments(promoting, plan.signature, encode_map)
    kernel.plans[ENTRY] = plan
    return kernel


class Case:
    """Matrices, and the time of torch on them."""

    def __init__(self, torch: Any, shape: tuple[int, ...]) -> None:
        m, n, k = shape
        make = {"dtype": torch.float16, "device": "cuda"}
        self.torch, self.shape = torch, shape
        self.a, self.b = (torch.rand(size, **make) - 0.5 for size in ((m, k), (k, n)))
        self.c = torch.zeros((m, n), **make)
        self.expected = torch.matmul(self.a, self.b).float()
        out = torch.empty_like(self.c)
        self.theirs = median_us(torch, lambda: torch.matmul(self.a, self.b, out=out))

    def time(self, name: str, kernel: tilewright.CompiledModule, blocks: int) -> None:
        """Time a kernel, and compare its result with that of torch."""
        arguments = [self.a, self.b, self.c, *self.shape]

        def launch() -> None:
            tilewright.launch(kernel, ENTRY, blocks, arguments)

        self.c.zero_()
        launch()
        difference = (self.c.float() - self.expected).abs().max().item()
        ours = median_us(self.torch, launch)
        start = time.perf_counter()
        for _ in range(HOST_LAUNCHES):
            launch()
        host = (time.perf_counter() - start) / HOST_LAUNCHES * 1e6
        self.torch.cuda.synchronize()
        m, n, k = self.shape
        speed = f"{2 * m * n * k / ours / 1e6:.0f} TFLOP/s, {self.theirs / ours:.3f} of torch"
        note = f"host at most {host:.0f} us a launch, differs by {difference:.3g}"
        print(f"{name} {ours:.2f} us {speed}, {note}", flush=True)


def sizes(text: str) -> tuple[int, ...]:
    """The three sizes of MxNxK."""
    return tuple(map(int, text.split("x")))


def main() -> int:
    """Time every variant of every tile on every shape."""
    parser = argparse.ArgumentParser(
        description="Time GEMMs with tensor maps of the kernel and of the launcher."
    )
    parser.add_argument("--shapes", nargs="+", default=SHAPES, help="MxNxK")
    parser.add_argument("--tiles", nargs="+", default=TILES, help="MxNxK")
    arguments = parser.parse_args()
    torch: Any = importlib.import_module("torch")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    kernels = {
        (tile, persistent, variant): compiled(program(*sizes(tile), persistent=persistent), variant)
        for tile, persistent, variant in product(arguments.tiles, (True, False), VARIANTS)
    }
    for shape in arguments.shapes:
        case = Case(torch, sizes(shape))
        print(f"f16 {shape} torch {case.theirs:.2f} us", flush=True)
        for (tile, persistent, variant), kernel in kernels.items():
            blocks = 1
            for extent, size in zip(sizes(shape)[:2], sizes(tile), strict=False):
                blocks *= -(-extent // size)
            form = "persistent" if persistent else "one tile"
            grid = min(blocks, processors) if persistent else blocks
            case.time(f"f16 {shape} {tile} {form} ({variant.name})", kernel, grid)
    return 0


if __name__ == "__main__":
    sys.exit(main())
