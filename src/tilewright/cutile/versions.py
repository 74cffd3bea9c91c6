"""The versions of cuTile Python whose launcher we know, and the way to its modules."""

from __future__ import annotations

import importlib
from typing import Any, Final

from tilewright.support.diagnostics import Unsupported

KNOWN_VERSIONS: Final = ("1.7.0",)
"""How arguments become a signature is cuTile's own matter, and may change with any version."""


def cutile(module: str = "") -> Any:
    """A module of cuTile Python, `cuda.tile` itself without a name."""
    try:
        package: Any = importlib.import_module("cuda.tile")
    except ModuleNotFoundError as error:
        if error.name not in ("cuda", "cuda.tile"):
            raise
        raise Unsupported("kernels of cuTile without cuTile Python (PyPI: cuda-tile)") from error
    if package.__version__ not in KNOWN_VERSIONS:
        known = ", ".join(KNOWN_VERSIONS)
        raise Unsupported(f"cuTile Python {package.__version__} (known: {known})")
    return importlib.import_module(f"cuda.tile.{module}") if module else package
