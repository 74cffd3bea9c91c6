"""Count the instructions in the main loops of compiled kernels, as Markdown tables.

    python benchmarks/main_loops.py [FILE...] [--kernels FOLDER] [--src before=DIR --src after=src]

FILE is Tile IR, bytecode or text; FOLDER is the folder `test` of a cuTile Python checkout, whose
GEMM kernels are compiled. Each `--src NAME=DIR` is a folder `src` whose compiler is run. The main
loop is the innermost loop with mma instructions; of several, the one with the most FLOPs. Counts
are of PTX, for one thread and one iteration, in all branches. `per tile` is the count of all warps
for 128×128×64 multiply-adds, whatever the tile, the unrolling and the number of warps. The second
table has the KiB that all threads load in an iteration and store to shared memory from registers.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tilewright.ptxsim.order import loop_order
from tilewright.ptxsim.parser import parse
from tilewright.ptxsim.syntax import Instruction, Label, Name, Operand, Pair, Vector

ROOT: Final = Path(__file__).parents[1]
KINDS: Final = {
    "wgmma": r"wgmma\.mma_async",
    "mma.sync": r"mma\.",
    "cp.async": r"cp\.async\.(?!commit|wait|mbarrier)",
    "ld.global": r"ld\..*\bglobal",
    "st.shared": r"st\..*\bshared",
    "ld.shared": r"ld\..*\bshared",
    "ldmatrix": r"ldmatrix",
    "bar.sync": r"bar(rier)?\.",
    "fence.proxy": r"fence\.proxy",
    "commit, wait": r"(wgmma|cp\.async)\.",
    "float": r".*\.(b?f16(x2)?|f32|f64)\b",
    "mul, mad": r"(mul|mad)\.",
    "add, sub": r"(add|sub)\.",
    "logic, shift": r"(and|or|xor|not|shl|shr|shf|lop3|prmt|bfe|bfi)\.",
    "compare, select": r"(setp|selp|min|max)\.",
    "mov, cvt": r"(mov|cvt)\.",
    "branch": r"bra\b",
    "other": r"",
}
"""For each kind of instruction the opcodes; the first pattern that matches decides."""
MMA: Final = ("wgmma", "mma.sync")
LOADS: Final = ("ld.global", "ld.shared", "ldmatrix")
TILE: Final = 128 * 128 * 64


class MainLoop(NamedTuple):
    """One iteration: a thread's instructions by kind, and bytes of a block by kind of load."""

    kinds: Counter[str]
    per_tile: float
    stored: Counter[str]


def main() -> None:
    """Compile each kernel for each GPU with each compiler, and print the tables."""
    parser = argparse.ArgumentParser(description="Count the instructions in main loops.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="Tile IR")
    parser.add_argument("--kernels", type=Path, metavar="FOLDER", help="`test` of cuTile Python")
    parser.add_argument("--arch", action="append", help="default: sm_80 and sm_90")
    parser.add_argument("--src", action="append", metavar="NAME=DIR", help="default: this checkout")
    options = parser.parse_args()
    compilers = [each.partition("=")[::2] for each in options.src or [f"ours={ROOT / 'src'}"]]
    loops: dict[str, MainLoop] = {}
    with TemporaryDirectory() as folder:
        if options.kernels:
            sys.path.insert(0, str(ROOT / "tools"))
            from cutile_kernels import write_gemms  # noqa: PLC0415

            options.files += write_gemms(options.kernels, Path(folder))
        for file in options.files:
            for arch in options.arch or ("sm_80", "sm_90"):
                for name, source in compilers:
                    ptx = compile_ptx(file, arch, Path(source))
                    loops[f"{file.stem} | {arch} | {name}"] = main_loop(ptx, file.stem)
    print_table({
        name: {"all": loop.kinds.total(), "per tile": round(loop.per_tile), **loop.kinds}
        for name, loop in loops.items()
    })  # fmt: skip
    print_table({
        name: {f"{kind} → st.shared": size // 1024 for kind, size in loop.stored.items()}
        for name, loop in loops.items() if loop.stored
    })  # fmt: skip


def print_table(rows: Mapping[str, Mapping[str, int]]) -> None:
    """Print the counts of rows whose names are three cells."""
    order = ["all", "per tile", *KINDS, *(f"{load} → st.shared" for load in LOADS)]
    columns = sorted({each for row in rows.values() for each in row}, key=order.index)
    print(f"\n| kernel | GPU | compiler | {' | '.join(columns)} |")
    print("|---|---|---|" + "---:|" * len(columns))
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(f'{row.get(each, 0):,}' for each in columns)} |")


def compile_ptx(file: Path, arch: str, source: Path) -> str:
    """Compile a kernel with the compiler in a folder of sources."""
    command = [sys.executable, "-m", "tilewright", "compile", str(file), "--emit", "ptx"]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "TILEWRIGHT_CACHE": "0"}
    done = subprocess.run(
        [*command, "--arch", arch], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def main_loop(ptx: str, name: str) -> MainLoop:
    """Find the main loop of the kernel of a PTX text, and count it."""
    (kernel,) = parse(ptx, name).entries()
    with_mma = [loop for loop in natural_loops(kernel.body or []) if multiply_adds(loop)]
    innermost = [loop for loop in with_mma if not any(other < loop for other in with_mma)]
    if not innermost:
        sys.exit(f"error: '{name}' has no loop with mma instructions")
    loop = max(innermost, key=multiply_adds)
    kinds, stored = Counter(map(kind_of, loop)), Counter[str]()
    for load in stored_loads(loop):
        bits = 32 if kind_of(load) == "ldmatrix" else int(load.opcode.rpartition(".")[2][1:])
        threads, words = math.prod(kernel.directives["reqntid"]), registers(load.operands[:1])
        stored[kind_of(load)] += threads * len(list(words)) * bits // 8
    return MainLoop(kinds, kinds.total() * TILE / multiply_adds(loop), stored)


def kind_of(instruction: Instruction) -> str:
    """The kind of an instruction."""
    return next(kind for kind, each in KINDS.items() if re.match(each, instruction.opcode))


def multiply_adds(loop: set[Instruction]) -> float:
    """The multiply-adds of one warp in mma instructions; four warps share a wgmma."""
    count = 0.0
    for kind, opcode in ((kind_of(each), each.opcode) for each in loop):
        if kind in MMA and (shape := re.search(r"m(\d+)n(\d+)k(\d+)", opcode)):
            count += math.prod(map(int, shape.groups())) / (4 if kind == "wgmma" else 1)
    return count


def natural_loops(body: Sequence[Instruction]) -> list[set[Instruction]]:
    """For each loop head the instructions that reach a back edge without passing the head."""
    edges: list[list[int]] = []
    before: list[list[int]] = [[] for _ in body]
    for at, each in enumerate(body):
        ends = each.guard is None and each.opcode in ("bra", "bra.uni", "ret", "exit", "trap")
        edges.append([] if ends else [at + 1])
        if kind_of(each) == "branch" and isinstance(target := each.operands[0], Name):
            label = each.scope.find(target.text)
            edges[at] += [label.index] if isinstance(label, Label) else []
        for following in edges[at]:
            before[following].append(at)
    position = loop_order(edges)
    loops: list[set[Instruction]] = []
    for head in range(len(body)):
        work = [at for at in before[head] if position[at] >= position[head]]
        loop = {head} if work else set[int]()
        while work:
            at = work.pop()
            work += [] if at in loop else before[at]
            loop.add(at)
        loops += [{body[at] for at in loop}] if loop else []
    return loops


def stored_loads(loop: set[Instruction]) -> set[Instruction]:
    """The loads whose elements reach a store to shared memory, not by predicates or mma."""
    origins: dict[str, set[Instruction]] = {}
    stored: set[Instruction] = set()
    known = -1
    while known != (known := sum(map(len, origins.values()))):
        for each in loop:
            kind, values = kind_of(each), registers(each.operands[1:])
            reaching = set[Instruction]().union(*(origins.get(value, ()) for value in values))
            if kind == "st.shared":
                stored |= reaching
            elif kind not in MMA and not each.opcode.startswith("setp"):
                for name in registers(each.operands[:1]):
                    origins.setdefault(name, set()).update({each} if kind in LOADS else reaching)
    return stored


def registers(operands: Sequence[Operand]) -> Iterator[str]:
    """The registers among operands, without those of addresses."""
    for each in operands:
        if isinstance(each, Vector):
            yield from registers(each.elements)
        elif isinstance(each, Name | Pair):
            yield each.text if isinstance(each, Name) else next(registers([each.first]))


if __name__ == "__main__":
    main()
