"""Compile programs: `tilewright.compile`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tilewright.driver.api import read_level
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.cache import cached
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.files import DEFAULT_ARCH, read_source
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
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.lookup import Tuned, compile_tuned
from tilewright.driver.tuning.lookup import tuned as find_tuned
from tilewright.ir.instruments import Timing
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Diagnostic, Severity, Sink, Unsupported, UserError
from tilewright.support.tensor_map_parameters import ENCODERS, KERNEL, PARAMETERS
from tilewright.target.arch import ARCHES, Arch, find_arch
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.driver.map_parameters import Maps
    from tilewright.emit.cubin import Cubin, Resources
    from tilewright.ir.passes import Instrument

INLINE_PTX: Final = "llvm.inline_asm"
"""Inline PTX, which ptxas may reject."""

LLVM_STAGES: Final = EMITTED[EMITTED.index("llvm") + 1 :]
"""The stages that LLVM produces."""

Source = bytes | str | os.PathLike[str] | Operation


class Observers:
    """Observers of a compilation: pass instruments, timing, and the diagnostic sink."""

    __slots__ = ("clock", "instruments", "reached", "sink")

    def __init__(
        self,
        instruments: Sequence[Instrument] = (),
        clock: Timing | None = None,
        *,
        remarks: bool = False,
        reached: Callable[[str, Operation], None] | None = None,
    ) -> None:
        self.clock = clock or Timing()
        self.instruments = [*instruments, self.clock]
        self.sink = Sink(remarks=remarks)
        self.reached = reached
        """Called with the name of each level and the module, which later passes modify."""


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
    """The result of `tilewright.compile`."""

    __slots__ = ("_made", "arch", "entries", "plans", "remarks", "stages")

    def __init__(
        self, stages: Stages, made: CompilationResult, remarks: Sequence[Diagnostic] = ()
    ) -> None:
        self.arch = made.arch
        self.stages = stages
        """The program as text at each stage of the lowering pipeline."""
        self._made = made
        self.entries = {name: Entry(name, each) for name, each in made.entries.items()}
        """The kernels by name."""
        self.remarks = [*remarks, *made.remarks]
        """Remarks of the passes and of ptxas, and on the use of a tuning record."""
        self.plans: dict[str | None, object] = {}
        """Launch plans by entry name, cached between launches."""

    @property
    def program(self) -> Operation:
        """The source program."""
        return self.stages.program

    @property
    def ptx(self) -> str:
        """The PTX text."""
        return self._made.ptx

    @property
    def map_parameters(self) -> Maps:
        """The tensor maps that a launcher encodes and passes, by kernel."""
        return self._made.map_parameters

    @property
    def cubin(self) -> bytes:
        """The cubin that ptxas assembled."""
        if self._made.cubin is None:
            raise ValueError("expected a module that was compiled to a cubin, got one to PTX")
        return self._made.cubin


class Program:
    """The source of a compilation, read and verified on first use."""

    def __init__(
        self,
        source: Source,
        name: str = "<input>",
        *,
        arch: str = DEFAULT_ARCH,
        device_debug: bool = False,
    ) -> None:
        self._name = name
        self._source: bytes | str | Operation
        self._warnings: list[Diagnostic] = []
        if isinstance(source, os.PathLike):
            self._source, self._name = read_source(
                os.fspath(source), arch, device_debug=device_debug
            )
        else:
            # The caller may modify its module afterwards.
            self._source = source.clone() if isinstance(source, Operation) else source

    @cached_property
    def module(self) -> Operation:
        """The verified program; compilations clone it."""
        source = self._source
        module = source if isinstance(source, Operation) else read_level(source, self._name)
        self._warnings = verify(module)
        return module

    def content(self) -> tuple[bytes, str]:
        """Return the bytes that the cache key covers, and the name of the source."""
        source = self._source
        if isinstance(source, Operation):
            source = print_op(self.module, debug=True, generic=True)
        data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        return data, self._name

    def compiled(self, settings: Settings, emit: str) -> CompilationResult:
        """Compile the program."""
        compilation = Compilation(self.module.clone(), settings, source=self.module.clone)
        compilation.observers.sink.diagnostics += self._warnings
        compilation.to(emit)
        return compilation.result()


class Stages(Mapping[str, str]):
    """The program at each stage of the lowering pipeline, computed on access."""

    __slots__ = ("_program", "_settings")

    def __init__(self, program: Program, settings: Settings) -> None:
        self._program = program
        self._settings = settings

    @property
    def program(self) -> Operation:
        """The source program."""
        return self._program.module

    def __getitem__(self, stage: str) -> str:
        if stage not in self._names:
            raise KeyError(stage)
        module = self._program.module.clone()
        made = Compilation(module, self._settings, source=self._program.module.clone).to(stage)
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
    """One run of the lowering pipeline on one program."""

    def __init__(
        self,
        module: Operation,
        settings: Settings,
        observers: Observers | None = None,
        *,
        source: Callable[[], Operation] | None = None,
    ) -> None:
        self.module = module
        self.source = source
        """Gives the program anew, as it was before any pass, for crash kits."""
        self.step = "passes"
        """The step that runs, as crash kits name it."""
        # Debugging needs unoptimized code.
        self.settings = settings._replace(opt_level=0) if settings.device_debug else settings
        self.observers = observers or Observers()
        self.llvm = ""
        self.ptx = ""
        self.cubin: Cubin | None = None
        self.map_parameters: Maps = {}
        self._has_inline_ptx = any(op.name == INLINE_PTX for op in module.walk())

    def to(self, stage: str) -> str | bytes:
        """Lower to a stage and return its text, or the bytes of a cubin.

        An internal error, or a failure of ptxas, leaves a crash kit, which the error names.
        """
        try:
            return self.run(stage)
        except Exception as error:
            from tilewright.driver.crash_kits import is_bug, report_compilation  # noqa: PLC0415

            if not is_bug(error):
                raise
            reported = report_compilation(error, self, stage)
            if reported is error:
                raise
            raise reported from error

    def run(self, stage: str) -> str | bytes:
        """Lower to a stage as `to` does, without a crash kit."""
        if stage in LLVM_STAGES:
            # LLVM loads in another process while the passes run in this one.
            from tilewright.emit.service import pool  # noqa: PLC0415

            pool().warm()
        self.lower(stage)
        return print_op(self.module) if stage not in EMITTED else self.emit(stage)

    def emit(self, stage: str) -> str | bytes:
        """Emit a module of the last level as LLVM IR, PTX or a cubin."""
        self.step = "emission"
        # LLVM is loaded only for the stages that need it.
        from tilewright.driver.map_parameters import read_map_parameters  # noqa: PLC0415
        from tilewright.emit.llvm.module import emit_llvm  # noqa: PLC0415

        settings = self.settings
        self.map_parameters = read_map_parameters(self.module)
        clock = self.observers.clock
        with clock.measure("write LLVM IR"):
            written = emit_llvm(
                self.module,
                settings.arch,
                line_info=settings.line_info,
                variables=settings.device_debug,
            )
        self.llvm = written.text
        if stage == "llvm":
            return written.text
        from tilewright.emit.ptx import compile_ptx  # noqa: PLC0415

        self.step = "llvm"
        with clock.measure("LLVM"):
            self.ptx = compile_ptx(written, opt_level=settings.opt_level, timeout=settings.timeout)
        if stage == "ptx":
            return self.ptx
        self.step = "ptxas"
        return self.assemble(self.ptx)

    def lower(self, stage: str) -> None:
        """Run the passes to a level, or to the last level for an emitted stage."""
        level = level_of(self.module)
        if STAGES.index(stage) < STAGES.index(level):
            message = f"expected a stage from '{level}' on, where the program is, got '{stage}'"
            raise UserError([Diagnostic(message, self.module.location)])
        if self.settings.device_debug:
            self._run("name-values")
        if level == "cuda_tile":
            self._run(self._passes_to(level))
        elif level in ("nv_tileaa", "nv_tileas"):
            add_target_spec(self.module, self.settings.arch)
        if self.settings.sanitize and level not in CHECKED:
            raise Unsupported(f"checks of accesses at the level of '{level}'", self.module.location)
        self._reach(level)
        for below in levels_between(level, stage):
            self.module = wrap_in_module(self.module)
            if self.settings.sanitize and level == CHECKED[-1]:
                self._run(CHECKS)
            self._run(self._passes_to(below))
            level = below
            self._reach(level)

    def _reach(self, level: str) -> None:
        if self.observers.reached is not None:
            self.observers.reached(level, self.module)

    def _passes_to(self, level: str) -> str:
        asked = self.settings
        return passes_to(
            level,
            asked.arch.name,
            asked.opt_level,
            checked=asked.sanitize,
            schedule=asked.schedule,
            map_parameters=asked.tensor_maps == PARAMETERS,
        )

    def _run(self, passes: str) -> None:
        if passes:
            observers = self.observers
            parse_pipeline(passes).run(self.module, observers.sink, observers.instruments)

    def assemble(self, ptx: str) -> bytes:
        """Assemble the PTX with ptxas."""
        from tilewright.emit.cubin import assemble  # noqa: PLC0415

        settings = self.settings
        with self.observers.clock.measure("ptxas"):
            self.cubin = assemble(
                ptx,
                settings.arch,
                opt_level=settings.opt_level,
                line_info=settings.line_info,
                device_debug=settings.device_debug,
                foreign=self._has_inline_ptx,
                timeout=settings.timeout,
                map_parameters=self.map_parameters,
            )
        self.observers.sink.diagnostics += remarks_of(self.cubin)
        return self.cubin.data

    def assembler_command(self) -> list[str]:
        """Return the command line of ptxas, without its files."""
        from tilewright.emit.cubin import assembler_command  # noqa: PLC0415

        asked = self.settings
        return assembler_command(
            asked.arch,
            asked.opt_level,
            line_info=asked.line_info,
            device_debug=asked.device_debug,
        )

    def result(self) -> CompilationResult:
        """Return the PTX, cubin and remarks."""
        remarks = self.observers.sink.diagnostics
        return CompilationResult.of(
            self.settings.arch.name, self.ptx, self.cubin, remarks, self.map_parameters
        )


def add_target_spec(program: Operation, arch: Arch) -> None:
    """Add a target specification to tile modules that have none."""
    from tilewright.dialects.gpu.structure import GPUModuleOp  # noqa: PLC0415
    from tilewright.dialects.nv_tileaa.attributes import (  # noqa: PLC0415
        TARGET_SPEC_NAME,
        TargetSpecAttr,
    )

    for op in program.walk():
        if isinstance(op, GPUModuleOp):
            op.attributes.setdefault(TARGET_SPEC_NAME, TargetSpecAttr(arch.number))


def remarks_of(cubin: Cubin) -> Iterator[Diagnostic]:
    """Yield the warnings of ptxas, and register spills, as remarks."""
    for warning in cubin.warnings:
        yield Diagnostic(f"ptxas: {warning}", severity=Severity.REMARK)
    for entry in cubin.entries.values():
        if entry.spill_stores or entry.spill_loads:
            spilled = f"{entry.spill_stores} bytes out, {entry.spill_loads} in"
            message = f"'{entry.name}' spills registers: {spilled} a thread"
            yield Diagnostic(message, severity=Severity.REMARK)


def target(name: str) -> Arch:
    """Look up a GPU by name; raises `Unsupported` with the known names."""
    arch = find_arch(name)
    if arch is None:
        raise Unsupported(f"the GPU '{name}': expected one of {', '.join(ARCHES)}")
    return arch


def compile(
    source: Source,
    arch: str = "sm_90",
    opt_level: int = 3,
    *,
    emit: str = "cubin",
    line_info: bool = False,
    device_debug: bool = False,
    sanitize: bool = False,
    schedule: str = "",
    tensor_maps: str = KERNEL,
    cache: bool = False,
    tuned: bool = True,
    timeout: float | None = None,
) -> CompiledModule:
    """Compile a program for a GPU.

    `source` is Tile IR or text of a level below it: bytecode, text, a path or a module, which
    stays as it is. With `emit="ptx"` ptxas is not needed, and there is neither cubin nor entries.
    With `cache` the result is stored in the compilation cache on disk and reused, and the choices
    of `tilewright tune` for the program are used, unless `tuned` is false. `schedule`
    forces the software pipelines of loops, such as `"stages=3,in-flight=0"`. With
    `tensor_maps="parameters"` tensor maps are parameters of a kernel after its own arguments, where
    they are of arguments and constants: `tilewright.launch` encodes and passes them, other
    launchers do not. `timeout` is a limit in seconds for LLVM, and for ptxas.

    Raises `tilewright.Error` if the program is invalid or uses an unsupported feature.
    """
    if emit not in ("ptx", "cubin"):
        raise ValueError(f"expected 'ptx' or 'cubin', got {emit!r}")
    if opt_level not in OPT_LEVELS:
        raise ValueError(f"expected an optimization level from 0 to 3, got {opt_level!r}")
    if tensor_maps not in ENCODERS:
        raise ValueError(f"expected tensor maps of {ENCODERS}, got {tensor_maps!r}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"expected a time limit above 0 seconds, got {timeout!r}")
    settings = Settings(
        target(arch),
        opt_level,
        line_info,
        device_debug,
        sanitize,
        parse_schedule(schedule),
        tensor_maps,
        timeout,
    )
    with CollectorPause():
        program = Program(source, arch=settings.arch.name, device_debug=device_debug)
        if not cache:
            return CompiledModule(Stages(program, settings), program.compiled(settings, emit))
        data, name = program.content()

        def attempt(chosen: Settings) -> CompilationResult:
            return cached(data, name, chosen, emit, lambda: program.compiled(chosen, emit))

        known = Tuned(settings)
        if tuned:
            known = find_tuned(settings, data, name, lambda: program.module)
        made, choice = compile_tuned(known, attempt)
    return CompiledModule(Stages(program, choice.settings), made, choice.diagnostics)
