"""Assemble PTX to a cubin with ptxas, and parse the resources of each kernel."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tilewright.emit.elf import MAGIC, read_kernels
from tilewright.emit.note import add_note, own_note
from tilewright.emit.toolchain import find_ptxas
from tilewright.emit.waiting import await_output
from tilewright.support.diagnostics import AssemblerError, Diagnostic, Unsupported, UserError, fail
from tilewright.support.temporary import temporary_folder
from tilewright.target.arch import occupancy

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from tilewright.emit.elf import KernelInfo
    from tilewright.emit.note import Note
    from tilewright.support.tensor_map_parameters import TensorMapParameter
    from tilewright.target.arch import Arch

_FUNCTION: Final = re.compile(r"Function properties for (\S+)")
_SPILLS: Final = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_WARNING: Final = re.compile(r"^ptxas (?:warning *: (.*)|info *: (\(C\d+\).*))$")
_TOO_MUCH: Final = re.compile(r"Entry function '.*' uses too much .*")


class Resources:
    """Resource usage of a kernel."""

    __slots__ = (
        "barriers",
        "name",
        "occupancy",
        "registers",
        "shared",
        "spill_loads",
        "spill_stores",
        "stack",
        "threads",
    )

    def __init__(self, info: KernelInfo, spills: tuple[int, int], arch: Arch) -> None:
        self.name = info.name
        self.registers = info.registers
        self.spill_stores, self.spill_loads = spills
        """Bytes of register spills to local memory, per thread."""
        self.stack = info.stack
        self.shared = info.shared
        self.barriers = info.barriers
        self.threads = info.threads
        self.occupancy = self._occupancy(arch)
        """Resident CTAs per SM; None if the CTA size is unknown."""

    def _occupancy(self, arch: Arch) -> int | None:
        if self.threads is None:
            return None
        x, y, z = self.threads
        return occupancy(arch, threads=x * y * z, registers=self.registers, shared=self.shared)

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)!r}" for name in self.__slots__]
        return f"Resources({', '.join(parts)})"


class Cubin:
    """The file, the resources of each kernel, and the warnings of ptxas."""

    __slots__ = ("data", "entries", "warnings")

    def __init__(self, data: bytes, entries: dict[str, Resources], warnings: list[str]) -> None:
        self.data = data
        self.entries = entries
        self.warnings = warnings


def assembler_command(
    arch: Arch, opt_level: int, *, line_info: bool, device_debug: bool
) -> list[str]:
    """Return the command line of ptxas, without its files."""
    command = [find_ptxas(), "-v", f"-arch={arch.assembled_as}", f"-O{opt_level}"]
    return command + (["-g"] if device_debug else ["-lineinfo"] if line_info else [])


def assemble(
    ptx: str,
    arch: Arch,
    *,
    opt_level: int = 3,
    line_info: bool = False,
    device_debug: bool = False,
    foreign: bool = False,
    timeout: float | None = None,
    map_parameters: Mapping[str, Sequence[TensorMapParameter]] | None = None,
) -> Cubin:
    """Assemble PTX for the GPU that `arch` names.

    `foreign` says that the program has inline PTX, which may cause errors of ptxas; `timeout` is
    the time limit of ptxas in seconds. The notes of the cubin have the tensor maps that launchers
    pass to kernels.
    """
    command = assembler_command(arch, opt_level, line_info=line_info, device_debug=device_debug)
    with _folder() as folder:
        source, target = os.path.join(folder, "module.ptx"), os.path.join(folder, "module.cubin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ptx)
        code, log, note = _run([*command, source, "-o", target], timeout)
        if code:
            # The folder is gone when the user reads this.
            raise _failure(code, log.replace(folder + os.sep, ""), foreign)
        data = _written(target, command[0])
    spills = _spills(log)
    kernels = read_kernels(data).values()
    entries = {info.name: Resources(info, spills.get(info.name, (0, 0)), arch) for info in kernels}
    return Cubin(add_note(data, note, map_parameters), entries, _warnings(log))


@contextmanager
def _folder() -> Generator[str]:
    """Create a temporary folder; report a disk that is full."""
    try:
        with temporary_folder("cubins") as folder:
            yield folder
    except OSError as error:
        reason = f"{error.strerror} ('{error.filename}')" if error.filename else error.strerror
        raise Unsupported(f"cubins without space for temporary files: {reason}") from None


def _written(target: str, ptxas: str) -> bytes:
    """Read what ptxas wrote."""
    data = b""
    if os.path.exists(target):
        with open(target, "rb") as file:
            data = file.read()
    if data.startswith(MAGIC):
        return data
    what = "no cubin" if not data else "something that is no cubin"
    raise Unsupported(f"cubins without ptxas: '{ptxas}' reports success, but wrote {what}")


def _run(command: list[str], timeout: float | None) -> tuple[int, str, Note]:
    """Run ptxas; return exit code, output, and our note, which is computed meanwhile."""
    with _started(command) as process:
        try:
            note = own_note()
            assert process.stdout is not None
            # ptxas prints only at the end.
            if not await_output(process.stdout, timeout):
                fail(f"ptxas took longer than {timeout:g} seconds, the limit of this compilation")
            log, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
    return process.returncode, log, note


def _started(command: list[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        # Wrong architecture, or no execute permission.
        reason = f"'{command[0]}' cannot be started: {error.strerror}"
        raise Unsupported(f"cubins without ptxas: {reason}") from None


def _failure(code: int, log: str, foreign: bool) -> Exception:
    """Classify a failure: resource limits and inline PTX are user errors, others are not."""
    if exceeded := _TOO_MUCH.search(log):
        return UserError([Diagnostic(f"ptxas: {exceeded[0]}")])
    if code < 0:
        return AssemblerError(f"ptxas ended by signal {-code}")
    lines = [line for line in log.splitlines() if "error" in line or "fatal" in line]
    gist = " ".join(lines[:3]) or log.strip() or f"exit code {code}"
    if foreign:
        return UserError([Diagnostic(f"ptxas rejects the program: {gist}")])
    return AssemblerError(f"ptxas rejects the generated code: {gist}")


def _spills(log: str) -> dict[str, tuple[int, int]]:
    """Parse the bytes of spill stores and loads of each function."""
    spills: dict[str, tuple[int, int]] = {}
    name = ""
    for line in log.splitlines():
        if match := _FUNCTION.search(line):
            name = match[1]
        elif match := _SPILLS.search(line):
            spills[name] = (int(match[1]), int(match[2]))
    return spills


def _warnings(log: str) -> list[str]:
    """Parse the warnings of ptxas, such as serialized wgmma."""
    matches = [_WARNING.match(line.strip()) for line in log.splitlines()]
    return [match[1] or match[2] for match in matches if match is not None]
