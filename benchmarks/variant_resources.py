"""Compile variants of kernels for sm_90 without a GPU, and print the resources of each kernel."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple

from cuda.tile.compilation import export_kernel
from variant_arrays import UnfilledArrays
from variant_sizes import Size, Variant

import tilewright
from tilewright.cutile.signatures import Arguments
from tilewright.driver.progress import progress

ARCH: Final = "sm_90"
VERSION: Final = "13.4"
WGMMA_WARNING: Final = re.compile(r"C75\d\d")
"""Warnings of ptxas that wgmma instructions are serialized."""

Case = tuple[str, Variant, Size]


class Kernel(NamedTuple):
    """A kernel of a case as bytecode, and the schedule to compile it with."""

    name: str
    code: bytes
    schedule: str


class Usage(NamedTuple):
    """What a kernel takes, or why it does not compile."""

    name: str
    problem: str = ""
    registers: int = 0
    shared: int = 0
    spills: tuple[int, int] = (0, 0)
    """Bytes of spill stores and loads of a thread."""
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name}: {self.problem}"
        stores, loads = self.spills
        warnings = f", {' '.join(self.warnings)}" if self.warnings else ""
        return (
            f"{self.name}: {self.registers} registers, {self.shared} bytes of shared memory, "
            f"spills {stores}+{loads} bytes{warnings}"
        )


def report_resources(cases: Sequence[Case], schedules: Sequence[str], jobs: int) -> int:
    """Print a line for each kernel, then the counts; return 1 if one does not compile."""
    usages: list[Usage] = []
    with multiprocessing.Pool(jobs) as pool:
        results = pool.imap(usages_of, exported(cases, schedules or [""]))
        for group in progress(results, len(cases) * max(1, len(schedules))):
            print("\n".join(map(str, group)), flush=True)
            usages += group
    print(summary(usages))
    return int(any(usage.problem for usage in usages))


def summary(usages: Sequence[Usage]) -> str:
    """The number of kernels, of those that spill, and of those with warnings."""
    spill = sum(any(usage.spills) for usage in usages)
    warned = sum(bool(usage.warnings) for usage in usages)
    failed = sum(bool(usage.problem) for usage in usages)
    return (
        f"{len(usages)} kernels: {spill} spill, {warned} have warnings of wgmma, "
        f"{failed} do not compile"
    )


def exported(cases: Sequence[Case], schedules: Sequence[str]) -> Iterator[list[Kernel]]:
    """The kernels of each case."""
    for name, variant, size in cases:
        codes = codes_of(variant, size)
        for schedule in schedules:
            label = f"{name} ({schedule or 'chosen'})"
            yield [
                Kernel(f"{label} {kernel}" if len(codes) > 1 else label, code, schedule)
                for kernel, code in codes
            ]


def codes_of(variant: Variant, size: Size) -> list[tuple[str, bytes]]:
    """The kernels of a case in order: the name of each, and its bytecode."""
    steps = variant.build(UnfilledArrays(), *size, variant.dtype).steps
    return [(kernel_name(step.kernel), bytecode(step.kernel, step.arguments)) for step in steps]


def kernel_name(kernel: Any) -> str:
    """The name of the function of a kernel."""
    return kernel._annotated_function.pyfunc.__name__


def bytecode(kernel: Any, arguments: Sequence[Any]) -> bytes:
    """The bytecode of a kernel for the types of some arguments."""
    code = BytesIO()
    signature = Arguments(kernel, arguments).signature
    export_kernel(
        kernel, [signature], code, output_format="tileir_bytecode", bytecode_version=VERSION
    )
    return code.getvalue()


def usages_of(kernels: Sequence[Kernel]) -> list[Usage]:
    """Compile the kernels of a case."""
    return [usage_of(kernel) for kernel in kernels]


def usage_of(kernel: Kernel) -> Usage:
    """Compile a kernel through ptxas."""
    try:
        module = tilewright.compile(kernel.code, ARCH, schedule=kernel.schedule)
    except tilewright.Error as error:
        return Usage(kernel.name, (str(error) or repr(error)).splitlines()[0])
    (entry,) = module.entries.values()
    used = entry.resources
    codes = {code for remark in module.remarks for code in WGMMA_WARNING.findall(remark.message)}
    spills = (used.spill_stores, used.spill_loads)
    return Usage(kernel.name, "", used.registers, used.shared, spills, tuple(sorted(codes)))
