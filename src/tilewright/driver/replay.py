"""Replay crash kits: run the step of a compilation that failed again."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tilewright.driver.api import read_level
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.back_end import EMISSION, LLVM, PASSES, PTXAS, BackEnd, Observers
from tilewright.driver.compile import Compilation, target
from tilewright.driver.crash_kits import (
    FACTS,
    FORMAT,
    INPUT,
    MODULE,
    PTX,
    is_bug,
    signature_of,
)
from tilewright.driver.files import DEFAULT_ARCH, FileError, read_input
from tilewright.driver.pipelines import leaves_tile_ir, parse_pipeline
from tilewright.driver.settings import Settings
from tilewright.ir.instruments import VerifyEach
from tilewright.support.diagnostics import Sink

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Instrument


class CrashKit:
    """A crash kit in a folder."""

    __slots__ = ("facts", "folder", "settings")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        data, name = read_input(os.path.join(folder, FACTS))
        try:
            facts = json.loads(data)
            if facts["format"] != FORMAT:
                raise FileError(
                    f"'{name}': expected a crash kit of format {FORMAT}, found {facts['format']}"
                )
            self.settings = _settings(facts.get("settings", {}))
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"'{name}': expected the facts of a crash kit") from error
        self.facts: dict[str, object] = facts

    @property
    def step(self) -> str:
        """The step of the compilation that failed."""
        return str(self.facts["step"])

    @property
    def pipeline(self) -> str:
        """The pass that failed, as a pipeline; empty for other steps."""
        return str(self.facts.get("pass", ""))

    @property
    def failure(self) -> dict[str, str]:
        """What identifies the failure."""
        return cast("dict[str, str]", self.facts["error"])

    def has(self, name: str) -> bool:
        """Whether the kit has a file."""
        return os.path.isfile(os.path.join(self.folder, name))

    def read(self, name: str) -> bytes:
        """Read a file of the kit; raises `FileError`."""
        return read_input(os.path.join(self.folder, name))[0]

    def path(self, name: str) -> str:
        """The path of a file of the kit."""
        return os.path.join(self.folder, name)

    def describe(self) -> str:
        """The step that failed, for messages."""
        names = {EMISSION: "the emission of LLVM IR", LLVM: "LLVM", PTXAS: "ptxas"}
        if self.pipeline:
            return f"pass '{self.pipeline}'"
        return names.get(self.step, "the compilation")

    def replay(self, instruments: Sequence[Instrument] = ()) -> None:
        """Run the step that failed on the module before it; raises its error."""
        if self.step == PTXAS:
            BackEnd(self.settings, None, foreign=False).assemble(self.read(PTX).decode())
        elif self.has(MODULE) and (self.step != PASSES or self.pipeline):
            self.run_step(read_level(self.read(MODULE), self.path(MODULE)), instruments)
        else:
            self.compile_input(instruments)

    def run_step(self, module: Operation, instruments: Sequence[Instrument] = ()) -> None:
        """Run the step that failed on a module of its level; raises its error."""
        if self.step == PASSES:
            checks = [VerifyEach()] if self.facts.get("verify_each") else []
            sink = Sink(remarks=bool(self.facts.get("remarks")))
            parse_pipeline(self.pipeline).run(module, sink, [*instruments, *checks])
            return
        compilation = Compilation(module, self.settings)
        compilation.emit({EMISSION: "llvm", LLVM: "ptx", PTXAS: "cubin"}[self.step])

    def compile_input(self, instruments: Sequence[Instrument] = ()) -> None:
        """Run all passes, or the whole compilation, on the program; raises its error."""
        if not self.has(INPUT):
            raise FileError(f"'{self.folder}': expected '{INPUT}', and the kit has none")
        program = read_level(self.read(INPUT), self.path(INPUT))
        if "pipeline" in self.facts:
            pipeline = parse_pipeline(str(self.facts["pipeline"]))
            if leaves_tile_ir(pipeline):
                program = wrap_in_module(program)
            pipeline.run(program, Sink(), instruments)
            return
        observers = Observers(instruments, remarks=bool(self.facts.get("remarks")))
        Compilation(program, self.settings, observers).run(str(self.facts["stage"]))

    def fails_alike(self, module: Operation) -> bool:
        """Whether the step fails on another module as it did on that of the kit."""
        try:
            self.run_step(module)
        except Exception as error:
            return is_bug(error) and signature_of(error) == self.failure
        return False


def _settings(given: dict[str, Any]) -> Settings:
    """The settings of a compilation; raises `ValueError` if one has another type."""
    arch = target(str(given.get("arch", DEFAULT_ARCH)))
    settings = Settings(arch, **{name: value for name, value in given.items() if name != "arch"})
    for value, default in zip(settings, Settings(arch), strict=True):
        # The time limit has none by default.
        expected = int | float | None if default is None else type(default)
        if not isinstance(value, expected):
            raise ValueError(f"expected a setting like {default!r}, got {value!r}")
    return settings
