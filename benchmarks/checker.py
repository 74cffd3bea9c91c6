"""Measure `check=True` against plain runs, in process: examples, a lock, and growing grids."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import tilewright

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
ROUNDS = 3


class Program(NamedTuple):
    """A kernel and its launch."""

    text: str
    entry: str
    grid: Sequence[int]
    arguments: Sequence[Any]

    def seconds(self, *, check: bool) -> float:
        """The processor time of one run, the shortest of several."""
        module, times = tilewright.read(self.text), []
        for seed in range(ROUNDS):
            start = process_time()
            tilewright.execute(
                module, self.entry, self.grid, list(self.arguments), check=check, seed=seed
            )
            times.append(process_time() - start)
            if times[-1] > 20:
                break
        return min(times)


def add(blocks: int = 4096) -> Program:
    """The example of a sum of vectors, 16 elements a block."""
    x, y, out = (np.ones(16 * blocks, np.float32) for _ in range(3))
    text = (EXAMPLES / "add.mlir").read_text()
    return Program(text, "add", (blocks,), (x, y, out, np.int32(16 * blocks)))


def softmax(blocks: int = 4096) -> Program:
    """The example of a softmax, a row of 128 elements a block."""
    x, out = (np.ones((blocks, 128), np.float32) for _ in range(2))
    text = (EXAMPLES / "softmax.mlir").read_text()
    return Program(text, "softmax", (blocks,), (x, out, np.int32(blocks)))


def gemm(n: int = 1024) -> Program:
    """The example of a GEMM, a tile of 128x128 a block."""
    a, b = (np.ones((n, n), np.float16) for _ in range(2))
    sizes = [np.int32(n)] * 3
    text = (EXAMPLES / "gemm.mlir").read_text()
    return Program(text, "gemm", (n // 128, n // 128), (a, b, np.zeros((n, n), np.float32), *sizes))


def attention(n: int = 2048) -> Program:
    """The example of an attention with tiles of 128 queries and keys, and heads of 128 elements."""
    q, k, v, out = (np.ones((n, 128), np.float16) for _ in range(4))
    text = (EXAMPLES / "attention.mlir").read_text().replace("64", "128")
    text = text.replace("0.125", "0.08838835")
    return Program(text, "attention", (n // 128,), (q, k, v, out, np.int32(n), np.int32(n)))


def lock(blocks: int = 256) -> Program:
    """Blocks that add rows to a vector under a lock, a test program."""
    path = ROOT / "tests" / "run" / "memory" / "spin_wait.mlir"
    text = (
        path.read_text().replace("8x256", f"{blocks}x256").replace("[8, 256]", f"[{blocks}, 256]")
    )
    x, best = np.ones((blocks, 256), np.float32), np.zeros(256, np.float32)
    return Program(
        text, "lock", (blocks,), (x, np.zeros(1, np.int32), best, np.zeros(1, np.float32))
    )


PROGRAMS: dict[str, Callable[..., Program]] = {
    "add": add,
    "softmax": softmax,
    "gemm": gemm,
    "attention": attention,
    "lock": lock,
}


def main() -> None:
    """Print the times of the programs that are named, of all without a name."""
    for name in sys.argv[1:] or PROGRAMS:
        name, _, size = name.partition("=")
        program = PROGRAMS[name](*([int(size)] if size else []))
        plain, checked = program.seconds(check=False), program.seconds(check=True)
        print(f"{name:10} {'x'.join(map(str, program.grid)):>8} blocks: ", end="")
        print(f"plain {plain * 1e3:9.1f} ms, checked {checked * 1e3:9.1f} ms, ", end="")
        print(f"{checked / plain:6.1f} times", flush=True)


if __name__ == "__main__":
    main()
