"""Take the whole emission table through LLVM and ptxas, for every GPU.

    python tools/emit_table.py [GPU ...]

Every case of every NVVM operation (tests/shared/nvvm_cases) and every function of libdevice that
a conversion may call becomes a kernel. Features that a GPU lacks must end in `Unsupported`; the
rest goes through LLVM in a supervised process and through ptxas. A row for each GPU has the number
of kernels, the number of cases that the GPU lacks, and the time. Failures are listed, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from nvvm_cases import CASES, HAVING  # noqa: E402

from tilewright.conversion.nvgpu_to_nvvm import math  # noqa: E402
from tilewright.driver.registry import context  # noqa: E402
from tilewright.emit.cubin import assemble  # noqa: E402
from tilewright.emit.llvm.module import emit_llvm  # noqa: E402
from tilewright.emit.ptx import compile_ptx  # noqa: E402
from tilewright.support.diagnostics import Error, InternalError, Unsupported  # noqa: E402
from tilewright.target.arch import ARCHES, Arch  # noqa: E402
from tilewright.text.parser import parse_text  # noqa: E402

BATCH = 400
"""Kernels per module: enough to amortize a process, few enough to isolate a failure."""


class Row(NamedTuple):
    """The outcome for one GPU."""

    arch: str
    kernels: int
    lacking: int
    seconds: float
    failures: list[str]

    def __str__(self) -> str:
        counts = f"{self.kernels:>8}  {self.lacking:>8}  {self.seconds:>8.1f}"
        return f"{self.arch:<8}  {counts}  {len(self.failures):>8}"


def library_names() -> dict[str, tuple[str, int]]:
    """Return the libdevice functions that conversions call: type and number of arguments."""
    functions: dict[str, tuple[str, int]] = {"__nv_fast_fdividef": ("f32", 2)}
    for kind in math.LIBDEVICE:
        count = len(kind.schema.operands)
        for suffix, type in (("f", "f32"), ("", "f64")):
            functions[math.callee(kind, suffix, fast=False)] = (type, count)
        functions[math.callee(kind, "f", fast=True)] = ("f32", count)
    return functions


def library_kernels() -> list[str]:
    """A kernel for each of these functions, and for powers with integers."""
    kernels = [
        _kernel(name, type, [type] * count) for name, (type, count) in library_names().items()
    ]
    kernels += [_kernel("__nv_powif", "f32", ["f32", "i32"])]
    return [*kernels, _kernel("__nv_powi", "f64", ["f64", "i32"])]


def _kernel(name: str, type: str, inputs: list[str]) -> str:
    arguments = ", ".join(f"%x{n}: {each}" for n, each in enumerate(inputs))
    values = ", ".join(f"%x{n}" for n in range(len(inputs)))
    types = ", ".join(inputs)
    return f"""
  llvm.func @{name}({types}) -> {type}
  llvm.func @k{name}({arguments}, %p: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{
    %r = llvm.call @{name}({values}) : ({types}) -> {type}
    llvm.store %r, %p : {type}, !llvm.ptr<1>
    llvm.return
  }}
"""


def claimed_cases(arch: Arch) -> tuple[list[str], list[str]]:
    """Return the kernels that a GPU supports, and failures of its feature table."""
    kernels: list[str] = []
    wrong: list[str] = []
    for index, case in enumerate(CASES):
        text = case.function(f"k{index}")
        has = _is_claimed(text, arch)
        if has != HAVING[case.since](arch.number):
            wrong.append(f"{arch.name}: {'claims' if has else 'lacks'} {case.body.strip()}")
        if has:
            kernels.append(text)
    return kernels, wrong


def _is_claimed(text: str, arch: Arch) -> bool:
    try:
        emit_llvm(parse_text(f"module {{\n{text}}}\n", context()), arch)
    except Unsupported:
        return False
    return True


def failures(kernels: list[str], arch: Arch) -> Iterator[str]:
    """Yield the kernels that LLVM or ptxas rejects, by bisecting the batches that fail."""
    try:
        module = emit_llvm(parse_text(f"module {{\n{''.join(kernels)}}}\n", context()), arch)
        entries = assemble(compile_ptx(module, opt_level=1), arch, opt_level=1).entries
        if len(entries) != len(kernels):
            yield f"{arch.name}: expected {len(kernels)} kernels, got {len(entries)}"
        return
    except (Error, InternalError) as error:
        if len(kernels) == 1:
            yield f"{arch.name}: {error}\n{kernels[0].strip()}"
            return
    half = len(kernels) // 2
    yield from failures(kernels[:half], arch)
    yield from failures(kernels[half:], arch)


def try_arch(arch: Arch) -> Row:
    """Compile the table for one GPU."""
    start = perf_counter()
    kernels, wrong = claimed_cases(arch)
    lacking = len(CASES) - len(kernels)
    kernels += library_kernels()
    for first in range(0, len(kernels), BATCH):
        wrong += failures(kernels[first : first + BATCH], arch)
    return Row(arch.name, len(kernels), lacking, perf_counter() - start, wrong)


def main() -> int:
    """Try the GPUs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpus", nargs="*", choices=[*ARCHES, []])
    options = parser.parse_args()
    print(f"{'GPU':<8}  {'kernels':>8}  {'lacking':>8}  {'seconds':>8}  {'failures':>8}")
    failed = 0
    for name in options.gpus or ARCHES:
        row = try_arch(ARCHES[name])
        print(row, *row.failures, sep="\n", flush=True)
        failed += len(row.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
