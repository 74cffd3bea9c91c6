"""Check that compilation is deterministic across processes, hash seeds and threads.

    python tools/determinism.py [--every N] [--threads N] [NAME ...]

Modules of the corpus go through every stage in two processes with different hash seeds, and with
`--threads` in one more, many at a time; the text of each stage and the PTX must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from corpus_checks import Module, load_modules

from tilewright.bytecode.reader import read_bytecode
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.compile import target
from tilewright.driver.pipelines import LEVELS, levels_between, parse_pipeline, passes_to
from tilewright.driver.progress import progress
from tilewright.emit.llvm.module import emit_llvm
from tilewright.emit.ptx import compile_ptx
from tilewright.support.diagnostics import Error
from tilewright.text.printer import print_op

SEEDS: Final = ("1", "4242")
Digests = dict[str, int]
"""A digest of the text of each stage."""


def stage_texts(module: Module, arch: str) -> Iterator[tuple[str, str]]:
    """Yield the text of a module at every stage; after an error, its message is the last."""
    gpu = target(arch)
    root = wrap_in_module(read_bytecode(module.data, module.name))
    try:
        parse_pipeline(LEVELS[-1]).run(root)
        yield "cuda_tile", print_op(root, debug=True)
        for level in levels_between("cuda_tile", "nvvm"):
            parse_pipeline(passes_to(level, arch)).run(root)
            yield level, print_op(root, debug=True)
        written = emit_llvm(root, gpu)
        yield "llvm", written.text
        yield "ptx", compile_ptx(written)
    except Error as error:
        yield "error", str(error)


def digests(module: Module, arch: str) -> Digests:
    """Return the digests to compare."""
    return {stage: zlib.crc32(text.encode()) for stage, text in stage_texts(module, arch)}


def chosen(every: int, names: Sequence[str]) -> list[Module]:
    """The modules to compile."""
    modules = load_modules()[::every]
    return [m for m in modules if not names or any(name in m.name for name in names)]


def several(modules: Sequence[Module], arch: str, threads: int) -> Iterator[tuple[str, Digests]]:
    """Compile the modules with several threads; yield the digests in order."""
    if threads == 1:
        yield from ((module.name, digests(module, arch)) for module in modules)
        return
    with ThreadPoolExecutor(threads) as pool:
        results = pool.map(lambda module: digests(module, arch), modules)
        yield from zip((module.name for module in modules), results, strict=True)


def start(seed: str, threads: int, arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Another process that prints a line of JSON for each module."""
    return subprocess.Popen(
        [sys.executable, __file__, *arguments, "--print", "--threads", str(threads)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )


def lines(process: subprocess.Popen[str]) -> Iterator[tuple[str, Digests]]:
    """Read the output of such a process."""
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        sys.exit(f"a process ended with {process.returncode}")


def main() -> int:
    """Compare all; the exit code says whether all digests are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--threads", type=int, default=8, help="number of threads of the third run")
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    modules = chosen(options.every, options.names)
    if options.print:
        for name, digests_ in several(modules, options.gpu_name, options.threads):
            print(json.dumps((name, digests_)), flush=True)
        return 0
    arguments = [*options.names, "--every", str(options.every), "--gpu-name", options.gpu_name]
    plan = [(seed, 1) for seed in SEEDS] + [(SEEDS[0], options.threads)] * (options.threads > 1)
    runs = zip(*(lines(start(seed, threads, arguments)) for seed, threads in plan), strict=True)
    different = stages = errors = 0
    for (name, first), *others in progress(runs, len(modules)):
        stages += len(first)
        errors += "error" in first
        for (seed, threads), (_, digests_) in zip(plan[1:], others, strict=True):
            if digests_ != first:
                different += 1
                stage = next((s for s in first if first[s] != digests_.get(s)), "another end")
                print(f"{name}: {stage} differs with hash seed {seed} and {threads} threads")
    print(f"{len(modules)} modules, {stages} texts, {errors} that end in an error, "
          f"{different} differences")  # fmt: skip
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
