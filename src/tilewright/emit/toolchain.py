"""Locate ptxas, nvdisasm and libdevice, and identify their versions."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PTXAS_VARIABLE: Final = "TILEWRIGHT_PTXAS"
NVDISASM_VARIABLE: Final = "TILEWRIGHT_NVDISASM"
LIBDEVICE_VARIABLE: Final = "TILEWRIGHT_LIBDEVICE"
CACHE_VARIABLE: Final = "TILEWRIGHT_CACHE_DIR"

COMPILED: Final = "compiled"
RECORDS: Final = "tuned"
"""Folders in the cache folder: of compilations, and of tuning records."""

_LIBDEVICE: Final = os.path.join("nvvm", "libdevice", "libdevice.10.bc")


def wheel_folders() -> Iterator[str]:
    """Yield the folders of NVIDIA's CUDA 13 and CUDA 12 wheels."""
    spec = find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield os.path.join(root, "cu13")
        yield os.path.join(root, "cuda_nvcc")


def toolkit_folders() -> list[str]:
    """Return the folders of CUDA toolkits that variables name, and last the default one."""
    named = (os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH"))
    return [*filter(None, named), "/usr/local/cuda"]


def _first_file(candidates: Iterator[str]) -> str | None:
    return next((path for path in candidates if os.path.isfile(path)), None)


def chosen_file(variable: str) -> str | None:
    """Return the file named by an environment variable."""
    path = os.environ.get(variable)
    if path and not os.path.isfile(path):
        raise Unsupported(f"'{path}', which {variable} names: there is no such file")
    return path or None


def find_ptxas() -> str:
    """Locate ptxas: TILEWRIGHT_PTXAS, a wheel, or the search path."""
    return chosen_file(PTXAS_VARIABLE) or _installed_ptxas()


@cache
def _installed_ptxas() -> str:
    path = _installed_tool("ptxas")
    if path is None:
        raise Unsupported(
            "cubins without ptxas: install the package nvidia-cuda-nvcc, "
            f"put ptxas on the path, or name it in {PTXAS_VARIABLE}"
        )
    return path


def find_nvdisasm() -> str:
    """Locate nvdisasm: TILEWRIGHT_NVDISASM, a wheel, or the search path."""
    path = chosen_file(NVDISASM_VARIABLE) or _installed_tool("nvdisasm")
    if path is None:
        raise Unsupported(
            "SASS without nvdisasm: install the package nvidia-cuda-nvdisasm, "
            f"put nvdisasm on the path, or name it in {NVDISASM_VARIABLE}"
        )
    return path


def _installed_tool(name: str) -> str | None:
    """Locate a tool of CUDA in a wheel, on the search path, or in a toolkit."""
    inside = os.path.join("bin", f"{name}.exe" if os.name == "nt" else name)
    return (
        _first_file(os.path.join(folder, inside) for folder in wheel_folders())
        or on_the_path(name)
        or _first_file(os.path.join(folder, inside) for folder in toolkit_folders())
    )


def on_the_path(name: str) -> str | None:
    """Locate a program on the search path."""
    # Importing `shutil` is slow, and a wheel usually has the tool.
    from shutil import which  # noqa: PLC0415

    return which(name)


def find_libdevice() -> str:
    """Locate the bitcode of libdevice."""
    return chosen_file(LIBDEVICE_VARIABLE) or _installed_libdevice()


@cache
def _installed_libdevice() -> str:
    folders = (*wheel_folders(), *toolkit_folders())
    path = _first_file(os.path.join(folder, _LIBDEVICE) for folder in folders)
    if path is None:
        raise Unsupported(
            "math functions without libdevice: install the package nvidia-nvvm, "
            f"or name libdevice.10.bc in {LIBDEVICE_VARIABLE}"
        )
    return path


def tool_stamp(find: Callable[[], str]) -> str:
    """Return a stamp of a tool's file for cache keys; empty if not installed."""
    try:
        path = find()
        status = os.stat(path)
    except (Unsupported, OSError):
        return ""
    return f"{path} {status.st_size} {status.st_mtime_ns}"


@cache
def llvm_stamp() -> str:
    """Return the version of llvmlite without importing it."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return ""
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py")) as file:
            return file.read()
    except OSError:
        return spec.origin


def toolchain_stamp() -> str:
    """Return a stamp of LLVM, libdevice and ptxas for cache keys."""
    return "\n".join((llvm_stamp(), tool_stamp(find_libdevice), tool_stamp(find_ptxas)))


def cache_folder() -> str:
    """Return the cache folder of the user, which may not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    folder = os.environ.get(CACHE_VARIABLE) or os.path.join(home, "tilewright")
    # Never create a folder named `~`; without a home, use a path that cannot be created.
    expanded = os.path.expanduser(folder)
    return os.path.join(os.devnull, "tilewright") if expanded.startswith("~") else expanded


def cache_refusal() -> str | None:
    """Why the cache folder is not used, since others can have written it; None if it is."""
    # Not every command has a cache.
    from tilewright.support.trusted_files import distrust_folder  # noqa: PLC0415

    folder = cache_folder()
    for each in (folder, os.path.join(folder, COMPILED), os.path.join(folder, RECORDS)):
        reason = distrust_folder(each)
        if reason is not None:
            return f"'{each}' is not used: {reason}"
    return None


def records_folder() -> str:
    """Return the folder of tuning records, which may not exist: most users have none."""
    return os.path.join(cache_folder(), RECORDS)


def has_records() -> bool:
    """Whether there may be tuning records."""
    return os.path.isdir(records_folder())
