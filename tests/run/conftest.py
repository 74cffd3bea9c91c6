"""Collects the test programs of this folder: every run of a file, on every executor, is a test."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from programs import Run, parse_labels, parse_runs, problems

import tilewright
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
        for number, run in enumerate(parse_runs(text)):
            for mode, kind in (("plain", ProgramRun), ("checked", ProgramRun), *EMULATED):
                if run.only in (None, mode) and kind.can_run(run, mode):
                    name = f"{run.entry or 'kernel'}-{number}-{mode}"
                    yield kind.from_parent(self, name=name, text=text, run=run, mode=mode)


class Wrong(Exception):
    """A program that did not do what it says."""


class ProgramRun(pytest.Item):
    """One run of a test program."""

    SEEDS: ClassVar = {"plain": (0,), "checked": (1, 2)}

    def __init__(self, text: str, run: Run, mode: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.text = text
        self.run = run
        self.mode = mode

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        """Whether the executor finds what the program does."""
        return True

    def runtest(self) -> None:
        for seed in self.SEEDS[self.mode]:
            self.run_once(seed)

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        module = tilewright.read(self.text, name=self.path.name)
        entry, grid, checked = self.run.entry, self.run.grid, self.mode == "checked"
        tilewright.execute(module, entry, grid, arguments, check=checked, seed=seed, write=write)

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
            raise Wrong(f"expected {self.run.failure.fault}, but the kernel ran to its end")
        self.compare_prints("".join(printed))
        wrong = list(problems(self.run, before, after))
        if wrong:
            raise Wrong("\n".join(wrong))

    def compare_failure(self, error: tilewright.UserError) -> None:
        wanted = self.run.failure
        if wanted is None or not isinstance(error, ExecutionError):
            raise Wrong(error.render()) from error
        if error.fault.name.lower() != wanted.fault:
            raise Wrong(f"expected {wanted.fault}, got {error.fault}\n{error.render()}") from error
        labels = parse_labels(self.text)
        places = [f"{self.path.name}:{labels[label]}" for label in wanted.labels]
        if str(error.location) not in places:
            raise Wrong(f"expected it at {places}, got\n{error.render()}") from error
        if wanted.gist not in str(error):
            raise Wrong(f"expected {wanted.gist!r} in the message, got {error}") from error

    def compare_prints(self, printed: str) -> None:
        # Blocks print in any order: each line is whole, but they may come mixed.
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
        try:
            self.run_once(1)
        except tilewright.Unsupported as error:
            pytest.skip(str(error))

    @classmethod
    def can_run(cls, run: Run, mode: str) -> bool:
        """Of what programs do wrong, a GPU notices failed assertions alone."""
        return run.failure is None or run.failure.fault == "assertion"

    def execute(self, arguments: list[Any], seed: int, write: Callable[[str], object]) -> None:
        module = tilewright.read(self.text, name=self.path.name)
        entry, grid = self.run.entry, self.run.grid
        tilewright.execute(
            module, entry, grid, arguments, "emulator",
            check=True, seed=seed, write=write, arch=self.mode,
        )  # fmt: skip

    def compare_failure(self, error: tilewright.UserError) -> None:
        wanted = self.run.failure
        if wanted is None or wanted.fault not in str(error) or wanted.gist not in str(error):
            raise Wrong(error.render()) from error


EMULATED: Final = (("sm_80", EmulatedRun), ("sm_90", EmulatedRun))
"""The GPUs whose code the emulator runs."""
