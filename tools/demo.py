"""`make demo`: one real GEMM tile kernel, taken as far as the compiler goes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from corpus_checks import peer_text, tileirdisasm

import tilewright
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.api import read_unverified
from tilewright.driver.compile import CompiledModule
from tilewright.driver.disassembly import disassemble
from tilewright.driver.launch_checks import required_arch
from tilewright.driver.pipelines import level_pipeline
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.runtime.device import Gpu, current_gpu

KERNEL: Final = Path(__file__).parents[1] / "examples" / "gemm.mlir"
VERSIONS: Final = ("13.1", "13.2", "13.3", "13.4")
# Neither a multiple of the tile nor square, so that the edges are tried too.
ROWS, COLUMNS, K = 256, 192, 320
GRID: Final = (2, 2, 1)
ARCH: Final = "sm_90"

T = TypeVar("T")


class Table:
    """Runs the stages, and prints the result and the time of each."""

    def __init__(self) -> None:
        print(f"{'stage':<22}{'ms':>8}   result")

    def stage(self, name: str, action: Callable[[], T], describe: Callable[[T], str]) -> T:
        """Run and time one stage."""
        started = time.perf_counter()
        result = action()
        elapsed = (time.perf_counter() - started) * 1000
        print(f"{name:<22}{elapsed:>8.2f}   {describe(result)}")
        return result


def main() -> int:
    """Run the demo; the exit code says whether every check passed."""
    source = KERNEL.read_text()
    print(
        f"{KERNEL.parent.name}/{KERNEL.name}: C = A · B, f16, f32 accumulators, 128 x 128 a block\n"
    )
    table = Table()
    module = table.stage(
        "parse text", lambda: read_unverified(source, KERNEL.name), lambda m: f"{count(m)} ops"
    )
    table.stage("verify", lambda: verify(module), lambda _: "no errors")
    encoded = {
        version: table.stage(
            f"write bytecode {version}",
            lambda version=version: tilewright.write_bytecode(module, version),
            lambda data: f"{len(data)} bytes",
        )
        for version in VERSIONS
    }
    again = table.stage(
        "read bytecode 13.4", lambda: tilewright.read(encoded["13.4"]), lambda m: f"{count(m)} ops"
    )
    table.stage(
        "disassemble", lambda: disassemble(again), lambda t: f"{len(t.splitlines())} lines of text"
    )
    table.stage("optimize -O3", lambda: optimize(module), lambda _: f"{count(module)} ops")
    before = table.stage("run on the CPU", lambda: run(again), lambda _: blocks())
    after = table.stage("run the optimized one", lambda: run(module), lambda _: blocks())
    gpu, why = find_gpu()
    arch = ARCH if gpu is None else gpu.arch
    compiled = table.stage(
        f"compile for {arch}", lambda: tilewright.compile(source, arch=arch), describe
    )
    if gpu is None:
        compiled_run = table.stage(
            "run its PTX", lambda: run(again, "emulator"), lambda _: blocks()
        )
    else:
        compiled_run = table.stage("run on the GPU", lambda: run(again, "gpu"), lambda _: blocks())
    print("\nThe kernel, as the disassembler prints it after optimization:\n")
    print(disassemble(module))
    print("Its text at each level:\n")
    for level, text in compiled.stages.items():
        print(f"  {level:<10}{len(text.splitlines()):>6} lines")
    print()
    checks = dict(check(source, encoded))
    checks["both runs give A · B as NumPy does, bit for bit"] = before and after
    executed = "PTX, on the emulator" if gpu is None else f"cubin, on {gpu.name}"
    checks[f"so does the {executed}"] = compiled_run
    for claim, held in checks.items():
        print(f"checked: {claim}: {'yes' if held else 'NO'}")
    if not tileirdisasm().exists():
        print("not checked: what NVIDIA's tools say (PyPI: nvidia-cuda-tileiras)")
    if gpu is None:
        print(f"not done here: run the cubin on a GPU ({why})")
    print("next: . .venv/bin/activate; tilewright explain examples/gemm.mlir")
    return 0 if all(checks.values()) else 1


def find_gpu() -> tuple[Gpu | None, str]:
    """The GPU of this machine, if we can compile for it; else why there is none."""
    try:
        gpu = current_gpu()
        required_arch(gpu)
    except tilewright.Unsupported as error:
        return None, error.feature
    return gpu, ""


def check(source: str, encoded: dict[str, bytes]) -> Iterator[tuple[str, bool]]:
    """Yield the claims about the kernel, and whether each holds."""
    fresh = read_unverified(source, KERNEL.name)
    texts = {version: disassemble(tilewright.read(data)) for version, data in encoded.items()}
    same = all(equivalent(fresh, tilewright.read(data)) for data in encoded.values())
    yield "every bytecode version reads back as the same module", same
    again = [tilewright.read(text) for text in texts.values()]
    yield "so does the text of the disassembler", all(equivalent(fresh, each) for each in again)
    if tileirdisasm().exists():
        agreed = all(peer_text(encoded[version]) == texts[version] for version in encoded)
        yield "NVIDIA's tileirdisasm prints the same text for each", agreed


def describe(compiled: CompiledModule) -> str:
    """Describe the kernel's use of the GPU's resources."""
    taken = compiled.entries["gemm"].resources
    return (
        f"{len(compiled.cubin)} bytes: {taken.registers} registers, {taken.shared} bytes of shared "
        f"memory, {taken.spill_stores} bytes spilled"
    )


def run(module: ModuleOp, on: str = "cpu") -> bool:
    """Run the kernel on small integers, which accumulate exactly; return whether NumPy agrees."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((ROWS, K), (K, COLUMNS)))
    c = np.zeros((ROWS, COLUMNS), np.float32)
    tilewright.execute(module, "gemm", GRID, [a, b, c, ROWS, COLUMNS, K], on)
    return np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def blocks() -> str:
    """Describe the work of a run."""
    return f"{ROWS} x {COLUMNS} results with K = {K}, {GRID[0] * GRID[1]} blocks"


def optimize(module: Operation) -> None:
    """Run the passes of -O3 on Tile IR itself."""
    pipeline = level_pipeline(3)
    assert pipeline is not None
    pipeline.run(module)


def count(module: Operation) -> int:
    """Return the number of operations of a module."""
    return sum(1 for _ in module.walk())


if __name__ == "__main__":
    sys.exit(main())
