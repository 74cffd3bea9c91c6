"""Measure the compilation time of corpus modules, stage by stage, beside NVIDIA's tileiras.

Modules are drawn evenly over the sizes of the corpus; `--cutile` adds named kernels of cuTile's
tests. Files of Tile IR bytecode are measured instead of all these, and their medians are printed;
`tools/cutile_kernels.py` writes such files. Times are CPU seconds of this process and of those that
it starts, so that other work on the machine counts little; `--clock wall` measures elapsed time.
Ours is a warm process, as a just-in-time compiler is, with LLVM inside of it; tileiras is one
process a module, as there is no other way to run it. A second table has the elapsed time of both
compilers as a user runs them: a process of each, and ours in process.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from corpus_checks import Module, load_modules, tileirdisasm
from whole_compilers import compare

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.compile import Compilation, Observers, Settings, target
from tilewright.driver.pipelines import LOWERING_PIPELINE, OPT_LEVELS, parse_pipeline, passes_to
from tilewright.driver.progress import progress
from tilewright.emit.backend import compile_text
from tilewright.emit.libdevice import library_functions
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.toolchain import cache_folder, find_libdevice
from tilewright.ir.instruments import Timing
from tilewright.ir.passes import Pass, Pipeline
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Error

Clock = Callable[[], float]
NAMED: Final = (
    "matmul_kernel",
    "batch_matmul_kernel",
    "persistent_matmul_kernel",
    "matmul_split_k_kernel",
    "grouped_matmul_kernel",
    "fmha_kernel",
    "layer_norm_fwd",
    "layer_norm_bwd_dx_partial_dwdb",
    "layer_norm_bwd_dwdb",
    "rms_norm_kernel",
    "fft_kernel",
    "fused_moe_kernel",
    "silu_and_mul_kernel",
)
"""GEMM, attention, norms, FFT and mixtures of experts."""
GEMM: Final = "kernel-45c2d604359a7a6d"
"""The module of the corpus with the largest dot: tiles of 32x64 and 64x16."""
AIM: Final = 0.040
"""Seconds before LLVM, in the median."""
LLVM, PTXAS = "LLVM", "ptxas"
SHARES: Final = (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("worst", 1.0))


class Taken(NamedTuple):
    """The times of a module: ours by stage, and NVIDIA's as a whole."""

    name: str
    stages: dict[str, float]
    peer: float

    @property
    def before_llvm(self) -> float:
        """The time of all stages in Python."""
        return sum(t for stage, t in self.stages.items() if stage not in (LLVM, PTXAS))

    @property
    def whole(self) -> float:
        """From bytecode to cubin."""
        return sum(self.stages.values())


def processor() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


CLOCKS: Final[dict[str, Clock]] = {"cpu": processor, "wall": time.perf_counter}


def main() -> None:
    """Measure and print, as a page of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="bytecode to measure")
    parser.add_argument("--modules", type=int, default=200, help="number of modules (default 200)")
    parser.add_argument(
        "--runs", type=int, default=2, help="repetitions; the best one counts, of files the median"
    )
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("-O", dest="level", type=int, choices=range(4), default=3)
    parser.add_argument("--cutile", type=Path, help="a checkout of cuTile Python")
    options = parser.parse_args()
    now = CLOCKS[options.clock]
    bench = Bench(options.gpu_name, options.level, options.runs, now)
    if options.files:
        measure_files(bench, options.files, options.clock)
        return
    kernels = cutile_modules(options.cutile) if options.cutile else []
    modules = load_modules()
    chosen = sampled(modules, options.modules)
    levels = [module for module in modules if module.name == GEMM]
    bench.ours(chosen[0])
    taken, problems = bench.all(chosen)
    levels += [module for module in kernels if module.name.endswith("/matmul_kernel")]
    named, others = bench.all(kernels)
    heading(options.clock)
    report(taken)
    compare(chosen, options.gpu_name, options.level, options.runs)
    by_name("Kernels of cuTile's tests", named)
    for module in levels:
        by_level(options.gpu_name, now, module)
    by_name("The slowest of the corpus", sorted(taken, key=lambda t: -t.whole)[:10])
    for problem in problems + others:
        print(f"\nnot compiled: {problem}")


def measure_files(bench: Bench, files: Sequence[Path], clock: str) -> None:
    """Measure the kernels of some files, and print medians."""
    modules = [Module(file.stem, file.read_bytes()) for file in files]
    bench.ours(modules[0])
    taken = [bench.median(module) for module in progress(modules, len(modules))]
    heading(clock)
    by_name(f"Medians of {bench.runs} runs, milliseconds", taken)


def cutile_modules(checkout: Path) -> list[Module]:
    """Return the named kernels; exit if they or their imports are missing."""
    if not (checkout / "test" / "kernels").is_dir():
        sys.exit(f"error: --cutile: expected a checkout with test/kernels, got '{checkout}'")
    try:
        from cutile_kernels import kernel_modules  # noqa: PLC0415

        return list(kernel_modules(checkout.resolve(), NAMED))
    except ModuleNotFoundError as error:
        sys.exit(f"error: --cutile: expected '{error.name}' to be installed: the kernels import it")


def sampled(modules: Sequence[Module], count: int) -> list[Module]:
    """As many modules of each size as the corpus has, the smallest and the largest included."""
    ordered = sorted(modules, key=lambda m: (len(m.data), m.name))
    if count >= len(ordered):
        return ordered
    last = len(ordered) - 1
    return [ordered[round(at * last / (count - 1))] for at in range(count)]


class Bench:
    """Compiles modules by both compilers."""

    def __init__(self, gpu: str, level: int, runs: int, now: Clock) -> None:
        self._settings = Settings(target(gpu), level)
        self.runs = runs
        self._now = now
        self._stage_of = stages_by_pass(level)
        self._peer = tileirdisasm().with_name("tileiras")

    def all(self, modules: Sequence[Module]) -> tuple[list[Taken], list[str]]:
        """Return the times of each module, and the modules that do not compile."""
        taken: list[Taken] = []
        problems: list[str] = []
        for module in progress(modules, len(modules)):
            try:
                runs = [self.ours(module) for _ in range(self.runs)]
            except Error as error:
                problems.append(f"{module.name}: {error}")
                continue
            best = min(runs, key=lambda stages: sum(stages.values()))
            peer = min(self.theirs(module) for _ in range(self.runs))
            taken.append(Taken(module.name, best, peer))
        return taken, problems

    def median(self, module: Module) -> Taken:
        """Return the median times of a module that compiles, of runs of both compilers in turn."""
        runs = [(self.ours(module), self.theirs(module)) for _ in range(self.runs)]
        stages = {name: statistics.median(ours[name] for ours, _ in runs) for name in runs[0][0]}
        return Taken(module.name, stages, statistics.median(peer for _, peer in runs))

    def ours(self, module: Module) -> dict[str, float]:
        """The seconds of each stage."""
        arch, level = self._settings.arch, self._settings.opt_level
        observers = Observers(clock=Timing(self._now))
        with CollectorPause():
            with observers.clock.measure("read"):
                root = read_bytecode(module.data, module.name)
            with observers.clock.measure("verify"):
                verify(root)
            compilation = Compilation(root, self._settings, observers)
            compilation.lower("llvm")
            with observers.clock.measure("LLVM IR"):
                written = emit_llvm(compilation.module, arch)
            with observers.clock.measure(LLVM):
                library = library_functions(written.library, find_libdevice(), cache_folder())
                ptx = compile_text(
                    written.text, arch.ptx_target, arch.llvm_features, level, library
                )
            compilation.assemble(ptx)
        stages: dict[str, float] = {}
        for name, seconds in observers.clock.seconds.items():
            stage = self._stage_of.get(name, name)
            stages[stage] = stages.get(stage, 0.0) + seconds
        return stages

    def theirs(self, module: Module) -> float:
        """Return the seconds of NVIDIA's compiler, NaN if it fails."""
        arch, level = self._settings.arch, self._settings.opt_level
        with TemporaryDirectory() as folder:
            source, out = Path(folder, "module.tileirbc"), Path(folder, "module.cubin")
            source.write_bytes(module.data)
            command = [str(self._peer), f"--gpu-name={arch.name}", f"-O{level}"]
            started = self._now()
            done = subprocess.run([*command, str(source), "-o", str(out)], capture_output=True)
            taken = self._now() - started
        return float("nan") if done.returncode else taken


def stages_by_pass(level: int) -> dict[str, str]:
    """Map each pass to the level that it lowers to; of several levels, the last counts."""
    ways = {name: passes_to(name, "sm_90", level) for name in LOWERING_PIPELINE}
    return {
        step.name: name
        for name, passes in ways.items()
        if passes
        for step in flat(parse_pipeline(passes).steps)
    }


def flat(steps: Iterable[Pass | Pipeline]) -> list[Pass]:
    """The passes of a pipeline and of those inside of it."""
    passes: list[Pass] = []
    for step in steps:
        passes += [step] if isinstance(step, Pass) else flat(step.steps)
    return passes


def share(values: Iterable[float], of: float) -> float:
    """Return a quantile of the values."""
    ordered = sorted(v for v in values if v == v)
    return ordered[min(len(ordered) - 1, int(of * len(ordered)))] if ordered else float("nan")


def heading(clock: str) -> None:
    """Print the title, and when and how the times were measured."""
    line = " ".join(["python", os.path.relpath(sys.argv[0]), *sys.argv[1:]])
    print("# Time to compile\n")
    print(f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
          f"CPython {platform.python_version()}, clock: {clock}. Command: `{line}`.\n")  # fmt: skip


def report(taken: Sequence[Taken]) -> None:
    """The table by stages."""
    print(f"{len(taken)} modules of the corpus, from bytecode to cubin; milliseconds.\n")
    print("| stage | " + " | ".join(name for name, _ in SHARES) + " |")
    print("|---|" + "---|" * len(SHARES))
    stages = list(dict.fromkeys(stage for each in taken for stage in each.stages))
    rows: list[tuple[str, list[float]]] = [
        (stage, [each.stages.get(stage, 0.0) for each in taken]) for stage in stages
    ]
    rows.append(("**before LLVM**", [each.before_llvm for each in taken]))
    rows.append(("**all**", [each.whole for each in taken]))
    rows.append(("**tileiras**", [each.peer for each in taken]))
    for name, values in rows:
        print(f"| {name} | " + " | ".join(f"{1e3 * share(values, of):.1f}" for _, of in SHARES)
              + " |")  # fmt: skip
    median = share([each.before_llvm for each in taken], 0.5)
    verdict = "met" if median <= AIM else "not met"
    print(f"\nAim before LLVM: {1e3 * AIM:.0f} ms in the median, {verdict}.")
    for name, of in SHARES[::2]:
        ours, theirs = (
            share(values, of) for values in ([e.whole for e in taken], [e.peer for e in taken])
        )
        print(f"Aim against tileiras, {name}: {ours / theirs:.2f} of its time.")


def by_name(title: str, taken: Sequence[Taken]) -> None:
    """A line for each module."""
    if not taken:
        return
    print(f"\n## {title}\n")
    print("| kernel | before LLVM | LLVM | ptxas | all | tileiras |\n|---|---|---|---|---|---|")
    for each in taken:
        parts = (each.before_llvm, each.stages[LLVM], each.stages[PTXAS], each.whole, each.peer)
        print(f"| {each.name} | " + " | ".join(f"{1e3 * part:.0f}" for part in parts) + " |")


def by_level(gpu: str, now: Clock, module: Module) -> None:
    """Print the times of each optimization level for one module."""
    print(f"\n## Levels, {module.name}\n")
    print("| level | before LLVM | LLVM | ptxas | all |\n|---|---|---|---|---|")
    wholes: list[float] = []
    for level in OPT_LEVELS:
        bench = Bench(gpu, level, 1, now)
        runs = [Taken("", bench.ours(module), 0.0) for _ in range(5)]
        best = min(runs, key=lambda taken: taken.whole)
        wholes.append(best.whole)
        parts = (best.before_llvm, best.stages[LLVM], best.stages[PTXAS], best.whole)
        print(f"| -O{level} | " + " | ".join(f"{1e3 * part:.0f}" for part in parts) + " |")
    print(f"\n-O0 takes {wholes[0] / wholes[-1]:.2f} of the time of -O3; aim 0.7.")


if __name__ == "__main__":
    main()
