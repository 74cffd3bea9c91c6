"""Compile programs: `tilewright.compile`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.api import read_level
from tilewright.driver.assembly import enclosed
from tilewright.driver.files import read_input
from tilewright.driver.pipelines import (
    EMITTED,
    LEVELS,
    STAGES,
    level_of,
    levels_between,
    parse_pipeline,
)
from tilewright.ir.instruments import Timing
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Diagnostic, Severity, Sink, Unsupported, UserError
from tilewright.target.arch import ARCHES, Arch, find_arch
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.ir.passes import Instrument

ASSEMBLY: Final = "llvm.inline_asm"
"""What a program says to ptxas directly."""

LLVM_MADE: Final = EMITTED[EMITTED.index("llvm") + 1 :]
"""What is there only behind LLVM."""

Source = bytes | str | os.PathLike[str] | Operation


class Settings(NamedTuple):
    """What a program is compiled for."""

    arch: Arch
    opt_level: int = 3
    line_info: bool = False
    device_debug: bool = False
    """Keep lines and variables for a debugger; nothing is optimized away."""
    sanitize: bool = False
    """Check every access of global memory against its view."""


class Watch:
    """Who looks on: instruments of passes, a clock, and where remarks go."""

    __slots__ = ("clock", "instruments", "sink")

    def __init__(self, instruments: Sequence[Instrument] = (), clock: Timing | None = None) -> None:
        self.clock = clock or Timing()
        self.instruments = [*instruments, self.clock]
        self.sink = Sink()


class Entry:
    """A kernel of a compiled module."""

    __slots__ = ("name", "resources")

    def __init__(self, name: str, resources: Resources) -> None:
        self.name = name
        self.resources = resources
        """Registers, spills, stack, shared memory and occupancy, as ptxas left them."""

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.resources!r})"


class CompiledModule:
    """What a program became."""

    __slots__ = ("_cubin", "_ptx", "arch", "entries", "remarks", "stages")

    def __init__(
        self, arch: str, stages: Stages, ptx: str, cubin: Cubin | None, remarks: list[Diagnostic]
    ) -> None:
        self.arch = arch
        self.stages = stages
        """The program at every level that it went through, as text."""
        self._ptx = ptx
        self._cubin = cubin
        found = {} if cubin is None else cubin.entries
        self.entries = {name: Entry(name, resources) for name, resources in found.items()}
        """The kernels by name."""
        self.remarks = remarks
        """What the passes and ptxas have to say."""

    @property
    def ptx(self) -> str:
        """The PTX text."""
        return self._ptx

    @property
    def cubin(self) -> bytes:
        """What ptxas made of the PTX."""
        if self._cubin is None:
            raise ValueError("expected a module that was compiled to a cubin, got one to PTX")
        return self._cubin.data


class Stages(Mapping[str, str]):
    """A program at every level that it goes through, each made when it is asked for."""

    __slots__ = ("_names", "_settings", "_source")

    def __init__(self, source: Operation, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        self._names = STAGES[STAGES.index(level_of(source)) : STAGES.index("cubin")]

    def __getitem__(self, stage: str) -> str:
        if stage not in self._names:
            raise KeyError(stage)
        module = self._source.clone()
        made = Compilation(module, self._settings).to(stage)
        assert isinstance(made, str)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Compilation:
    """One program on its way down, which it goes once."""

    def __init__(self, module: Operation, settings: Settings, watch: Watch | None = None) -> None:
        self.module = module
        self.settings = settings
        self.watch = watch or Watch()
        self.cubin: Cubin | None = None
        self._foreign = any(op.name == ASSEMBLY for op in module.walk())

    def to(self, stage: str) -> str | bytes:
        """The program at a stage: text, or the bytes of a cubin."""
        if stage in LLVM_MADE:
            # LLVM loads in another process while the passes run in this one.
            from tilewright.emit.service import pool  # noqa: PLC0415

            pool().warm()
        self.lower(stage)
        if stage not in EMITTED:
            return print_op(self.module)
        # LLVM is loaded by whoever needs it.
        from tilewright.emit.llvm.module import emit_llvm  # noqa: PLC0415

        settings = self.settings
        clock = self.watch.clock
        with clock.measure("write LLVM IR"):
            written = emit_llvm(self.module, settings.arch, line_info=settings.line_info)
        if stage == "llvm":
            return written.text
        from tilewright.emit.ptx import compile_ptx  # noqa: PLC0415

        with clock.measure("LLVM"):
            ptx = compile_ptx(written, opt_level=settings.opt_level)
        return ptx if stage == "ptx" else self.assemble(ptx)

    def lower(self, stage: str) -> None:
        """Run the passes down to a level, or to the last one."""
        level = level_of(self.module)
        if STAGES.index(stage) < STAGES.index(level):
            message = f"expected a stage from '{level}' on, where the program is, got '{stage}'"
            raise UserError([Diagnostic(message, self.module.location)])
        if level == "cuda_tile":
            self._run(LEVELS[self.settings.opt_level])
        elif level in ("nv_tileaa", "nv_tileas"):
            name_target(self.module, self.settings.arch)
        for below, passes in levels_between(level, stage):
            if passes is None:
                raise Unsupported(f"the way from '{level}' to '{below}'", self.module.location)
            self.module = enclosed(self.module)
            self._run(passes.replace("$arch", self.settings.arch.name))
            level = below

    def _run(self, passes: str) -> None:
        if passes:
            watch = self.watch
            parse_pipeline(passes).run(self.module, watch.sink, watch.instruments)

    def assemble(self, ptx: str) -> bytes:
        """The cubin of the PTX."""
        from tilewright.emit.cubin import assemble  # noqa: PLC0415

        settings = self.settings
        with self.watch.clock.measure("ptxas"):
            self.cubin = assemble(
                ptx,
                settings.arch,
                opt_level=settings.opt_level,
                line_info=settings.line_info,
                foreign=self._foreign,
            )
        self.watch.sink.diagnostics += remarks_of(self.cubin)
        return self.cubin.data


def name_target(program: Operation, arch: Arch) -> None:
    """Write down the GPU in modules of tiles that do not say which they are for."""
    from tilewright.dialects.gpu.structure import GPUModuleOp  # noqa: PLC0415
    from tilewright.dialects.nv_tileaa.attributes import (  # noqa: PLC0415
        TARGET_SPEC_NAME,
        TargetSpecAttr,
    )

    for op in program.walk():
        if isinstance(op, GPUModuleOp):
            op.attributes.setdefault(TARGET_SPEC_NAME, TargetSpecAttr(arch.number))


def remarks_of(cubin: Cubin) -> Iterator[Diagnostic]:
    """What ptxas said, and what costs time without being wrong."""
    for warning in cubin.warnings:
        yield Diagnostic(f"ptxas: {warning}", severity=Severity.REMARK)
    for entry in cubin.entries.values():
        if entry.spill_stores or entry.spill_loads:
            moved = f"{entry.spill_stores} bytes out, {entry.spill_loads} in"
            message = f"'{entry.name}' spills registers: {moved} a thread"
            yield Diagnostic(message, severity=Severity.REMARK)


def target(name: str) -> Arch:
    """The GPU of a name; raises `Unsupported` with those that there are."""
    found = find_arch(name)
    if found is None:
        raise Unsupported(f"the GPU '{name}': expected one of {', '.join(ARCHES)}")
    return found


def compile(
    source: Source,
    arch: str = "sm_90",
    opt_level: int = 3,
    *,
    emit: str = "cubin",
    line_info: bool = False,
    device_debug: bool = False,
    sanitize: bool = False,
) -> CompiledModule:
    """Compile a program for a GPU.

    `source` is Tile IR or text of a level below it: bytecode, text, a path or a module, which
    stays as it is. With `emit="ptx"` ptxas is not needed, and there is neither cubin nor entries.

    Raises `tilewright.Error` if the program is wrong or needs what is not supported.
    """
    if emit not in ("ptx", "cubin"):
        raise ValueError(f"expected 'ptx' or 'cubin', got {emit!r}")
    if opt_level not in range(len(LEVELS)):
        raise ValueError(f"expected an optimization level from 0 to 3, got {opt_level!r}")
    settings = Settings(target(arch), opt_level, line_info, device_debug, sanitize)
    with CollectorPause():
        module = _module(source)
        compilation = Compilation(module.clone(), settings)
        ptx = compilation.to("ptx")
        assert isinstance(ptx, str)
        if emit == "cubin":
            compilation.assemble(ptx)
    watch = compilation.watch
    stages = Stages(module, settings)
    return CompiledModule(
        settings.arch.name, stages, ptx, compilation.cubin, watch.sink.diagnostics
    )


def _module(source: Source) -> Operation:
    """A verified program that nobody else changes."""
    if isinstance(source, Operation):
        module = source.clone()
    elif isinstance(source, os.PathLike):
        module = read_level(*read_input(os.fspath(source)))
    else:
        module = read_level(source, "<input>")
    verify(module)
    return module
