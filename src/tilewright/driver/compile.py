"""Compile programs: `tilewright.compile`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tilewright.driver.api import read_level
from tilewright.driver.assembly import enclosed
from tilewright.driver.cache import cached
from tilewright.driver.files import read_input
from tilewright.driver.pipelines import (
    CHECKED,
    CHECKS,
    EMITTED,
    OPT_LEVELS,
    STAGES,
    level_of,
    levels_between,
    parse_pipeline,
    passes_to,
)
from tilewright.driver.settings import Settings
from tilewright.driver.stored import Stored
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


class Watch:
    """Observers of a compilation: pass instruments, timing, and the diagnostic sink."""

    __slots__ = ("clock", "instruments", "sink")

    def __init__(
        self,
        instruments: Sequence[Instrument] = (),
        clock: Timing | None = None,
        *,
        remarks: bool = False,
    ) -> None:
        self.clock = clock or Timing()
        self.instruments = [*instruments, self.clock]
        self.sink = Sink(remarks=remarks)


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

    __slots__ = ("_made", "arch", "entries", "plans", "remarks", "stages")

    def __init__(self, stages: Stages, made: Stored) -> None:
        self.arch = made.arch
        self.stages = stages
        """The program at every level that it went through, as text."""
        self._made = made
        self.entries = {name: Entry(name, each) for name, each in made.entries.items()}
        """The kernels by name."""
        self.remarks = made.remarks
        """What the passes and ptxas have to say."""
        self.plans: dict[str | None, object] = {}
        """What launches have found out about kernels, for those that follow."""

    @property
    def program(self) -> Operation:
        """What was compiled."""
        return self.stages.program

    @property
    def ptx(self) -> str:
        """The PTX text."""
        return self._made.ptx

    @property
    def cubin(self) -> bytes:
        """What ptxas made of the PTX."""
        if self._made.cubin is None:
            raise ValueError("expected a module that was compiled to a cubin, got one to PTX")
        return self._made.cubin


class Program:
    """What is compiled: read and verified once somebody needs it."""

    def __init__(self, source: Source, name: str = "<input>") -> None:
        self._name = name
        self._source: bytes | str | Operation
        if isinstance(source, os.PathLike):
            self._source, self._name = read_input(os.fspath(source))
        else:
            # Whoever gives us a module may go on to change it.
            self._source = source.clone() if isinstance(source, Operation) else source

    @cached_property
    def module(self) -> Operation:
        """The verified program, which nobody changes."""
        source = self._source
        module = source if isinstance(source, Operation) else read_level(source, self._name)
        verify(module)
        return module

    def content(self) -> tuple[bytes, str]:
        """All that tells the program from others, and the name of its source."""
        source = self._source
        if isinstance(source, Operation):
            source = print_op(self.module, debug=True, generic=True)
        data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        return data, self._name

    def compiled(self, settings: Settings, emit: str) -> Stored:
        """What the program becomes."""
        compilation = Compilation(self.module.clone(), settings)
        compilation.to(emit)
        return compilation.result()


class Stages(Mapping[str, str]):
    """A program at every level that it goes through, each made when it is asked for."""

    __slots__ = ("_program", "_settings")

    def __init__(self, program: Program, settings: Settings) -> None:
        self._program = program
        self._settings = settings

    @property
    def program(self) -> Operation:
        """The program as it was given."""
        return self._program.module

    def __getitem__(self, stage: str) -> str:
        if stage not in self._names:
            raise KeyError(stage)
        module = self._program.module.clone()
        made = Compilation(module, self._settings).to(stage)
        assert isinstance(made, str)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        first = STAGES.index(level_of(self._program.module))
        return STAGES[first : STAGES.index("cubin")]


class Compilation:
    """One program on its way down, which it goes once."""

    def __init__(self, module: Operation, settings: Settings, watch: Watch | None = None) -> None:
        self.module = module
        # What a debugger follows is not optimized.
        self.settings = settings._replace(opt_level=0) if settings.device_debug else settings
        self.watch = watch or Watch()
        self.ptx = ""
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
            written = emit_llvm(
                self.module,
                settings.arch,
                line_info=settings.line_info,
                variables=settings.device_debug,
            )
        if stage == "llvm":
            return written.text
        from tilewright.emit.ptx import compile_ptx  # noqa: PLC0415

        with clock.measure("LLVM"):
            self.ptx = compile_ptx(written, opt_level=settings.opt_level)
        return self.ptx if stage == "ptx" else self.assemble(self.ptx)

    def lower(self, stage: str) -> None:
        """Run the passes down to a level, or to the last one."""
        level = level_of(self.module)
        if STAGES.index(stage) < STAGES.index(level):
            message = f"expected a stage from '{level}' on, where the program is, got '{stage}'"
            raise UserError([Diagnostic(message, self.module.location)])
        if self.settings.device_debug:
            self._run("name-values")
        if level == "cuda_tile":
            self._run(self._passes_to(level))
        elif level in ("nv_tileaa", "nv_tileas"):
            name_target(self.module, self.settings.arch)
        if self.settings.sanitize and level not in CHECKED:
            raise Unsupported(f"checks of accesses at the level of '{level}'", self.module.location)
        for below in levels_between(level, stage):
            self.module = enclosed(self.module)
            if self.settings.sanitize and level == CHECKED[-1]:
                self._run(CHECKS)
            self._run(self._passes_to(below))
            level = below

    def _passes_to(self, level: str) -> str:
        asked = self.settings
        return passes_to(level, asked.arch.name, asked.opt_level, checked=asked.sanitize)

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
                device_debug=settings.device_debug,
                foreign=self._foreign,
            )
        self.watch.sink.diagnostics += remarks_of(self.cubin)
        return self.cubin.data

    def result(self) -> Stored:
        """What the program has become, with what there is to say about it."""
        remarks = self.watch.sink.diagnostics
        return Stored.of(self.settings.arch.name, self.ptx, self.cubin, remarks)


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
    cache: bool = False,
) -> CompiledModule:
    """Compile a program for a GPU.

    `source` is Tile IR or text of a level below it: bytecode, text, a path or a module, which
    stays as it is. With `emit="ptx"` ptxas is not needed, and there is neither cubin nor entries.
    With `cache` the result is kept on disk, and taken from there the next time.

    Raises `tilewright.Error` if the program is wrong or needs what is not supported.
    """
    if emit not in ("ptx", "cubin"):
        raise ValueError(f"expected 'ptx' or 'cubin', got {emit!r}")
    if opt_level not in OPT_LEVELS:
        raise ValueError(f"expected an optimization level from 0 to 3, got {opt_level!r}")
    settings = Settings(target(arch), opt_level, line_info, device_debug, sanitize)
    with CollectorPause():
        program = Program(source)

        def make() -> Stored:
            return program.compiled(settings, emit)

        made = cached(*program.content(), settings, emit, make) if cache else make()
    return CompiledModule(Stages(program, settings), made)
