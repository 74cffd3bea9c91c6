"""Compare the registers that the resource model estimates with what ptxas takes.

    python tools/register_estimates.py [NAME ...] [--arch sm_90] [--every N] [-j JOBS] [--list]

Compiles the programs of the benchmarks (`benchmarks/programs/`), of which NAME selects some by a
part of their names, and compares for each kernel with loops that hold tiles: the estimate, which is
the tiles that are live at once in a loop and `OTHER_REGISTERS`; the limit, which is what a thread
that runs the loop may have; and the registers and spills that ptxas reports. Of several loops the
one that is nearest to its limit counts. Kernels without loops that reduce a row have the
estimate of `row_registers`. Each kernel also has that of `plan-kernel`, before layouts are chosen:
the tiles that are live at once anywhere, and `K_LOOP_OTHERS`. `--list` prints each kernel.

ptxas takes more than the estimate where registers are free, so that alone is no fault: a kernel
that spills though its estimate is within the limit is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.attributes import Atom
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, Program, target
from tilewright.driver.pipelines import PLAN, parse_pipeline, passes_to
from tilewright.driver.progress import progress
from tilewright.driver.settings import Settings
from tilewright.ir.operation import Operation
from tilewright.schedule.liveness_before_layouts import live_words
from tilewright.schedule.liveness_with_layouts import live_registers
from tilewright.schedule.registers import K_LOOP_OTHERS, OTHER_REGISTERS, row_registers
from tilewright.schedule.resources import kernel_registers, register_limit
from tilewright.schedule.row_kernels import RowKernel
from tilewright.target.arch import WARP_SIZE

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from program_archive import ARCHIVE, unpacked

WGMMA: Final = "loops with wgmma"
LOOP: Final = "other loops"
ROW: Final = "rows"
WHOLE: Final = "whole kernels"
RULES: Final = (WGMMA, LOOP, ROW, WHOLE)


class Estimate(NamedTuple):
    """The registers of a thread by the model, and those that it may have."""

    rule: str
    registers: int
    limit: int


class Measured(NamedTuple):
    """A kernel with its estimate and what ptxas reports."""

    name: str
    estimate: Estimate
    registers: int
    spills: int

    @property
    def fits(self) -> bool:
        """Whether the estimate is within the limit."""
        return self.estimate.registers <= self.estimate.limit


def has_wgmma(loop: ForOp) -> bool:
    """Whether a loop has dots by wgmma: passes apply the estimate to such loops only."""
    return any(isinstance(op, DotOp) and op.atom is Atom.WGMMA for op in loop.body.walk())


def loop_estimates(function: FuncOp) -> Iterator[Estimate]:
    """The estimate for each loop of a function at nv_tileas that holds tiles."""
    for loop in [op for op in function.walk() if isinstance(op, ForOp)]:
        tiles, limit = live_registers(loop).most, register_limit(loop)
        if tiles and limit is not None:
            yield Estimate(WGMMA if has_wgmma(loop) else LOOP, tiles + OTHER_REGISTERS, limit)


def planned_words(module: Operation) -> dict[str, int]:
    """The words of live tiles that `plan-kernel` counts for each kernel of a program."""
    copy = module.clone()
    before, _, _ = passes_to(PLAN, "").partition(",plan-kernel")
    parse_pipeline(before).run(copy)
    kernels = [op for op in copy.walk() if isinstance(op, FuncOp) and op.is_kernel]
    return {each.sym_name: live_words(each) for each in kernels}


class Estimates:
    """The estimates of the kernels of a program, as it is lowered."""

    def __init__(self) -> None:
        self.by_kernel: dict[str, Estimate] = {}
        self.whole: dict[str, Estimate] = {}
        self._rows: dict[str, RowKernel] = {}
        self._live: dict[str, int] = {}

    def reach(self, level: str, module: Operation) -> None:
        """Estimate at a level what can be estimated there."""
        if level == "nv_tileaa":
            self._live = planned_words(module)
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            name, spec = function.sym_name, function.kernel_spec
            if level == "nv_tileaa" and (row := RowKernel.of(function)) is not None:
                self._rows[name] = row
            limit = kernel_registers(function)
            if level != "nv_tileas" or spec is None or spec.num_warps is None or limit is None:
                continue
            if name in self._live:
                words = -(-self._live[name] // (spec.num_warps * WARP_SIZE))
                self.whole[name] = Estimate(WHOLE, words + K_LOOP_OTHERS, limit)
            if name in self._rows:
                registers = row_registers(self._rows[name].live, spec.num_warps * WARP_SIZE)
                self.by_kernel[name] = Estimate(ROW, registers, limit)
            elif loops := list(loop_estimates(function)):
                self.by_kernel[name] = max(loops, key=lambda each: each.registers - each.limit)


def measure(program: tuple[str, bytes], arch: str) -> list[Measured]:
    """Compile a program, and compare."""
    name, code = program
    estimates, module = Estimates(), Program(code).module
    compilation = Compilation(
        module.clone(),
        Settings(target(arch)),
        Observers(reached=estimates.reach),
        source=module.clone,
    )
    compilation.to("cubin")
    cubin = compilation.cubin
    assert cubin is not None
    return [
        Measured(name, estimate, resources.registers, resources.spill_stores)
        for kernel, estimate in (*estimates.by_kernel.items(), *estimates.whole.items())
        if (resources := cubin.entries.get(kernel)) is not None
    ]


def table(kernels: Sequence[Measured]) -> Iterator[str]:
    """A Markdown table with a line for each rule."""
    yield "| rule | kernels | fits | of them spill | above | of them spill | ptxas takes more |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for rule in RULES:
        chosen = [each for each in kernels if each.estimate.rule == rule]
        fits = [each for each in chosen if each.fits]
        above = [each for each in chosen if not each.fits]
        more = [each for each in chosen if each.registers > each.estimate.registers]
        spilled = [sum(each.spills > 0 for each in group) for group in (fits, above)]
        yield (
            f"| {rule} | {len(chosen)} | {len(fits)} | {spilled[0]} | {len(above)} | {spilled[1]} "
            f"| {len(more)} |"
        )


def details(kernels: Iterable[Measured]) -> Iterator[str]:
    """A line for each kernel."""
    for each in kernels:
        rule, estimate, limit = each.estimate
        yield (
            f"{each.name}: {rule}, {estimate} of {limit}; ptxas {each.registers}, "
            f"{each.spills} bytes spilled"
        )


def main() -> None:
    """Measure the programs that the command line selects."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--every", type=int, default=1, help="take every N-th program", metavar="N")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print each kernel")
    options = parser.parse_args()
    first = {code: name for name, code in reversed(unpacked(ARCHIVE.read_bytes()).items())}
    programs = sorted((name, code) for code, name in first.items())
    if options.names:
        programs = [each for each in programs if any(part in each[0] for part in options.names)]
    programs = programs[:: options.every]
    with multiprocessing.Pool(options.jobs) as pool:
        running = pool.imap(partial(measure, arch=options.arch), programs)
        kernels = [each for part in progress(running, len(programs)) for each in part]
    unusual = [each for each in kernels if each.spills or not each.fits]
    print("\n".join([*table(kernels), "", *details(kernels if options.list else unusual)]))


if __name__ == "__main__":
    main()
