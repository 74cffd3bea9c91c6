"""Programs that are LLVM IR or PTX already: the rest of the pipeline."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.assembly import decode_text
from tilewright.driver.back_end import BackEnd, Observers
from tilewright.driver.files import is_bytecode
from tilewright.driver.pipelines import STAGES
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.support.location import FileLoc

if TYPE_CHECKING:
    from tilewright.driver.settings import Settings

SUFFIXES: Final = {".ll": "llvm", ".ptx": "ptx"}
TITLES: Final = {"llvm": "LLVM IR", "ptx": "PTX"}

_PTX: Final = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*\.version\s", re.DOTALL)
# Programs in MLIR begin with none of these: its comments start with slashes.
_LLVM: Final = re.compile(
    rb"\s*(?:;|target (?:triple|datalayout)\b|source_filename\b|define\b|declare\b|module asm\b)"
)
_KERNELS: Final = {
    "llvm": re.compile(r"^define [^\n]*\bptx_kernel\b[^\n@]*@([\w.$]+)\(", re.MULTILINE),
    "ptx": re.compile(r"\.entry\s+([\w.$]+)"),
}
_CALLED: Final = re.compile(r"^declare [^\n]*@(__nv_\w+)\(", re.MULTILINE)


class EmittedProgram(NamedTuple):
    """The text of a program at a stage after the last level."""

    stage: str
    """`llvm` or `ptx`."""
    text: str
    name: str

    @property
    def location(self) -> FileLoc:
        """The start of the text."""
        return FileLoc(self.name, 1, 1)


def read_emitted(source: bytes | str, name: str) -> EmittedProgram | None:
    """Read LLVM IR or PTX, known by its beginning or by the suffix of its name; or nothing."""
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    stage = None if is_bytecode(data) else _stage_of(data, name)
    if stage is None:
        return None
    return EmittedProgram(stage, decode_text(data, name, TITLES[stage]), name)


def _stage_of(data: bytes, name: str) -> str | None:
    if _PTX.match(data):
        return "ptx"
    if _LLVM.match(data):
        return "llvm"
    return SUFFIXES.get(os.path.splitext(name)[1])


class EmittedCompilation(BackEnd):
    """A compilation that starts at LLVM IR or PTX, which users may have written."""

    def __init__(
        self, program: EmittedProgram, settings: Settings, observers: Observers | None = None
    ) -> None:
        super().__init__(settings, observers, foreign=True)
        self._program = program

    @property
    def kernels(self) -> list[str]:
        return _KERNELS[self._program.stage].findall(self._program.text)

    @property
    def input_text(self) -> tuple[str, str]:
        return self._program.stage, self._program.text

    def to(self, stage: str) -> str | bytes:
        program, settings = self._program, self.settings
        if STAGES.index(stage) < STAGES.index(program.stage):
            fail(
                f"expected a stage from '{program.stage}' on, where the program is, got '{stage}'",
                program.location,
            )
        title = TITLES[program.stage]
        if settings.sanitize:
            raise Unsupported(f"checks of accesses in {title}", program.location)
        if settings.schedule:
            fail(f"expected a program of tiles to force a schedule, got {title}", program.location)
        if program.stage == "ptx":
            return self.assemble_ptx(program.text, stage)
        # LLVM is loaded only for the stages that need it.
        from tilewright.emit.llvm.module import LLVMModule  # noqa: PLC0415

        library = sorted(set(_CALLED.findall(program.text)))
        module = LLVMModule(program.text, settings.arch, [], library, [])
        return self.compile_llvm(module, stage, foreign=True)
