"""Collects programs of the lower levels: assembled for each of their GPUs, each run emulated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from low_programs import HOME, Wrong, arch_names, check, emulate, ptx_of, targets
from programs import Run, parse_runs
from repeats import EXHAUSTIVE

from tilewright.emit.cubin import assemble
from tilewright.target.arch import Arch

TOOL = Path(__file__).parents[3] / "tools" / "gpu_programs.py"
VARIANTS = ("nn_cluster", "nn_plain", "nt_plain")
"""Programs of `hopper_gemm` that repeat others in another layout or kernel ABI.

`make test` emulates none of them, and assembles the last one.
"""


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> LowFile | None:
    if file_path.suffix == ".mlir":
        return LowFile.from_parent(parent, path=file_path)
    return None


class LowFile(pytest.File):
    """A program in gpu, nvgpu, nvvm and their neighbours."""

    def collect(self) -> Iterator[pytest.Item]:
        text = self.path.read_text()
        arches = targets(text)
        names = [arch.name for arch in arches]
        for arch in arches:
            item = Assembled.from_parent(self, name=arch.name, text=text, arch=arch)
            # The other GPUs repeat ours.
            is_other = arch.name != HOME and (HOME in names or arch is not arches[0])
            if is_other or self.path.stem in VARIANTS[:-1]:
                item.add_marker(EXHAUSTIVE)
            yield item
        for number, run in enumerate(parse_runs(text)):
            for seed in Emulated.SEEDS:
                name = f"{run.entry or 'kernel'}-{number}-emulated-{seed}"
                emulated = Emulated.from_parent(self, name=name, text=text, run=run, seed=seed)
                # The second run of a GEMM has another size.
                is_larger = self.path.parent.name == "hopper_gemm" and number > 0
                if is_larger or self.path.stem in VARIANTS or seed != Emulated.SEEDS[0]:
                    emulated.add_marker(EXHAUSTIVE)
                yield emulated
            if HOME in arch_names(run):
                name = f"{run.entry or 'kernel'}-{number}-gpu"
                yield OnGpu.from_parent(self, name=name, text=text, run=run, number=number)


class Assembled(pytest.Item):
    """A program as ptxas takes it for one GPU."""

    def __init__(self, text: str, arch: Arch, **rest: Any) -> None:
        super().__init__(**rest)
        self.text = text
        self.arch = arch

    def runtest(self) -> None:
        cubin = assemble(ptx_of(self.text, self.path.name, self.arch.name), self.arch)
        assert cubin.entries
        assert not any(entry.spill_stores for entry in cubin.entries.values())


class Emulated(pytest.Item):
    """One run of a program on the emulator, with its checker on."""

    SEEDS: ClassVar = (1, 2)
    """The orders in which the emulator schedules warps; `make test` tries the first."""

    def __init__(self, text: str, run: Run, seed: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.text = text
        self.run = run
        self.seed = seed

    def runtest(self) -> None:
        name = self.path.name
        check(self.run, self.text, name, emulate(self.run, self.text, name, self.seed))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Wrong):
            return f"{self.path.name}, run in line {self.run.line}:\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.run.line - 1, self.name


class OnGpu(pytest.Item):
    """One run of a program on a GPU, in a process of its own: an error spoils the context."""

    def __init__(self, text: str, run: Run, number: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.run = run
        self.number = number
        self.add_marker(pytest.mark.gpu)

    def runtest(self) -> None:
        if not Path("/dev/nvidiactl").exists():
            pytest.skip("needs an NVIDIA GPU")
        command = [sys.executable, str(TOOL), str(self.path), "--only", str(self.number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.run.line - 1, self.name
