"""Measure the PTX emulator: thread-instructions per second, and an iteration of a wgmma loop.

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

SUM = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .b64 %rd<8>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %p;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.s32 %p, %r5, %r1; @%p bra END;
    mul.wide.s32 %rd4, %r5, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4; ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2; st.global.f32 [%rd7], %f3;
END: ret;
}
"""


def load(name: str) -> Module:
    """A module of the tests."""
    return Module((PTX / f"{name}.ptx").read_text(), f"{name}.ptx")


def best(action: Callable[[], Counters], times: int) -> tuple[float, Counters]:
    """Return the shortest time, and the counters of that run."""
    counters = action()
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        counters = action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, counters


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


def matrix(shape: tuple[int, int], exact: bool) -> Array:
    """Return a float32 matrix: small integers, which accumulate exactly, or numbers that do not."""
    rng = np.random.default_rng(1)
    if exact:
        return rng.integers(-3, 4, shape).astype(np.float32)
    return rng.standard_normal(shape, np.float32)


def mma_sync(times: int) -> None:
    """A GEMM with ldmatrix and mma.m16n8k16."""
    for exact in (True, False):
        _mma_sync(times, exact)


def _mma_sync(times: int, exact: bool) -> None:
    module = load("tensor_cores")
    m, n, k = 256, 256, 256
    a, b = (matrix((m, k), exact).astype(np.float16) for _ in range(2))
    buffers = [module.upload(a), module.upload(b), module.upload(np.zeros((m, n), np.float32))]
    grid = (n // 16, m // 16)
    rate(
        f"mma.sync GEMM, 256^3, {'integers' if exact else 'normal'}",
        lambda check: module.launch("mma_f16", grid, 32, [*buffers, n, k], check=check),
        times,
    )


def wgmma(times: int) -> None:
    """A CTA of the Hopper GEMM: the cost of one more slice of 64 along K."""
    for exact in (True, False):
        _wgmma(times, exact)


def _wgmma(times: int, exact: bool) -> None:
    module = load("gemm_nt_c1")
    seconds: dict[bool, list[float]] = {}
    for check in (False, True):
        seconds[check] = []
        for k in (64, 64 * 9):
            action = _gemm(module, k, check, exact)
            elapsed, counters = best(action, times)
            seconds[check].append(elapsed)
            instructions = counters.thread_instructions
    plain, checked = ((long - short) / 8 * 1e3 for short, long in seconds.values())
    whole, kind = seconds[False][1], "integers" if exact else "normal"
    print(
        f"{f'wgmma 128x256x64, {kind}':<34}{plain:8.1f} ms, checked {checked:.1f} ms "
        f"({instructions:,} thread-instructions for 9 steps, {instructions / whole / 1e6:.2f} M/s)"
    )


def _gemm(module: Module, k: int, check: bool, exact: bool) -> Callable[[], Counters]:
    m, n = 128, 256
    left = module.upload(_bf16(matrix((m, k), exact)), "A")
    right = module.upload(_bf16(matrix((n, k), exact)), "B")
    result = module.alloc(2 * m * n, "C")
    maps = (
        TensorMap(int(left), "bf16", (k, m), (2 * k,), (64, 128), swizzle=128),
        TensorMap(int(right), "bf16", (k, n), (2 * k,), (64, 256), swizzle=128),
        TensorMap(int(result), "bf16", (n, m), (2 * n,), (64, 64), swizzle=128),
    )
    args = [*map(bytes, maps), m, n, k]
    return lambda: module.launch("gemm_nt_c1", 1, 384, args, shared=229440, check=check)


def _bf16(values: Array) -> Array:
    return (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def small(times: int) -> None:
    """The cost of one program of a test suite: text to results, 64 CTAs of a vector addition."""
    n = 64 * 128
    arrays = [np.ones(n, np.float32) for _ in range(3)]
    figures: list[str] = []
    for check in (False, True):

        def action(check: bool = check) -> Counters:
            return Module(SUM, "sum.ptx").launch("sum", 64, 128, [*arrays, n], check=check)

        seconds, _ = best(action, times)
        figures.append(f"{seconds * 1e3:.1f} ms")
    print(f"{'small program, read and run':<34}{figures[0]:>11}, checked {figures[1]}")


def main() -> int:
    """Run all."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for part in (small, elementwise, mma_sync, wgmma):
        part(times)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
