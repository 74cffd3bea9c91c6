"""Supported versions of cuTile Python, and access to its modules."""

from __future__ import annotations

import importlib
from typing import Any, Final

from tilewright.support.diagnostics import Unsupported

KNOWN_VERSIONS: Final = ("1.7.0",)
"""The mapping from arguments to signatures is internal to cuTile and may change."""


def cutile(module: str = "") -> Any:
    """Import a module of cuTile Python; `cuda.tile` itself without a name."""
    try:
        package: Any = importlib.import_module("cuda.tile")
    except ModuleNotFoundError as error:
        if error.name not in ("cuda", "cuda.tile"):
            raise
        raise Unsupported(
            "kernels of cuTile without cuTile Python: pip install 'tilewright[cutile]'"
        ) from error
    if package.__version__ not in KNOWN_VERSIONS:
        known = ", ".join(KNOWN_VERSIONS)
        raise Unsupported(
            f"cuTile Python {package.__version__} (known: {known}): "
            "pip install 'tilewright[cutile]', or have it start tileiras from the path"
        )
    return importlib.import_module(f"cuda.tile.{module}") if module else package
