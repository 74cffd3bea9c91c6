"""Compare the emulator with recorded results of an H200, and print the table.

    python3 tools/ptx_hardware_table.py > benchmarks/results/ptxsim-h200.md

The results are kept beside the tests; tools/ptx_hardware.py and similar tools record them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

import arithmetic_probes  # noqa: E402
import copy_emulation  # noqa: E402
import matrix_probes  # noqa: E402
from approximation_bounds import (  # noqa: E402
    TEXTS,
    errors,
    key,
    numbers,
    operands_of,
    results_of,
    sample,
)
from conversion_probes import conversion_probes  # noqa: E402
from copy_cases import cases  # noqa: E402
from cuda_programs import all_programs  # noqa: E402
from memory_probes import memory_probes  # noqa: E402
from order_probes import order_probes  # noqa: E402
from program_table import check  # noqa: E402
from ptx_hardware_programs import raw  # noqa: E402
from ptx_probes import Probe, digest, emulate  # noqa: E402
from wmma_probes import wmma_probes  # noqa: E402

from tilewright.ptxsim import Module  # noqa: E402
from tilewright.ptxsim.matrix.accumulate import ADDERS  # noqa: E402

ANSWERS = _ROOT / "tests" / "unit" / "ptxsim" / "answers"
HEAD = """\
# The PTX emulator against an H200

NVIDIA H200, driver 580.159.04, 15 November 2026. The same PTX ran on both with the same operands;
on the GPU by `python3 tools/ptx_hardware.py MODULE:FUNCTION answers.npz digests.json` (modules in
`tests/shared`) and `python3 tools/ptx_hardware_programs.py answers.npz digests.json`, here by
`python3 tools/ptx_hardware_table.py`, which printed this page. `tools/copies_hardware.py` and
`tests/unit/ptxsim/test_copies_hardware.py` do the same for asynchronous copies and barriers.

"Equal bits" means every bit of every result, NaNs and their payloads included. A form is an
opcode with its modifiers and types; operands are the corners of the types against each other,
random bits, and numbers of moderate size.
"""
NEAR = """\
Errors are those from the exact result, as a part of what the PTX ISA manual allows (the bound; the
sections are named in `tests/shared/approximation_bounds.py`): the emulator rounds the exact
function. Where the manual gives no bound (angles beyond 100π, small and large divisors of
`div.approx`) results are not judged, but `sin` and `cos` are within 2^-20.5 of the H200's.
"""
ACCUMULATION = """\
How the H200's matrix units accumulate, according to its results for numbers of all sizes, and as
`src/tilewright/ptxsim/matrix/accumulate.py` models it: every probe above that is called `normal`
or `wild` is one whose partial results are not exact, and has equal bits too. Such results are also
within the comparison contract's bound, `n u sum(|a| |b|)` with the unit roundoff of the result; for
f8 in `wgmma`, whose accumulators have 14 bits, with that of 14 truncated bits
(`tests/unit/ptxsim/test_matrices.py`). Results of f16 are rounded to nearest once, at the end.
`mma` of f8 is two `mma`s of f16, to which the accumulator is added at the end.
"""


def load(name: str) -> dict[str, Any]:
    """Kept digests."""
    return json.loads((ANSWERS / f"{name}.json").read_text())


TYPE = re.compile(r"(?:[usb]\d+|b?f\d+|tf32|e\dm\d)(?:x2)?")


def mnemonic(name: str) -> tuple[str, str]:
    """The instruction of a probe, and the type that it gives or works on."""
    first = name.split(" + ")[-1].split()[0]
    parts = first.split(".")
    types = [f".{part}" for part in parts if TYPE.fullmatch(part)]
    if parts[0] == "cvt":
        return ("cvt.pack" if "pack" in parts else "cvt"), f"to {types[0]}"
    if parts[0] in ("ld", "ldu"):
        return "ld, st", "caching, ordering, types, vectors"
    if parts[0] in ("atom", "red"):
        return f"{parts[0]}.{parts[1]}", types[-1]
    return parts[0], types[-1] if types else ""


# Families of probes and cases by how their names begin; the first one that fits counts.
ORDER = {
    "%": "special registers", "membar": "membar", "fence": "fence", "bar.warp": "bar.warp.sync",
    "bar.red": "bar.red, barrier.red", "barrier.red": "bar.red, barrier.red",
    "barrier.cta.red": "bar.red, barrier.red", "barrier.cluster": "barrier.cluster",
    "bar.arrive": "bar.sync, bar.arrive", "bar.": "bar.sync, bar.arrive", "barrier": "barrier.sync",
    "griddepcontrol": "griddepcontrol", "setmaxnreg": "setmaxnreg", "mapa": "mapa, getctarank",
    "getctarank": "mapa, getctarank", "cp.async": "cp.async, in part",
    "red.global": "red, atom of vectors", "atom.global": "red, atom of vectors",
}  # fmt: skip
MATRICES = {
    "divergent": "activemask, elect", "special": "mma, wgmma of special numbers",
    "metadata": "metadata of mma.sp",
}  # fmt: skip
COPIES = {
    "load": "cp.async.bulk.tensor, loads", "store to peer": "st.async",
    "store": "cp.async.bulk.tensor, stores", "reduce to peer": "red.async",
    "reduce": "cp.reduce.async.bulk.tensor", "bulk reduce": "cp.reduce.async.bulk",
    "bulk multicast": "multicast", "tensor multicast": "multicast",
    "bulk": "cp.async.bulk", "tensor": "cp.reduce.async.bulk.tensor", "copy": "cp.async",
    "map": "tensormap.replace", "named": "bar.sync, bar.arrive, bar.red",
    "votes": "bar.sync, bar.arrive, bar.red",
}  # fmt: skip


def order_name(name: str) -> tuple[str, str]:
    """The family of a probe of ordering."""
    return next((family for start, family in ORDER.items() if name.startswith(start)), name), ""


def matrix_name(name: str) -> tuple[str, str]:
    """The instruction of a matrix or warp probe, and its shape or mode."""
    words = name.split()
    if words[0] in MATRICES:
        return MATRICES[words[0]], ""
    return words[0], words[1] if words[0] in ("mma", "mma.sp", "wgmma", "wmma", "shfl") else ""


def equality(
    probes: Iterable[Probe], answers: dict[str, Any], key: Callable[[str], tuple[str, str]]
) -> str:
    """Rows of instructions that must agree in every bit."""
    rows: dict[str, list[int]] = {}
    kinds: dict[str, dict[str, None]] = {}
    for probe in probes:
        name, kind = key(probe.name)
        kinds.setdefault(name, {})[kind] = None
        row = rows.setdefault(name, [0, 0, 0])
        row[0] += 1
        row[1] += probe.threads * probe.blocks
        row[2] += digest(emulate(probe)) == answers[probe.name][1]
    lines = ["| instruction | of | forms | cases | result |", "|---|---|---:|---:|---|"]
    for name, (forms, threads, equal) in rows.items():
        result = "equal bits" if equal == forms else f"{forms - equal} forms differ"
        listed = " ".join(kinds[name])
        lines.append(f"| {name} | {listed} | {forms} | {threads:,} | {result} |")
    return "\n".join(lines)


def copies() -> str:
    """Rows of copies and mbarriers."""
    answers = load("copies_h200")
    rows: dict[str, list[int]] = {}
    for case in cases():
        families = (each for start, each in COPIES.items() if case.name.startswith(start))
        row = rows.setdefault(next(families, "mbarrier"), [0, 0])
        row[0] += 1
        row[1] += digest(copy_emulation.emulate(case)) == answers[case.name][1]
    lines = ["| instruction | cases | result |", "|---|---:|---|"]
    for name, (count, equal) in rows.items():
        result = "equal bits" if equal == count else f"{count - equal} differ"
        lines.append(f"| {name} | {count} | {result} |")
    return "\n".join(lines)


def adders() -> str:
    """Rows of the accumulator widths of matrix units."""
    lines = [
        "| unit | bits below the greatest term | bits of an f32 accumulator | terms at once |",
        "|---|---:|---:|---:|",
    ]
    for name, adder in ADDERS.items():
        kept = adder.kept_bits + 1
        step = adder.step if adder.step < 64 else "all"
        lines.append(f"| {name} | {adder.fraction_bits} | {kept} | {step} |")
    return "\n".join(lines)


def approximations() -> str:
    """Rows of approximate instructions."""
    answers = np.load(ANSWERS / "approximations_h200.npz")
    lines = [
        "| instruction | cases | equal | emulator's error | H200's error | bound |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for probe in arithmetic_probes.approximation_probes():
        name, operands, results = probe.name, operands_of(probe), results_of(probe)
        wanted = numbers(name, answers[name])
        some = sample(probe, results, len(wanted))
        equal = np.mean((some == wanted) | (np.isnan(some) & np.isnan(wanted)))
        ours = errors(name, results, operands).max()
        few = [sample(probe, operand, len(wanted)) for operand in operands]
        theirs = errors(name, wanted, few).max()
        lines.append(
            f"| {name} | {len(results):,} | {equal:.0%} | {ours:.2f} | {theirs:.2f} "
            f"| {TEXTS[key(name)]} |"
        )
    return "\n".join(lines)


def programs() -> str:
    """Rows of the CUDA C++ programs."""
    answers = load("programs_h200")
    other: list[str] = []
    for program in all_programs():
        args, expected = program.case()
        shape = program.grid, program.block
        Module(program.text()).launch(program.kernel, *shape, args, shared=program.shared)
        check(args, expected)
        if (
            digest([raw(arg) for arg in args if isinstance(arg, np.ndarray)])
            != answers[program.name]
        ):
            other.append(program.kernel)
    count = len(all_programs())
    return (
        f"{count} programs match NumPy on both machines; {count - len(other)} of them leave the\n"
        f"same bits. The others are {', '.join(other)}: threads reach atomics in\nanother order, "
        "approximate functions are used, or ptxas fuses a `mul` and an `add` that have no\n`.rn`, "
        "which it may do and the emulator never does."
    )


def main() -> int:
    """Print the page."""
    exact = load("arithmetic_h200")
    sections = [
        ("Arithmetic, bits, comparisons", arithmetic_probes.exact_probes(), exact, mnemonic),
        ("Conversions", conversion_probes(), exact, mnemonic),
        ("Memory", memory_probes(), exact, mnemonic),
        ("Warps and matrices", matrix_probes.all_probes(), load("matrix_h200"), matrix_name),
        ("Matrices through memory", wmma_probes(), load("wmma_h200"), matrix_name),
        ("Order, control flow", order_probes(), load("order_h200"), order_name),
    ]
    print(HEAD)
    for title, probes, answers, name_of in sections:
        print(f"## {title}\n\n{equality(probes, answers, name_of)}\n")
    print(f"## Approximations\n\n{NEAR}\n{approximations()}\n")
    print(f"## Copies and mbarriers\n\n{copies()}\n")
    print(f"## Accumulation\n\n{ACCUMULATION}\n{adders()}\n")
    print(f"## Programs\n\n{programs()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
