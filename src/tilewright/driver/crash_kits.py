"""Crash kits: folders with what reproduces an internal error, or a failure of ptxas.

A kit has the program, the module before the pass that failed, the options, the versions and the
trace. `tilewright replay` runs the failing step of a kit again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import traceback
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.driver.back_end import LLVM, PASSES, PTXAS, Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.versions import versions
from tilewright.emit.toolchain import cache_folder
from tilewright.ir.instruments import VerifyEach
from tilewright.ir.passes import Instrument
from tilewright.support.diagnostics import (
    AssemblerError,
    Diagnostic,
    Error,
    InternalError,
    Sink,
    note,
)
from tilewright.support.trusted_files import distrust_folder, make_private_folder
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tilewright.driver.settings import Settings
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pass, Pipeline

VARIABLE: Final = "TILEWRIGHT_CRASH_DIR"
OFF: Final = ("0", "off", "no", "false")
FOLDER: Final = "crashes"
"""The default folder of kits, in the cache folder."""

FORMAT: Final = 1
FACTS: Final = "kit.json"
INPUT: Final = "input.mlir"
MODULE: Final = "module.mlir"
LLVM_IR: Final = "module.ll"
PTX: Final = "module.ptx"
TRACE: Final = "trace.txt"

"""The steps of a compilation that a kit may be of."""

MOST_KITS: Final = 16
"""The kits that a folder keeps: the newest."""
MOST_BYTES: Final = 16 << 20
"""The size of a file; larger ones are left out."""

OWN_PACKAGES: Final = ("tilewright", "numpy", "llvmlite")
"""The packages whose exceptions are bugs; so are those of Python itself."""

_NAME: Final = re.compile(r"[a-z0-9-]+-[0-9a-f]{12}")


class Kit:
    """What a crash kit has: facts about the failure, and the texts of its files by name."""

    __slots__ = ("facts", "files")

    def __init__(self, facts: dict[str, object], files: Mapping[str, str]) -> None:
        kept = {name: text for name, text in files.items() if text and len(text) <= MOST_BYTES}
        too_large = sorted(name for name, text in files.items() if len(text) > MOST_BYTES)
        self.facts = {**facts, "left_out": too_large} if too_large else facts
        self.files = kept

    @property
    def name(self) -> str:
        """The name of the folder; a failure that occurs again has the same."""
        step = str(self.facts.get("pass") or self.facts["step"]).partition("{")[0]
        plain = re.sub(r"[^a-z0-9]+", "-", step.lower()).strip("-")
        digest = sha256(json.dumps(self.facts, sort_keys=True).encode())
        for name in sorted(self.files):
            if name != TRACE:  # it has the line numbers of callers
                digest.update(self.files[name].encode("utf-8", "surrogatepass"))
        return f"{plain}-{digest.hexdigest()[:12]}"


class _BeforePass(Instrument):
    """Keeps the module as it was before the pass that ran last, and the pass as a pipeline."""

    __slots__ = ("module", "pipeline")

    def __init__(self) -> None:
        self.module: Operation | None = None
        self.pipeline = ""

    def before(self, step: Pass, op: Operation) -> None:
        root = next((outer for outer in reversed(list(op.ancestors()))), op)
        self.module = root.clone()
        self.pipeline = str(step) if op is root else f"{op.name}({step})"


class FailedRun(NamedTuple):
    """A run of the compiler that failed, as far as a kit needs it."""

    step: str
    facts: dict[str, object]
    """The options of the run."""
    source: Callable[[], Operation] | None
    """Gives the program anew, as it was before any pass."""
    rerun: Callable[[Operation, Sequence[Instrument]], object]
    """Runs the passes on a program, with instruments."""
    instruments: Sequence[Instrument]
    remarks: bool
    files: dict[str, str]
    """The texts of the module after all passes, of LLVM IR and of PTX, as far as they exist."""


def is_bug(error: Exception) -> bool:
    """Whether an exception is a fault of the compiler or of ptxas.

    Exceptions of classes of the caller are not: its signal handlers raise them in our frames.
    """
    if isinstance(error, Error | MemoryError | OSError):
        return isinstance(error, AssemblerError)
    package = type(error).__module__.partition(".")[0]
    return package in OWN_PACKAGES or package in sys.stdlib_module_names


def report_compilation(error: Exception, compilation: Compilation, stage: str) -> Exception:
    """Write a kit of a failed compilation; return the error with where it is."""
    return _report(error, lambda: _failed_compilation(compilation, stage))


def report_pipeline(
    error: Exception,
    pipeline: Pipeline,
    source: Callable[[], Operation],
    instruments: Sequence[Instrument],
) -> Exception:
    """Write a kit of a pipeline that failed; return the error with where it is."""

    def rerun(module: Operation, watching: Sequence[Instrument]) -> None:
        pipeline.run(module, Sink(), watching)

    facts: dict[str, object] = {"pipeline": str(pipeline)}
    run = FailedRun(PASSES, facts, source, rerun, instruments, False, {})
    return _report(error, lambda: run)


def _report(error: Exception, describe: Callable[[], FailedRun]) -> Exception:
    """Write a kit. Nothing that goes wrong here hides the error: it says why there is no kit."""
    if os.environ.get(VARIABLE, "").strip().lower() in OFF:
        return _with_report(error, "")
    try:
        folder = write_kit(kit_of(error, describe()))
        said = (
            f"please report this with the crash kit in '{folder}': "
            f"`tilewright replay {folder}` runs the step that fails"
        )
    except Exception as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        said = f"there is no crash kit: {reason}; {VARIABLE} names another folder for it"
    return _with_report(error, said)


def _with_report(error: Exception, said: str) -> Exception:
    """The error with a line after its message; exceptions of Python become internal errors."""
    if isinstance(error, AssemblerError):
        if said:
            first, *others = error.diagnostics
            notes = (note(f"the program is not at fault: {said}"),)
            error.diagnostics = (Diagnostic(first.message, first.location, notes=notes), *others)
        return error
    message = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    message = f"{message}\n{said}" if said else message
    if not isinstance(error, InternalError):
        return InternalError(message)
    error.args = (message,)
    return error


def _failed_compilation(compilation: Compilation, stage: str) -> FailedRun:
    facts: dict[str, object] = {
        "stage": stage,
        "settings": settings_facts(compilation.settings),
    }
    files: dict[str, str] = {}
    if compilation.step != PASSES:
        files[MODULE] = _text(compilation.module)
    if compilation.step == LLVM:
        files[LLVM_IR] = compilation.llvm
    if compilation.step == PTXAS:
        files[PTX] = compilation.ptx
        facts["command"] = compilation.assembler_command()
    observers = compilation.observers
    remarks = observers.sink.wants_remarks

    def rerun(module: Operation, watching: Sequence[Instrument]) -> None:
        again = Observers(watching, remarks=remarks)
        Compilation(module, compilation.settings, again).lower(stage)

    return FailedRun(
        compilation.step, facts, compilation.source, rerun, observers.instruments, remarks, files
    )


def kit_of(error: Exception, run: FailedRun) -> Kit:
    """Collect what reproduces a failure."""
    files = {TRACE: "".join(traceback.format_exception(error)), **run.files}
    facts: dict[str, object] = {
        "format": FORMAT,
        "step": run.step,
        **run.facts,
        "error": signature_of(error),
        "versions": versions(),
    }
    if run.source is not None:
        files[INPUT] = _text(run.source())
    if run.step == PASSES:
        before = _rerun(run)
        facts["pass"] = before.pipeline
        facts["verify_each"] = _verifies(run)
        facts["remarks"] = run.remarks
        files[MODULE] = "" if before.module is None else _text(before.module)
    return Kit(facts, files)


def _rerun(run: FailedRun) -> _BeforePass:
    """Run the passes again on the program, to get the module before the one that fails."""
    before = _BeforePass()
    if run.source is None:
        return before
    try:
        run.rerun(run.source(), [before, *([VerifyEach()] if _verifies(run) else [])])
    except Exception:
        return before
    return _BeforePass()  # it does not fail again: no pass is to blame


def _verifies(run: FailedRun) -> bool:
    return any(isinstance(each, VerifyEach) for each in run.instruments)


def _text(module: Operation) -> str:
    """The text of a module, which may be invalid; empty if it cannot be printed."""
    for generic in (False, True):
        with suppress(Exception):
            return print_op(module, debug=True, generic=generic)
    return ""


def settings_facts(settings: Settings) -> dict[str, object]:
    """The settings of a compilation by name."""
    return {**settings._asdict(), "arch": settings.arch.name}


def signature_of(error: Exception) -> dict[str, str]:
    """What identifies a failure: the exception, where it was raised, and its message.

    Numbers in the message are left out. So is the message of exceptions of Python: it has values
    of the program.
    """
    frames = traceback.extract_tb(error.__traceback__)
    raised_at = f"{os.path.basename(frames[-1].filename)}:{frames[-1].name}" if frames else ""
    message = ""
    if isinstance(error, InternalError):
        location = str(error.location)
        message = str(error).removeprefix(f"{location}: " if location else "")
    elif isinstance(error, Error):
        message = error.diagnostics[0].message
    plain = re.sub(r"\d+", "#", message.partition("\n")[0])
    return {"type": type(error).__name__, "raised_at": raised_at, "message": plain}


def crash_folder() -> str:
    """The folder of kits: that of the variable, or one in the cache folder."""
    chosen = os.environ.get(VARIABLE)
    return os.path.expanduser(chosen) if chosen else os.path.join(cache_folder(), FOLDER)


def write_kit(kit: Kit) -> str:
    """Write a kit, and remove the oldest ones; return its folder. Raises `OSError`."""
    folder = os.path.abspath(crash_folder())
    make_private_folder(folder)
    reason = distrust_folder(folder)
    if reason is not None:
        raise OSError(0, f"'{folder}' is not used: {reason}")
    target = os.path.join(folder, kit.name)
    if os.path.isdir(target):
        with suppress(OSError):
            os.utime(target)
        return target
    draft = os.path.join(folder, f"draft-{os.urandom(8).hex()}")
    os.mkdir(draft, 0o700)
    try:
        facts = json.dumps(kit.facts, indent=2) + "\n"
        for name, text in {**kit.files, FACTS: facts}.items():
            with open(os.path.join(draft, name), "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        os.rename(draft, target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        if not os.path.isdir(target):  # else another process has written the same
            raise
    _remove_oldest(folder)
    return target


def newest_kit() -> str | None:
    """The folder of the kit that was written last."""
    return max(_kits(crash_folder()), default=(0.0, None))[1]


def _remove_oldest(folder: str) -> None:
    """Remove the oldest kits; folders that are no kits stay."""
    for _, path in sorted(_kits(folder))[:-MOST_KITS]:
        shutil.rmtree(path, ignore_errors=True)


def _kits(folder: str) -> list[tuple[float, str]]:
    """The kits in a folder, with the times at which they were written."""
    kits: list[tuple[float, str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            path = os.path.join(entry.path, FACTS)
            if _NAME.fullmatch(entry.name) and os.path.isfile(path):
                kits.append((entry.stat().st_mtime, entry.path))
    return kits
