"""Measure the last stages, program by program: conversion, LLVM IR text, LLVM, ptxas.

python benchmarks/emit.py [--arch sm_90] [--repeat 5] [FILE ...]

Without files it measures three synthetic programs, and the programs of tests/run/low folder by
folder, where each folder counts as one program.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

from tilewright.driver.pipelines import level_of, parse_pipeline
from tilewright.driver.registry import context
from tilewright.emit.cubin import assemble
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text

T = TypeVar("T")

PIPELINE = "convert-gpu-nvgpu-to-nvvm"


def straight_line(count: int) -> str:
    """Loads, arithmetic and stores of short vectors, one after the other."""
    parts: list[str] = []
    for n in range(count):
        parts.append(f"""
    %p{n} = llvm.getelementptr inbounds %a[{16 * n}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %x{n} = llvm.load %p{n} {{alignment = 16 : i64}} : !llvm.ptr<1> -> vector<4xf32>
    %y{n} = llvm.fadd %x{n}, %x{n} {{fastmathFlags = #llvm.fastmath<contract>}} : vector<4xf32>
    %z{n} = llvm.intr.fma(%x{n}, %y{n}, %x{n}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %c{n} = llvm.fcmp "olt" %z{n}, %x{n} : vector<4xf32>
    %s{n} = llvm.select %c{n}, %z{n}, %y{n} : vector<4xi1>, vector<4xf32>
    %q{n} = llvm.getelementptr inbounds %b[{16 * n}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %s{n}, %q{n} {{alignment = 16 : i64}} : vector<4xf32>, !llvm.ptr<1>""")  # noqa: E501
    body = "".join(parts)
    return (
        "llvm.func @k(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>) attributes {nvvm.kernel} {"
        f"{body}\n    llvm.return\n}}\n"
    )


def tensor_loop(n: int) -> str:
    """A loop over wgmma that carries all accumulators, as in a GEMM."""
    struct = f"!llvm.struct<({', '.join(['f32'] * (n // 2))})>"
    attributes = (
        f"<m = 64, n = {n}, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], "
        f"B[<bf16>, <one>, <col>] commit : {struct}"
    )
    stores = "".join(
        [
            f"""
    %e{i} = llvm.extractvalue %d[{i}] : {struct}
    %q{i} = llvm.getelementptr %g[{128 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %e{i}, %q{i} : f32, !llvm.ptr<1>"""
            for i in range(n // 2)
        ]
    )
    return f"""
  llvm.func @k(%g: !llvm.ptr<1>, %a0: i64, %b0: i64, %n: i32, %bar: !llvm.ptr<3>)
      attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %step = llvm.mlir.constant(2 : i64) : i64
    %none = llvm.mlir.zero : {struct}
    llvm.br ^loop(%zero, %a0, %b0, %none : i32, i64, i64, {struct})
  ^loop(%i: i32, %a: i64, %b: i64, %acc: {struct}):
    %phase = llvm.and %i, %one : i32
    nvvm.mbarrier.try_wait.parity.shared %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %a1 = llvm.add %a, %step : i64
    %b1 = llvm.add %b, %step : i64
    %a2 = llvm.add %a1, %step : i64
    %b2 = llvm.add %b1, %step : i64
    %adds = llvm.icmp "ne" %i, %zero : i32
    nvvm.wgmma.fence.aligned
    %x = nvvm.wgmma.steps A(%a, %a1, %a2) B(%b, %b1, %b2) if %adds, %acc, {attributes}
    %y = nvvm.wgmma.wait.group.sync.aligned 1, %x : {struct}
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %n : i32
    llvm.cond_br %more, ^loop(%j, %a2, %b2, %y : i32, i64, i64, {struct}), ^end
  ^end:
    %d = nvvm.wgmma.wait.group.sync.aligned 0, %y : {struct}{stores}
    llvm.return
  }}
"""


STANDARD = """
gpu.module @m {
  gpu.func @k(%a: memref<?xf32, 1>, %b: memref<?xf32, 1>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.global_id x
BODY
    gpu.return
  }
}
"""


def standard_dialects(count: int) -> str:
    """Elementwise arithmetic on buffers, in the source dialects of the conversion."""
    body = "".join(
        [
            f"""
    %o{n} = arith.constant {128 * n} : index
    %i{n} = arith.addi %i, %o{n} : index
    %x{n} = memref.load %a[%i{n}] : memref<?xf32, 1>
    %y{n} = arith.mulf %x{n}, %x{n} : f32
    %z{n} = math.exp %y{n} : f32
    memref.store %z{n}, %b[%i{n}] : memref<?xf32, 1>"""
            for n in range(count)
        ]
    )
    return STANDARD.replace("BODY", body)


PROGRAMS: dict[str, Callable[[], str]] = {
    "vectors in a row": lambda: straight_line(250),
    "wgmma loop, n = 256": lambda: tensor_loop(256),
    "standard dialects": lambda: standard_dialects(200),
}


def read(text: str) -> Operation:
    """Parse and verify a program."""
    program = parse_text(text, context())
    verify(program)
    return program


def timed(run: Callable[[], T], clock: Callable[[], float]) -> tuple[float, T]:
    """Return the seconds of a call, and its result."""
    start = clock()
    result = run()
    return clock() - start, result


def fastest(run: Callable[[], T], repeat: int, clock: Callable[[], float]) -> tuple[float, T]:
    """Return the fastest of several runs."""
    return min((timed(run, clock) for _ in range(repeat)), key=lambda result: result[0])


def converted(text: str) -> tuple[float, Operation]:
    """Convert a program to the llvm and nvvm dialects, and time it."""
    program = read(text)
    seconds, _ = timed(lambda: parse_pipeline(PIPELINE).run(program), process_time)
    return seconds, program


class Cost:
    """The time that programs took at each stage."""

    def __init__(self) -> None:
        self.ops = self.lines = self.programs = 0
        self.conversion = self.writing = self.compiling = self.assembling = 0.0

    def add(self, text: str, arch: str, repeat: int) -> None:
        """Measure one more program."""
        target = ARCHES[arch]
        self.programs += 1
        self.ops += sum(1 for _ in read(text).walk())
        conversion, program = min(
            (converted(text) for _ in range(repeat)), key=lambda result: result[0]
        )
        writing, module = fastest(lambda: emit_llvm(program, target), repeat, process_time)
        # LLVM and ptxas are other processes: only elapsed time includes them.
        compiling, ptx = fastest(lambda: compile_ptx(module), min(repeat, 3), perf_counter)
        assembling, _ = fastest(lambda: assemble(ptx, target), min(repeat, 3), perf_counter)
        self.lines += module.text.count("\n")
        self.conversion += conversion
        self.writing += writing
        self.compiling += compiling
        self.assembling += assembling

    def show(self, name: str) -> None:
        """Print a line."""
        print(
            f"{name:22} {self.programs:3} {self.ops:6} ops {1e3 * self.conversion:8.1f} ms "
            f"{self.ops / self.conversion:9,.0f} ops/s {self.lines:6} lines "
            f"{1e3 * self.writing:6.1f} ms {self.lines / self.writing:9,.0f} lines/s "
            f"{1e3 * self.compiling:8.1f} ms {1e3 * self.assembling:8.1f} ms",
            flush=True,
        )


LOW = Path(__file__).parents[1] / "tests" / "run" / "low"


def is_low(text: str) -> bool:
    """Return whether a text is a program of the levels that are measured here."""
    return "// RUN" in text and level_of(read(text)) in ("nvgpu", "nvvm")


def groups(files: list[Path]) -> dict[str, list[str]]:
    """Texts of programs under the names that they are shown by."""
    if files:
        return {file.name: [file.read_text()] for file in files}
    texts_by_name = {name: [make()] for name, make in PROGRAMS.items()}
    for folder in sorted(path for path in LOW.iterdir() if path.is_dir()):
        texts = [file.read_text() for file in sorted(folder.glob("*.mlir"))]
        texts_by_name[folder.name] = [text for text in texts if is_low(text)]
    return {name: texts for name, texts in texts_by_name.items() if texts}


def main() -> None:
    """Measure every program."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--arch", default="sm_90", choices=ARCHES)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("files", nargs="*", type=Path)
    given = options.parse_args()
    print(
        f"{'program':22} {'number':>3} {'conversion':>33} {'LLVM IR text':>38} {'LLVM':>12} "
        f"{'ptxas':>11}"
    )
    for name, texts in groups(given.files).items():
        cost = Cost()
        skipped = 0
        for text in texts:
            try:
                cost.add(text, given.arch, given.repeat)
            except Unsupported:
                skipped += 1
        cost.show(name)
        if skipped:
            print(f"{'':22} {skipped} programs are not for {given.arch}")


if __name__ == "__main__":
    main()
