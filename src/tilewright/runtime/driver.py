"""NVIDIA's driver through cuda.bindings: found when it is needed, its failures made errors."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

from tilewright.runtime.errors import DRIVER_NEEDED, failure
from tilewright.support.diagnostics import Unsupported

OLDEST: Final = 13000
"""The version of CUDA that a driver must know, as it says it: 1000 times the major one."""
_PACKAGES: Final = ("cuda", "cuda.bindings", "cuda.bindings.driver")


@cache
def bindings() -> Any:
    """The driver's functions and types."""
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
    raise Unsupported("kernels on a GPU without cuda.bindings: pip install 'tilewright[gpu]'")


def call(name: str, *arguments: Any) -> Any:
    """Call a function of the driver; what it says beside its success."""
    status, *results = getattr(bindings(), name)(*arguments)
    if int(status):
        raise failure(name, *_described(status))
    return results[0] if len(results) == 1 else results


def _described(status: Any) -> tuple[str, str]:
    """What the driver calls a status, and how it explains it."""
    texts = [
        getattr(bindings(), name)(status)[1] for name in ("cuGetErrorName", "cuGetErrorString")
    ]
    name, text = (text.decode() if text else "" for text in texts)
    return name or f"error {int(status)}", text


@cache
def ready() -> None:
    """Wake the driver up; raises `Unsupported` where there is none, or too old a one."""
    try:
        call("cuInit", 0)
        version: int = call("cuDriverGetVersion")
    except RuntimeError as error:
        # What the bindings say where they find no library to load, or not all functions in it.
        raise Unsupported(f"kernels on a GPU without NVIDIA's driver ({error})") from error
    if version < OLDEST:
        found = f"{version // 1000}.{version % 1000 // 10}"
        raise Unsupported(
            f"kernels on a GPU whose driver knows CUDA {found}: "
            f"expected 13.0 or later (driver {DRIVER_NEEDED})"
        )
