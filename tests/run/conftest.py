"""Collect the test programs of this folder: every run of a file, on every executor, is a test."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pytest
from programs import Failure, Run, parse_labels, parse_runs, problems
from repeats import EXHAUSTIVE, are_left_out

import tilewright
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import level_of, parse_pipeline, passes_to
from tilewright.driver.signatures import isolate_kernel
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.reference.errors import ExecutionError


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> ProgramFile | None:
    # Programs of the lower levels have executors of their own.
    if file_path.suffix == ".mlir" and "low" not in file_path.parts:
        return ProgramFile.from_parent(parent, path=file_path)
    return None


class ProgramFile(pytest.File):
    """A test program."""

    def collect(self) -> Iterator[ProgramRun]:
        text = self.path.read_text()
        passing: dict[str | None, int] = {}
        for number, run in enumerate(parse_runs(text)):
            # The later runs of a kernel have other sizes and grids, but the same code.
            passing[run.entry] = passing.get(run.entry, 0) + (run.failure is None)
            modes = NV_TILEAA if "nv_tileaa" in self.path.parts else MODES
            possible = [mode for mode, kind in modes.items() if kind.can_run(run, mode)]
            # Slices of a canonical program show what its tiles do.
            repeats = {*REPEATS, CANONICAL_TILES} if SLICES in possible else {*REPEATS}
            for mode in possible:
                name = f"{run.entry or 'kernel'}-{number}-{mode}"
                later = mode in repeats or passing[run.entry] > 1
                is_repeat = mode == OTHER_ORDER or (later and run.failure is None)
                if is_repeat and are_left_out(self.config):
                    continue
                item = modes[mode].from_parent(self, name=name, text=text, run=run, mode=mode)
                if is_repeat:
                    item.add_marker(EXHAUSTIVE)
                yield item


@cache
def read_file(path: Path) -> Operation:
    """Read a file once for all of its runs."""
    return read_runnable(path.read_text(), path.name)


@cache
def read_kernel(path: Path, entry: str | None) -> Operation:
    """Read a file without its other kernels."""
    return isolate_kernel(read_file(path), entry)


class Wrong(Exception):
    """A run that contradicts the program's expectations."""


class ProgramRun(pytest.Item):
    """One run of a test program."""

    SEEDS: ClassVar = {"plain": (0,), "checked": (1,), "checked-again": (2,)}

    def __init__(self, text: str, run: Run, mode: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.text = text
        self.run = run
        self.mode = mode

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        """Return whether the executor supports the run."""
        return run.only in (None, mode.partition("-")[0])

    def runtest(self) -> None:
        for seed in self.SEEDS[self.mode]:
            self.run_once(seed)

    def kernel(self) -> Operation:
        """A copy of the program with the kernel of this run alone."""
        return read_kernel(self.path, self.run.entry).clone()

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        entry, grid, checked = self.run.entry, self.run.grid, self.mode != "plain"
        tilewright.execute(
            self.kernel(), entry, grid, arguments, check=checked, seed=seed, write=write
        )

    def run_once(self, seed: int) -> None:
        before = self.run.values()
        after = copy.deepcopy(before)
        printed: list[str] = []
        try:
            self.execute(list(after.values()), seed, printed.append)
        except tilewright.UserError as error:
            self.compare_failure(error)
            return
        if self.run.failure is not None:
            self.compare_end(self.run.failure)
            return
        self.compare_prints("".join(printed))
        wrong = list(problems(self.run, before, after))
        if wrong:
            raise Wrong("\n".join(wrong))

    def compare_end(self, wanted: Failure) -> None:
        raise Wrong(f"expected {wanted.fault}, but the kernel ran to its end")

    def compare_failure(self, error: tilewright.UserError) -> None:
        wanted = self.run.failure
        if wanted is None or not isinstance(error, ExecutionError):
            raise Wrong(error.render()) from error
        if error.fault.name.lower() != wanted.fault:
            raise Wrong(f"expected {wanted.fault}, got {error.fault}\n{error.render()}") from error
        labels = parse_labels(self.text)
        locations = [f"{self.path.name}:{labels[label]}" for label in wanted.labels]
        if str(error.location) not in locations:
            raise Wrong(f"expected it at {locations}, got\n{error.render()}") from error
        if wanted.gist not in str(error):
            raise Wrong(f"expected {wanted.gist!r} in the message, got {error}") from error

    def compare_prints(self, printed: str) -> None:
        # Blocks print in any order: each line is whole, but they may be interleaved.
        if sorted(printed.splitlines()) != sorted(self.run.prints):
            raise Wrong(f"expected to print {self.run.prints}, got {printed.splitlines()}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Wrong):
            return f"{self.path.name}, run in line {self.run.line}, {self.mode}:\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.run.line - 1, self.name


class EmulatedRun(ProgramRun):
    """One run of a test program as compiled code for a GPU, on the emulator with its checker on."""

    def runtest(self) -> None:
        self.run_once(1)

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        """Return whether a GPU has clusters if needed, and reports the expected failure.

        It only reports failed assertions.
        """
        if run.only is not None or (run.cluster is not None and mode == "sm_80"):
            return False
        return run.failure is None or run.failure.fault == "assertion"

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        entry, grid = self.run.entry, self.run.grid
        tilewright.execute(
            self.kernel(), entry, grid, arguments, "emulator",
            check=True, seed=seed, write=write, arch=self.mode,
        )  # fmt: skip

    def compare_failure(self, error: tilewright.UserError) -> None:
        wanted = self.run.failure
        # A GPU reports only the message of an assertion.
        message = "" if wanted is None else wanted.gist.partition('"')[2].rstrip('"') or wanted.gist
        if wanted is None or wanted.fault not in str(error) or message not in str(error):
            raise Wrong(error.render()) from error


class SanitizedRun(EmulatedRun):
    """One run of a test program as compiled code for a GPU that checks its accesses."""

    NOTICED: ClassVar = {
        "expected index": "outside of its view'",
        "is declared in bounds": "outside of its view, which it promised not to be'",
        "expected an address divisible": "at a null or misaligned address'",
        "which must not change": "to memory that must not change'",
    }
    """Messages of compiled code for invalid accesses, by those of the reference executor."""

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        if run.failure is None or run.failure.fault == "assertion":
            return super().can_run(run, mode)
        return cls.expected_text(run.failure) is not None

    @classmethod
    def expected_text(cls, failure: Failure) -> str | None:
        """Return the message for an invalid access, or `None` for other failures."""
        texts = (text for gist, text in cls.NOTICED.items() if failure.gist.startswith(gist))
        return next(texts, None)

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        entry, grid = self.run.entry, self.run.grid
        tilewright.execute(
            self.kernel(), entry, grid, arguments, "emulator",
            check=True, seed=seed, write=write, arch=GPU, sanitize=True,
        )  # fmt: skip

    def compare_failure(self, error: tilewright.UserError) -> None:
        wanted = self.run.failure
        expected_text = None if wanted is None else self.expected_text(wanted)
        if wanted is None or expected_text is None:
            super().compare_failure(error)
            return
        labels = parse_labels(self.text)
        locations = [f"'{self.path.name}:{labels[label]}: " for label in wanted.labels]
        if expected_text not in str(error) or not any(
            location in str(error) for location in locations
        ):
            raise Wrong(
                f"expected {expected_text!r} at {locations}, got\n{error.render()}"
            ) from error


class LoweredRun(ProgramRun):
    """One run of a test program at the level of nv_tileaa: as lowered, or transformed."""

    SEEDS: ClassVar = {"plain": (0,), "checked": (1,)}

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        if mode.startswith("sliced") and any(np.size(each) > FEW for each in run.values().values()):
            return False
        return run.only in (None, mode.split("-")[1])

    def runtest(self) -> None:
        for seed in self.SEEDS[self.mode.split("-")[1]]:
            self.run_once(seed)

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        stage, check = self.mode.split("-")
        root = wrap_in_module(self.kernel())
        passes = PASSES[stage] if level_of(root) == "cuda_tile" else "canonicalize,cse"
        if stage == "sliced":
            passes += f",slice-tiles{{words={self.slice_words()}}}"
        parse_pipeline(passes).run(root)
        entry, grid, checked = self.run.entry, self.run.grid, check == "checked"
        tilewright.execute(root, entry, grid, arguments, check=checked, seed=seed, write=write)

    def slice_words(self) -> int:
        """How many registers a tile may take, such that nearly every tile is too large."""
        return 2 if max(map(np.size, self.run.values().values()), default=0) <= 128 else 16

    def compare_end(self, wanted: Failure) -> None:
        if self.mode.startswith("lowered") or wanted.fault in KEPT:
            super().compare_end(wanted)


class SharedRun(ProgramRun):
    """One run of a test program whose tiles the CTAs of a cluster share, as far as they can.

    On the reference executor, whose checker reports races between the CTAs, or as compiled code.
    """

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        return run.only is None and run.failure is None and run.cluster is None

    def runtest(self) -> None:
        self.run_once(1)

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        root = wrap_in_module(self.kernel())
        is_lowered = level_of(root) == "nv_tileaa"
        parse_pipeline("canonicalize" if is_lowered else CANONICAL).run(root)
        for kernel in [op for op in root.walk() if isinstance(op, FuncOp) and op.is_kernel]:
            warps = kernel.kernel_spec.num_warps if kernel.kernel_spec else None
            kernel.attributes["kernel_spec"] = KernelSpecAttr(SHARED_BY, warps)
        entry, grid = self.run.entry, self.run.grid
        if self.mode == "shared-checked":
            parse_pipeline("inline-calls,record-requests,plan-splits{forms=cta},tile").run(root)
            verify(root)
            tilewright.execute(root, entry, grid, arguments, check=True, seed=seed, write=write)
            return
        tilewright.execute(
            root, entry, grid, arguments, "emulator",
            check=True, seed=seed, write=write, arch=GPU,
        )  # fmt: skip


SHARED_BY: Final = 4
"""The CTAs of a cluster that share tiles: two bits of the rank."""
GPU: Final = "sm_90"
"""The GPU that sanitized programs are compiled for, and those that a cluster runs."""
CANONICAL: Final = passes_to("nv_tileaa", GPU)
PASSES: Final = {
    "lowered": CANONICAL.partition(",canonicalize")[0],
    "canonical": CANONICAL,
    "sliced": CANONICAL,
}
FEW: Final = 4096
"""More elements take long in slices that small."""
KEPT: Final = ("assertion", "misaligned", "race", "read_only", "uninitialised")
"""Errors that canonical programs still have. Others may be removed with unused values."""

MODES: Final[dict[str, type[ProgramRun]]] = {
    "plain": ProgramRun,
    "checked": ProgramRun,
    "checked-again": ProgramRun,
    "lowered-plain": LoweredRun,
    "lowered-checked": LoweredRun,
    "canonical-plain": LoweredRun,
    "canonical-checked": LoweredRun,
    "sliced-checked": LoweredRun,
    "sm_80": EmulatedRun,
    "sm_90": EmulatedRun,
    "sanitized": SanitizedRun,
    "shared-checked": SharedRun,
    "shared-sm_90": SharedRun,
}
"""The modes in which a program runs; for GPUs, the emulator runs their code."""
SLICES: Final = "sliced-checked"
"""The mode that slices the tiles of a canonical program."""
CANONICAL_TILES: Final = "canonical-checked"
"""The same without slices."""
OTHER_ORDER: Final = "checked-again"
"""The mode that checks a run in another order of blocks, and a failure too."""
REPEATS: Final = (
    "plain",
    "lowered-plain",
    "lowered-checked",
    "canonical-plain",
    "sm_80",
    "sanitized",
    "shared-checked",
    "shared-sm_90",
)
"""Modes that repeat a checked or an emulated one: another seed or GPU, fewer passes, more checks.

Runs that fail stay in all modes: there each mode reports the failure in its own way.
"""
NV_TILEAA: Final = {mode: kind for mode, kind in MODES.items() if "lowered" not in mode}
"""The modes for programs that are at that level already."""
