"""The back end of a compilation: LLVM IR to PTX, a cubin and its SASS; and its observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.driver.compilation_result import CompilationResult
from tilewright.driver.stage_dump import StageDump, dump_folder
from tilewright.ir.instruments import Timing
from tilewright.support.diagnostics import Diagnostic, Severity, Sink
from tilewright.support.levels import CANONICAL
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.driver.map_parameters import Maps
    from tilewright.driver.settings import Settings
    from tilewright.emit.cubin import Cubin
    from tilewright.emit.llvm.module import LLVMModule
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Instrument


Reached = Callable[[str, "Operation"], None]
"""Called with the name of each level and the module, which later passes modify."""

PASSES: Final = "passes"
EMISSION: Final = "emission"
LLVM: Final = "llvm"
PTXAS: Final = "ptxas"


class Observers:
    """Observers of a compilation: pass instruments, timing, the diagnostic sink, and of levels."""

    __slots__ = ("clock", "dump", "instruments", "reached", "sink")

    def __init__(
        self,
        instruments: Sequence[Instrument] = (),
        clock: Timing | None = None,
        *,
        remarks: bool = False,
        reached: Reached | None = None,
    ) -> None:
        self.clock = clock or Timing()
        self.instruments = [*instruments, self.clock]
        self.sink = Sink(remarks=remarks)
        self.dump: StageDump | None = None
        """Writes each stage to a file."""
        self.reached = reached

    def level(self, name: str, module: Operation) -> None:
        """Report the module at a level."""
        if self.dump is not None:
            self.dump.write(name, print_op(module))
        if self.reached is not None:
            self.reached(name, module)

    def canonical(self, module: Operation) -> None:
        """Report the module on nv_tileaa before it is planned: no stage of its own."""
        if self.reached is not None:
            self.reached(CANONICAL, module)

    def stage(self, name: str, text: str | bytes) -> None:
        """Report the result of a stage."""
        if self.dump is not None:
            self.dump.write(name, text)


class BackEnd:
    """LLVM, ptxas and nvdisasm for one program."""

    def __init__(self, settings: Settings, observers: Observers | None, *, foreign: bool) -> None:
        # Debugging needs unoptimized code.
        self.settings = settings._replace(opt_level=0) if settings.device_debug else settings
        self.observers = observers or Observers()
        self.step = PASSES
        """The step that runs, as crash kits name it."""
        self.llvm = ""
        self.ptx = ""
        self.cubin: Cubin | None = None
        self.map_parameters: Maps = {}
        self.foreign = foreign
        """Whether the program has code that we did not generate, which ptxas may reject."""

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels."""
        raise NotImplementedError

    @property
    def input_text(self) -> tuple[str, str]:
        """The stage at which the program is, and its text."""
        raise NotImplementedError

    def to(self, stage: str) -> str | bytes:
        """Compile to a stage and return its text, or the bytes of a cubin."""
        raise NotImplementedError

    def dumped_to(self, stage: str) -> str | bytes:
        """Compile to a stage as `to` does, and dump all stages if the environment asks for it."""
        folder = dump_folder()
        if not folder:
            return self.to(stage)
        dump = self.observers.dump = StageDump(folder, self.kernels, self.settings)
        dump.write_input(*self.input_text)
        try:
            return self.to(stage)
        except BaseException as error:
            dump.write_error(error)
            raise

    def compile_llvm(self, module: LLVMModule, stage: str, *, foreign: bool = False) -> str | bytes:
        """Compile LLVM IR to a stage. `foreign` says that it is not ours: LLVM may reject it."""
        self.llvm = module.text
        self.observers.stage("llvm", module.text)
        if stage == "llvm":
            return module.text
        # LLVM is loaded only for the stages that need it.
        from tilewright.emit.ptx import compile_ptx  # noqa: PLC0415

        self.step, settings = LLVM, self.settings
        with self.observers.clock.measure("LLVM"):
            ptx = compile_ptx(
                module, opt_level=settings.opt_level, timeout=settings.timeout, foreign=foreign
            )
        return self.assemble_ptx(ptx, stage)

    def assemble_ptx(self, ptx: str, stage: str) -> str | bytes:
        """Assemble PTX, unless it is the last stage."""
        self.ptx = ptx
        self.observers.stage("ptx", ptx)
        if stage == "ptx":
            return ptx
        cubin = self.assemble(ptx)
        if stage == "cubin":
            return cubin
        from tilewright.emit.sass import disassemble_cubin  # noqa: PLC0415

        with self.observers.clock.measure("nvdisasm"):
            sass = disassemble_cubin(cubin)
        self.observers.stage("sass", sass)
        return sass

    def assemble(self, ptx: str) -> bytes:
        """Assemble the PTX with ptxas."""
        self.cubin = self._assembled(ptx)
        self.observers.sink.diagnostics += remarks_of(self.cubin)
        self.observers.stage("cubin", self.cubin.data)
        return self.cubin.data

    def trial_cubin(self) -> Cubin | None:
        """Assemble the PTX of a compilation to PTX, for its resources; None without ptxas."""
        from tilewright.emit.toolchain import find_ptxas, tool_stamp  # noqa: PLC0415

        return self._assembled(self.ptx) if tool_stamp(find_ptxas) else None

    def _assembled(self, ptx: str) -> Cubin:
        from tilewright.emit.cubin import assemble  # noqa: PLC0415

        self.step, settings = PTXAS, self.settings
        with self.observers.clock.measure("ptxas"):
            return assemble(
                ptx,
                settings.arch,
                opt_level=settings.opt_level,
                line_info=settings.line_info,
                device_debug=settings.device_debug,
                foreign=self.foreign,
                timeout=settings.timeout,
                map_parameters=self.map_parameters,
            )

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


def remarks_of(cubin: Cubin) -> Iterator[Diagnostic]:
    """Yield the warnings of ptxas, and register spills, as remarks."""
    for warning in cubin.warnings:
        yield Diagnostic(f"ptxas: {warning}", severity=Severity.REMARK)
    for entry in cubin.entries.values():
        if entry.spill_stores or entry.spill_loads:
            spilled = f"{entry.spill_stores} bytes out, {entry.spill_loads} in"
            message = f"'{entry.name}' spills registers: {spilled} a thread"
            yield Diagnostic(message, severity=Severity.REMARK)
