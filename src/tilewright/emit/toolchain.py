"""Where NVIDIA's assembler and its library of device functions are on this machine, and which."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from tilewright.support.diagnostics import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PTXAS_VARIABLE: Final = "TILEWRIGHT_PTXAS"
LIBDEVICE_VARIABLE: Final = "TILEWRIGHT_LIBDEVICE"
CACHE_VARIABLE: Final = "TILEWRIGHT_CACHE_DIR"

_LIBDEVICE: Final = os.path.join("nvvm", "libdevice", "libdevice.10.bc")


def _wheels() -> Iterator[str]:
    """The folders that NVIDIA's wheels of CUDA 13 and of CUDA 12 put their files into."""
    spec = find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield os.path.join(root, "cu13")
        yield os.path.join(root, "cuda_nvcc")


def _toolkits() -> Iterator[str]:
    """The folders where a toolkit may be installed."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(variable):
            yield folder
    yield "/usr/local/cuda"


def _first_file(candidates: Iterator[str]) -> str | None:
    return next((path for path in candidates if os.path.isfile(path)), None)


def _chosen(variable: str) -> str | None:
    """The file that an environment variable names."""
    path = os.environ.get(variable)
    if path and not os.path.isfile(path):
        raise Unsupported(f"'{path}', which {variable} names: there is no such file")
    return path or None


def find_ptxas() -> str:
    """The assembler: the one chosen by TILEWRIGHT_PTXAS, of a wheel, or on the path."""
    return _chosen(PTXAS_VARIABLE) or _installed_ptxas()


@cache
def _installed_ptxas() -> str:
    inside = os.path.join("bin", "ptxas.exe" if os.name == "nt" else "ptxas")
    found = (
        _first_file(os.path.join(folder, inside) for folder in _wheels())
        or _on_the_path("ptxas")
        or _first_file(os.path.join(folder, inside) for folder in _toolkits())
    )
    if found is None:
        raise Unsupported(
            "cubins without ptxas: install the package nvidia-cuda-nvcc, "
            f"put ptxas on the path, or name it in {PTXAS_VARIABLE}"
        )
    return found


def _on_the_path(name: str) -> str | None:
    # It takes archives of three kinds along, and mostly a wheel has what we look for.
    from shutil import which  # noqa: PLC0415

    return which(name)


def find_libdevice() -> str:
    """The library of device functions, in LLVM's bitcode."""
    return _chosen(LIBDEVICE_VARIABLE) or _installed_libdevice()


@cache
def _installed_libdevice() -> str:
    folders = (*_wheels(), *_toolkits())
    found = _first_file(os.path.join(folder, _LIBDEVICE) for folder in folders)
    if found is None:
        raise Unsupported(
            "math functions without libdevice: install the package nvidia-nvvm, "
            f"or name libdevice.10.bc in {LIBDEVICE_VARIABLE}"
        )
    return found


def tool_stamp(find: Callable[[], str]) -> str:
    """What tells a file of NVIDIA's from another version; empty where there is none."""
    try:
        path = find()
        status = os.stat(path)
    except (Unsupported, OSError):
        return ""
    return f"{path} {status.st_size} {status.st_mtime_ns}"


@cache
def llvm_stamp() -> str:
    """The version of llvmlite, which is not loaded for that."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return ""
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py")) as file:
            return file.read()
    except OSError:
        return spec.origin


def toolchain_stamp() -> str:
    """What tells all that has its part in a cubin, besides this compiler, from other versions."""
    return "\n".join((llvm_stamp(), tool_stamp(find_libdevice), tool_stamp(find_ptxas)))


def cache_folder() -> str:
    """Where a user's own copies of derived files are kept; it need not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    folder = os.environ.get(CACHE_VARIABLE) or os.path.join(home, "tilewright")
    # Nobody gets a folder `~` where he stands; who has no home, one that cannot be made.
    found = os.path.expanduser(folder)
    return os.path.join(os.devnull, "tilewright") if found.startswith("~") else found
