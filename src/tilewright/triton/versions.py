"""Supported versions of Triton, and access to its modules and to those of torch."""

from __future__ import annotations

import importlib
from typing import Any, Final

from tilewright.support.diagnostics import Unsupported

KNOWN_VERSIONS: Final = ("3.6", "3.9")
"""What its compiler and its launcher tell a driver is internal to Triton and may change."""

_EXTRA: Final = "pip install 'tilewright[triton]'"


def triton(module: str = "") -> Any:
    """Import a module of Triton; `triton` itself without a name."""
    package = _installed("triton")
    if _minor(package.__version__) not in KNOWN_VERSIONS:
        known = ", ".join(KNOWN_VERSIONS)
        raise Unsupported(f"Triton {package.__version__} (known: {known}): {_EXTRA}")
    return importlib.import_module(f"triton.{module}") if module else package


def first_column() -> int:
    """The number of the first column in the line information of kernels."""
    return 0 if _minor(triton().__version__) == KNOWN_VERSIONS[0] else 1


def torch() -> Any:
    """Import torch, whose tensors are the arguments of kernels."""
    return _installed("torch")


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise Unsupported(f"Triton programs without the package '{name}': {_EXTRA}") from error


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
