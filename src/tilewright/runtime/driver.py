"""NVIDIA's driver through cuda.bindings: loaded on demand, with failures raised as errors."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from tilewright.runtime.errors import DRIVER_NEEDED, failure
from tilewright.support.diagnostics import Unsupported

OLDEST: Final = 13000
"""The minimum CUDA version of the driver: 1000 times the major version."""
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
    """Call a function of the driver; return its results except the status."""
    status, *results = getattr(bindings(), name)(*arguments)
    check(name, status)
    return results[0] if len(results) == 1 else results


def check(name: str, status: Any) -> None:
    """Raise the error for the status of a function of the driver."""
    if int(status):
        raise failure(name, *_described(bindings().CUresult(int(status))))


def native(name: str, version: int, *types: Any) -> Callable[..., int]:
    """A function of the driver as C calls it; `version` is that of CUDA which introduced it.

    It serves where the bindings pass memory of their own that is not aligned as the driver asks.
    """
    address, _ = call("cuGetProcAddress", name.encode(), version, 0)
    if not address:
        raise Unsupported(f"kernels on a GPU whose driver has no '{name}'")
    return ctypes.CFUNCTYPE(ctypes.c_int, *types)(int(address))


def _described(status: Any) -> tuple[str, str]:
    """The name and the description of a status."""
    texts = [
        getattr(bindings(), name)(status)[1] for name in ("cuGetErrorName", "cuGetErrorString")
    ]
    name, text = (text.decode() if text else "" for text in texts)
    return name or f"error {int(status)}", text


@cache
def ready() -> None:
    """Initialise the driver; raise `Unsupported` if there is none, or it is too old."""
    try:
        call("cuInit", 0)
        version: int = call("cuDriverGetVersion")
    except RuntimeError as error:
        # The bindings raise this if the library or one of its functions is missing.
        raise Unsupported(f"kernels on a GPU without NVIDIA's driver ({error})") from error
    if version < OLDEST:
        supported = f"{version // 1000}.{version % 1000 // 10}"
        raise Unsupported(
            f"kernels on a GPU whose driver knows CUDA {supported}: "
            f"expected 13.0 or later (driver {DRIVER_NEEDED})"
        )
