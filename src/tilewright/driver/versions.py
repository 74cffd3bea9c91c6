"""The versions of this compiler and of its tools, for `--version` and crash kits."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Final

from tilewright import __version__
from tilewright.emit.toolchain import find_libdevice, find_ptxas, llvm_stamp
from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

LLVM_OF_LLVMLITE: Final = {"0.50": "22"}
"""The LLVM of each release of llvmlite: to load LLVM for its number takes longer than all else."""

PTXAS_SECONDS: Final = 10
_NUMBER: Final = re.compile(r"\bV(\d+(?:\.\d+)+)")
_QUOTED: Final = re.compile(r"[\"'](\d[^\"']*)[\"']")


def versions() -> dict[str, str]:
    """The versions that a report of a bug needs, by name; empty for what is not installed."""
    # To load OpenSSL for its digest takes longer than the rest of `--version`.
    from tilewright.support.identity import identity  # noqa: PLC0415

    return {
        "tilewright": __version__,
        "digest": identity(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": f"{sys.platform} {_machine()}",
        **tool_versions(),
    }


def tool_versions() -> dict[str, str]:
    """The versions and paths of the tools by name; empty for what is not installed."""
    llvmlite = llvmlite_version()
    ptxas, libdevice = _path(find_ptxas), _path(find_libdevice)
    return {
        "llvm": llvm_version(llvmlite),
        "llvmlite": llvmlite,
        "ptxas": ptxas_version(ptxas),
        "ptxas_path": ptxas,
        "libdevice": libdevice_version(libdevice),
        "libdevice_path": libdevice,
    }


def version_text() -> str:
    """The text of `tilewright --version`: a line for the compiler, and one for each tool."""
    tools = tool_versions()
    llvmlite = tools["llvmlite"]
    rows = [
        ("LLVM", tools["llvm"], f"llvmlite {llvmlite}" if llvmlite else ""),
        ("ptxas", tools["ptxas"], tools["ptxas_path"]),
        ("libdevice", tools["libdevice"], tools["libdevice_path"]),
    ]
    lines = [
        f"{name} {number or 'of unknown version'} ({origin})" if origin else f"{name}: none"
        for name, number, origin in rows
    ]
    return "\n".join([f"tilewright {__version__}", *lines])


def llvmlite_version() -> str:
    """The version of llvmlite; empty if it is not installed."""
    number = _QUOTED.search(llvm_stamp())
    return number[1] if number else ""


def llvm_version(llvmlite: str) -> str:
    """The major version of the LLVM in a version of llvmlite; empty if it is not known."""
    return LLVM_OF_LLVMLITE.get(".".join(llvmlite.split(".")[:2]), "")


def ptxas_version(path: str) -> str:
    """The number that `ptxas --version` prints; empty if there is none."""
    if not path:
        return ""
    # Without ptxas there is nothing to run.
    import subprocess  # noqa: PLC0415

    command = [path, "--version"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=PTXAS_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    number = _NUMBER.search(answer.stdout)
    return number[1] if number else ""


def libdevice_version(path: str) -> str:
    """The version of the wheel, or of the CUDA toolkit, that has a libdevice; empty if unknown.

    The bitcode itself has no version.
    """
    root, inside, _ = path.rpartition(os.path.join("nvvm", "libdevice"))
    if not inside:
        return ""
    return _wheel_version(path) or _toolkit_version(root)


def _path(find: Callable[[], str]) -> str:
    """The path of a tool; empty if it is not installed."""
    try:
        return find()
    except Unsupported:
        return ""


def _wheel_version(path: str) -> str:
    """The version of the wheel whose list of files has a path."""
    site, inside, rest = path.rpartition(f"{os.sep}nvidia{os.sep}")
    if not inside:
        return ""
    line = f"nvidia/{rest.replace(os.sep, '/')},"
    try:
        names = [name for name in os.listdir(site) if name.startswith("nvidia_")]
        for name in names:
            wheel, ending, _ = name.rpartition(".dist-info")
            if ending and _lists(os.path.join(site, name, "RECORD"), line):
                return wheel.partition("-")[2]
    except OSError:
        return ""
    return ""


def _lists(record: str, line: str) -> bool:
    try:
        with open(record, encoding="utf-8") as file:
            return any(each.startswith(line) for each in file)
    except OSError:
        return False


def _toolkit_version(root: str) -> str:
    """The version in the `version.json` of a CUDA toolkit."""
    # Wheels have no such file.
    import json  # noqa: PLC0415

    try:
        with open(os.path.join(root, "version.json"), encoding="utf-8") as file:
            return str(json.load(file)["cuda"]["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _machine() -> str:
    # `platform` takes longer to import than this to run; Windows has no `uname`.
    if hasattr(os, "uname"):
        return os.uname().machine
    return os.environ.get("PROCESSOR_ARCHITECTURE", "")
