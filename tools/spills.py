"""Count the kernels that spill, with several versions of this compiler and with NVIDIA's.

    python tools/spills.py [PATH...] [--src before=DIR --src now=src] [--against TILEIRAS]

PATH is Tile IR, bytecode or text, or a folder of it; without one, the modules of the corpus are
compiled. Each `--src NAME=DIR` is a folder `src` whose compiler is run; TILEIRAS is the path of
NVIDIA's. Spills of our kernels are those that ptxas reports. A cubin of NVIDIA's names only the
stack of a kernel, which also has local arrays, so its count is an upper bound. Bytes are those of
one thread.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Final, NamedTuple

import tilewright
from tilewright.driver.progress import progress
from tilewright.emit.elf import read_kernels

ROOT: Final = Path(__file__).parent.parent
SUFFIX: Final = ".tileirbc"
AGAINST: Final = "tileiras"
TIMEOUT: Final = 300
"""Seconds that NVIDIA's compiler may take for a module."""


class Usage(NamedTuple):
    """The resources of a kernel, or the error of its module."""

    registers: int = 0
    stack: int = 0
    stores: int | None = None
    """Bytes of spill stores; None if the compiler does not report them."""
    loads: int | None = None
    error: str = ""

    @property
    def spills(self) -> bool:
        """Whether the kernel spills, or may, if only the size of its stack is known."""
        return bool(self.stack if self.stores is None else self.stores or self.loads)


Kernels = dict[str, Usage]
"""The kernels of a module by name; a module without a cubin has one, with the name ""."""
Results = dict[str, Kernels]
"""The kernels of each module, by the name of the module."""


def compile_ours(path: str, arch: str) -> tuple[str, Kernels]:
    """Compile a module with the `tilewright` that this process imports."""
    try:
        entries = tilewright.compile(Path(path).read_bytes(), arch).entries.values()
    except Exception as error:
        return path, {"": Usage(error=f"{type(error).__name__}: {error}")}
    resources = [each.resources for each in entries]
    return path, {
        each.name: Usage(each.registers, each.stack, each.spill_stores, each.spill_loads)
        for each in resources
    }


def compile_theirs(path: str, arch: str, tileiras: Path) -> tuple[str, Kernels]:
    """Compile a module with NVIDIA's compiler, and read the resources from the cubin."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "kernel.cubin")
        command = [str(tileiras), f"--gpu-name={arch}", path, "-o", str(cubin)]
        # It runs the ptxas that is beside it.
        environment = {**os.environ, "PATH": f"{tileiras.parent}{os.pathsep}{os.environ['PATH']}"}
        try:
            run = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return path, {"": Usage(error=f"no cubin after {TIMEOUT} seconds")}
        if run.returncode:
            return path, {"": Usage(error=run.stderr.strip() or f"exit code {run.returncode}")}
        kernels = read_kernels(cubin.read_bytes()).values()
    return path, {each.name: Usage(each.registers, each.stack) for each in kernels}


def run_source(source: Path, folder: Path, arch: str, jobs: int) -> Iterator[tuple[str, Kernels]]:
    """Compile the modules of a folder with the compiler in a folder `src`."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "TILEWRIGHT_CACHE": "0"}
    command = [sys.executable, __file__, "--worker", str(folder), "--arch", arch, "-j", str(jobs)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            path, kernels = json.loads(line)
            yield path, {name: Usage(*usage) for name, usage in kernels.items()}
    if process.returncode:
        sys.exit(f"error: the compiler in '{source}' ends with {process.returncode}")


def work(folder: Path, arch: str, jobs: int) -> None:
    """Compile the modules of a folder with this compiler; print a line of JSON for each."""
    paths = [str(path) for path in sorted(folder.iterdir())]
    with multiprocessing.Pool(jobs) as pool:
        for result in pool.imap_unordered(partial(compile_ours, arch=arch), paths, chunksize=4):
            print(json.dumps(result), flush=True)


def write_modules(paths: Sequence[Path], folder: Path) -> int:
    """Write modules to a folder as bytecode, and return how many there are."""
    # Workers run without them, and older compilers may not have what they import.
    from corpus_checks import NEWEST, load_modules  # noqa: PLC0415

    from tilewright.bytecode.writer import write_bytecode  # noqa: PLC0415
    from tilewright.driver.assembly import parse_module  # noqa: PLC0415

    modules = {} if paths else {module.name: module.data for module in load_modules()}
    for path in files(paths):
        data = path.read_bytes()
        if path.suffix == ".mlir":
            data = write_bytecode(parse_module(data.decode(), path.name), NEWEST)
        modules[path.stem] = data
    for name, data in modules.items():
        (folder / f"{name}{SUFFIX}").write_bytes(data)
    return len(modules)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files among paths, and those of Tile IR in folders."""
    for path in paths:
        if path.is_dir():
            yield from (
                each for each in sorted(path.rglob("*")) if each.suffix in (".mlir", SUFFIX)
            )
        else:
            yield path


def summary(results: Mapping[str, Results]) -> Iterator[str]:
    """A Markdown table with a line for each compiler."""
    yield "| compiler | modules | no cubin | kernels | spill | stack | most bytes of stack |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for compiler, modules in results.items():
        usages = [usage for kernels in modules.values() for usage in kernels.values()]
        done = [usage for usage in usages if not usage.error]
        stacks = [usage.stack for usage in done if usage.stack]
        exact = all(usage.stores is not None for usage in done)
        spills = f"{'' if exact else '≤ '}{sum(usage.spills for usage in done):,}"
        counts = [len(modules), len(usages) - len(done), len(done)]
        cells = [f"{count:,}" for count in counts]
        cells += [spills, f"{len(stacks):,}", f"{max(stacks, default=0):,}"]
        yield f"| {compiler} | {' | '.join(cells)} |"


def details(results: Mapping[str, Results]) -> Iterator[str]:
    """A Markdown table of the kernels that spill with one of the compilers."""
    yield f"| kernel | {' | '.join(results)} |"
    yield "|---|" + "---:|" * len(results)
    for module in sorted(set[str]().union(*results.values())):
        of_module = [modules.get(module, {}) for modules in results.values()]
        for name in sorted(set[str]().union(*of_module)):
            usages = [kernels.get(name, kernels.get("")) for kernels in of_module]
            if any(usage is not None and usage.spills for usage in usages):
                label = module if not name or len(of_module[0]) < 2 else f"{module} {name}"
                yield f"| {label} | {' | '.join(map(cell, usages))} |"


def cell(usage: Usage | None) -> str:
    """The resources of a kernel: spill stores and loads or the stack, and registers."""
    if usage is None or usage.error:
        return "no cubin"
    bytes_ = f"stack {usage.stack}"
    if usage.stores is not None:
        bytes_ = f"{usage.stores}+{usage.loads}, {bytes_}"
    return f"{bytes_}, {usage.registers} registers"


def main() -> None:
    """Compile the modules with each compiler, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="default: the corpus")
    parser.add_argument("--src", action="append", metavar="NAME=DIR", help="default: this checkout")
    parser.add_argument("--against", type=Path, metavar="TILEIRAS", help="NVIDIA's compiler")
    parser.add_argument("--arch", default="sm_90", help="the GPU to compile for (default: sm_90)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results, too")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.arch, options.jobs)
        return
    results: dict[str, Results] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_modules(options.paths, folder)
        for compiler, _, source in (
            each.partition("=") for each in options.src or [f"ours={ROOT / 'src'}"]
        ):
            running = run_source(Path(source), folder, options.arch, options.jobs)
            results[compiler] = collect(running, count)
        if options.against is not None:
            theirs = partial(compile_theirs, arch=options.arch, tileiras=options.against)
            with closing(ThreadPool(options.jobs)) as pool:
                running = pool.imap_unordered(theirs, map(str, sorted(folder.iterdir())))
                results[AGAINST] = collect(running, count)
    if options.json is not None:
        options.json.write_text(json.dumps(results))
    print("\n".join([*summary(results), "", *details(results)]))


def collect(running: Iterable[tuple[str, Kernels]], count: int) -> Results:
    """The results of a compiler, by the names of modules."""
    return {Path(path).stem: kernels for path, kernels in progress(running, count)}


if __name__ == "__main__":
    main()
