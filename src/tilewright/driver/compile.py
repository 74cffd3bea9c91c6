"""Compile programs: `tilewright.compile`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tilewright.driver.api import read_level
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.back_end import EMISSION, BackEnd, Observers, Reached
from tilewright.driver.cache import cached
from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.emitted_input import (
    TITLES,
    EmittedCompilation,
    EmittedProgram,
    read_emitted,
)
from tilewright.driver.files import DEFAULT_ARCH, read_source
from tilewright.driver.pipelines import (
    CHECKED,
    CHECKS,
    EMITTED,
    OPT_LEVELS,
    PLAN,
    STAGES,
    has_plan,
    level_of,
    levels_between,
    parse_pipeline,
    passes_to,
    pipeline_lines,
)
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning.lookup import Tuned, compile_tuned
from tilewright.driver.tuning.lookup import tuned as find_tuned
from tilewright.ir.attributes import StringAttr
from tilewright.ir.operation import Operation
from tilewright.ir.traits import SYMBOL, SYMBOL_TABLE
from tilewright.ir.verifier import verify
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Diagnostic, Unsupported, UserError, fail
from tilewright.support.tensor_map_parameters import ENCODERS, KERNEL, PARAMETERS
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.target.arch import ARCHES, Arch, find_arch
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.driver.map_parameters import Maps
    from tilewright.driver.occupancy_hints import OccupancyHints
    from tilewright.emit.cubin import Resources

INLINE_PTX: Final = "llvm.inline_asm"
"""Inline PTX, which ptxas may reject."""

LLVM_STAGES: Final = EMITTED[EMITTED.index("llvm") + 1 :]
"""The stages that LLVM produces."""

Source = bytes | str | os.PathLike[str] | Operation


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

    @property
    def sass(self) -> str:
        """The SASS of the cubin, as nvdisasm prints it; `Unsupported` if it is not installed."""
        from tilewright.emit.sass import disassemble_cubin  # noqa: PLC0415

        return disassemble_cubin(self.cubin)


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
    def emitted(self) -> EmittedProgram | None:
        """The program, if it is LLVM IR or PTX."""
        source = self._source
        return None if isinstance(source, Operation) else read_emitted(source, self._name)

    @cached_property
    def module(self) -> Operation:
        """The verified program; compilations clone it."""
        source = self._source
        if self.emitted is not None:
            title = TITLES[self.emitted.stage]
            fail(f"expected a program with operations, got {title}", self.emitted.location)
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

    def compiled(
        self, settings: Settings, emit: str, reached: Reached | None = None
    ) -> CompilationResult:
        """Compile the program; `reached` observes its levels."""
        compilation = self.compilation(settings)
        compilation.observers.reached = reached
        compilation.observers.sink.diagnostics += self._warnings
        compilation.dumped_to(emit)
        return compilation.result()

    def compilation(self, settings: Settings) -> BackEnd:
        """Start a compilation of the program."""
        if self.emitted is not None:
            return EmittedCompilation(self.emitted, settings)
        return Compilation(self.module.clone(), settings, source=self.module.clone)

    @property
    def level(self) -> str:
        """The level or the stage at which the program is."""
        return level_of(self.module) if self.emitted is None else self.emitted.stage


class Stages(Mapping[str, str]):
    """The program at each stage of the lowering pipeline, computed on first access."""

    __slots__ = ("_program", "_settings", "_texts")

    def __init__(self, program: Program, settings: Settings) -> None:
        self._program = program
        self._settings = settings
        self._texts: dict[str, str] = {}

    @property
    def program(self) -> Operation:
        """The source program."""
        return self._program.module

    def __getitem__(self, stage: str) -> str:
        if stage not in self._names:
            raise KeyError(stage)
        text = self._texts.get(stage)
        if text is None:
            made = self._program.compilation(self._settings).to(stage)
            assert isinstance(made, str)
            text = self._texts[stage] = made
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        first = STAGES.index(self._program.level)
        return STAGES[first : STAGES.index("cubin")]


class Compilation(BackEnd):
    """One run of the lowering pipeline on one program."""

    def __init__(
        self,
        module: Operation,
        settings: Settings,
        observers: Observers | None = None,
        *,
        source: Callable[[], Operation] | None = None,
    ) -> None:
        foreign = any(op.name == INLINE_PTX for op in module.walk())
        super().__init__(settings, observers, foreign=foreign)
        self.module = module
        self.source = source
        """Gives the program anew, as it was before any pass, for crash kits."""

    @property
    def kernels(self) -> list[str]:
        return function_names(self.module)

    @property
    def input_text(self) -> tuple[str, str]:
        return level_of(self.module), print_op(self.module, debug=True)

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
        if stage == "sass":
            # A missing tool is reported before anything is compiled.
            from tilewright.emit.toolchain import find_nvdisasm  # noqa: PLC0415

            find_nvdisasm()
        if stage in LLVM_STAGES:
            # LLVM loads in another process while the passes run in this one.
            from tilewright.emit.service import pool  # noqa: PLC0415

            pool().warm()
        if stage not in LLVM_STAGES or self.source is None:
            return self._lowered(stage)
        from tilewright.driver.occupancy_hints import OccupancyHints  # noqa: PLC0415

        return self._relaxed(OccupancyHints(self.module, self.settings.arch), stage)

    def _lowered(self, stage: str) -> str | bytes:
        self.lower(stage)
        return print_op(self.module) if stage not in EMITTED else self.emit(stage)

    def _relaxed(self, hints: OccupancyHints, stage: str) -> str | bytes:
        """Lower to a stage with as many blocks on an SM as kernels have registers for.

        PTX alone is assembled only where a hint limits registers, and if ptxas is installed.
        """
        sink, source = self.observers.sink, self.source
        assert source is not None
        start = len(sink.diagnostics), len(sink.remarks)

        def relaxed() -> Operation:
            program = source()
            hints.apply(program)
            return program

        made = self._lowered(stage)
        while True:
            cubin = self.cubin
            if cubin is None and hints.limit(self.module):
                cubin = self.trial_cubin()
            if cubin is None or not hints.relax(cubin, self.module):
                return made
            del sink.diagnostics[start[0] :]
            del sink.remarks[start[1] :]
            self.source, self.module = relaxed, relaxed()
            for remark in hints.remarks(self.module):
                sink.remark(remark)
            self.cubin = None
            made = self._lowered(stage)

    def emit(self, stage: str) -> str | bytes:
        """Emit a module of the last level as LLVM IR, PTX, a cubin or SASS."""
        self.step = EMISSION
        from tilewright.driver.map_parameters import read_map_parameters  # noqa: PLC0415
        from tilewright.emit.llvm.module import emit_llvm  # noqa: PLC0415

        settings = self.settings
        self.map_parameters = read_map_parameters(self.module)
        with self.observers.clock.measure("write LLVM IR"):
            written = emit_llvm(
                self.module,
                settings.arch,
                line_info=settings.line_info,
                variables=settings.device_debug,
            )
        return self.compile_llvm(written, stage)

    def lower(self, stage: str) -> None:
        """Run the passes to a level, or to the last level for an emitted stage."""
        level = level_of(self.module)
        if STAGES.index(stage) < STAGES.index(level):
            message = f"expected a stage from '{level}' on, where the program is, got '{stage}'"
            raise UserError([Diagnostic(message, self.module.location)])
        if self.settings.sanitize and level not in CHECKED:
            raise Unsupported(f"checks of accesses at the level of '{level}'", self.module.location)
        if level in ("nv_tileaa", "nv_tileas"):
            add_target_spec(self.module, self.settings.arch)
        for step, passes in self._pipelines(level, stage):
            if step != level:
                self.module = wrap_in_module(self.module)
            self._run(passes)
            if step == "nv_tileaa":
                self.observers.canonical(self.module)
            else:
                self.observers.level("nv_tileaa" if step == PLAN else step, self.module)

    def pipeline_to(self, stage: str) -> str:
        """The textual pipeline that `lower` runs, one step a line."""
        texts = [passes for _, passes in self._pipelines(level_of(self.module), stage) if passes]
        return pipeline_lines(parse_pipeline(",".join(texts))) if texts else ""

    def _pipelines(self, level: str, stage: str) -> Iterator[tuple[str, str]]:
        """Yield each level from `level` to a stage, and the textual pipeline that leads to it.

        The plan is one of them, after nv_tileaa.
        """
        own = ["name-values"] if self.settings.device_debug else []
        if level == "cuda_tile":
            own.append(self._passes_to(level))
        yield level, ",".join(filter(None, own))
        sanitize = self.settings.sanitize
        is_planned = level == "nv_tileaa" and has_plan(self.module, self.settings.arch)
        if is_planned and sanitize:
            raise Unsupported("checks of accesses in a program with a plan", self.module.location)
        for step in levels_between(level, stage):
            checks = CHECKS if step == PLAN and sanitize else ""
            passes = self._passes_to(step, is_planned=is_planned and step == PLAN)
            yield step, ",".join(filter(None, [checks, passes]))

    def _passes_to(self, level: str, *, is_planned: bool = False) -> str:
        asked = self.settings
        return passes_to(
            level,
            asked.arch.name,
            asked.opt_level,
            checked=asked.sanitize,
            schedule=asked.schedule,
            source=asked.schedule_source,
            map_parameters=asked.tensor_maps == PARAMETERS,
            is_planned=is_planned,
        )

    def _run(self, passes: str) -> None:
        if passes:
            observers = self.observers
            parse_pipeline(passes).run(self.module, observers.sink, observers.instruments)


def function_names(module: Operation) -> list[str]:
    """The names of the functions with a body, at any level."""
    names: list[str] = []
    for op in module.walk():
        name = op.attributes.get("sym_name")
        is_function = SYMBOL in op.traits and SYMBOL_TABLE not in op.traits
        if is_function and op.regions and op.regions[0].blocks and isinstance(name, StringAttr):
            names.append(name.value)
    return names


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


def target(name: str) -> Arch:
    """Look up a GPU by name; raises `Unsupported` with the known names."""
    arch = find_arch(name)
    if arch is None:
        raise Unsupported(f"the GPU '{name}': expected one of {', '.join(ARCHES)}")
    return arch


@ends_tracebacks
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

    `source` is Tile IR, text of a level below it, LLVM IR or PTX: bytecode, text, a path or a
    module, which stays as it is. With `emit="ptx"` ptxas is not needed, and there is neither cubin
    nor entries. With `cache` the result is stored in the compilation cache on disk and reused, and
    the choices of `tilewright tune` for the program are used, unless `tuned` is false. `schedule`
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
