"""How fast the PTX emulator is: thread-instructions in a second, and a step of a wgmma loop.

python benchmarks/ptxsim.py [repetitions]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.ptxsim import Counters, Module
from tilewright.ptxsim.tensor_map import TensorMap

PTX = Path(__file__).parents[1] / "tests" / "ptx"
Array = np.ndarray[Any, np.dtype[Any]]


def load(name: str) -> Module:
    """A module of the tests."""
    return Module((PTX / f"{name}.ptx").read_text(), f"{name}.ptx")


def best(action: Callable[[], Counters], times: int) -> tuple[float, Counters]:
    """The least time, and what was done in it."""
    counters = action()
    found = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        counters = action()
        found = min(found, time.perf_counter() - start)
    return found, counters


def rate(title: str, action: Callable[[bool], Counters], times: int) -> None:
    """Print thread-instructions a second, without checks and with them."""
    figures: list[str] = []
    for check in (False, True):
        seconds, counters = best(lambda check=check: action(check), times)
        figures.append(f"{counters.thread_instructions / seconds / 1e6:8.1f} M/s")
        count = counters.thread_instructions
    print(f"{title:<34}{count:>12,} thread-instructions {figures[0]}, checked {figures[1]}")


def elementwise(times: int) -> None:
    """`y = a x + y`, and a polynomial of many terms."""
    module = load("basics")
    n = 1 << 20
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    buffers = [module.upload(x), module.upload(y)]
    rate(
        "saxpy, 1 Mi elements",
        lambda check: module.launch("saxpy", n // 256, 256, [*buffers, 2.0, n], check=check),
        times,
    )
    numbers = load("numbers")
    image = numbers.upload(np.zeros(128 * 128, np.int32))
    args = [image, 128, 128, 40]
    rate(
        "mandelbrot, 128 x 128",
        lambda check: numbers.launch("mandelbrot", 64, 256, args, check=check),
        times,
    )


def mma_sync(times: int) -> None:
    """A product by ldmatrix and mma.m16n8k16."""
    module = load("tensor_cores")
    m, n, k = 256, 256, 256
    a, b = (np.ones((m, k), np.float16) for _ in range(2))
    buffers = [module.upload(a), module.upload(b), module.upload(np.zeros((m, n), np.float32))]
    grid = (n // 16, m // 16)
    rate(
        "mma.sync GEMM, 256 x 256 x 256",
        lambda check: module.launch("mma_f16", grid, 32, [*buffers, n, k], check=check),
        times,
    )


def wgmma(times: int) -> None:
    """A CTA of the Hopper GEMM: what one more slice of 64 costs."""
    module = load("gemm_nt_c1")
    seconds: dict[bool, list[float]] = {}
    for check in (False, True):
        seconds[check] = []
        for k in (64, 64 * 9):
            action = _gemm(module, k, check)
            elapsed, counters = best(action, times)
            seconds[check].append(elapsed)
            instructions = counters.thread_instructions
    plain, checked = ((long - short) / 8 * 1e3 for short, long in seconds.values())
    whole = seconds[False][1]
    print(
        f"{'wgmma step, 128 x 256 x 64':<34}{plain:8.1f} ms, checked {checked:.1f} ms "
        f"({instructions:,} thread-instructions for 9 steps, {instructions / whole / 1e6:.2f} M/s)"
    )


def _gemm(module: Module, k: int, check: bool) -> Callable[[], Counters]:
    m, n = 128, 256
    one = np.uint16(0x3F80)
    left = module.upload(np.full((m, k), one), "A")
    right = module.upload(np.full((n, k), one), "B")
    result = module.alloc(2 * m * n, "C")
    maps = (
        TensorMap(int(left), "bf16", (k, m), (2 * k,), (64, 128), swizzle=128),
        TensorMap(int(right), "bf16", (k, n), (2 * k,), (64, 256), swizzle=128),
        TensorMap(int(result), "bf16", (n, m), (2 * n,), (64, 64), swizzle=128),
    )
    args = [*map(bytes, maps), m, n, k]
    return lambda: module.launch("gemm_nt_c1", 1, 384, args, shared=229440, check=check)


def main() -> int:
    """Run all."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for part in (elementwise, mma_sync, wgmma):
        part(times)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
