"""Have cuTile switched over as soon as a program imports it, and no earlier.

cuTile reads its environment when it is imported: a program that sets variables first must find
them obeyed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

VARIABLE: Final = "TILEWRIGHT_CUTILE"
"""Tells Python processes that a program starts where its kernels go."""

_CLIENT: Final = "cuda.tile"
_STARTUP: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


def switch_on_import(on: str) -> None:
    """Call `enable(on)` as soon as cuTile is there."""
    if _CLIENT in sys.modules:
        _enable(on)
    else:
        sys.meta_path.insert(0, _Finder(on))


def hand_down(on: str) -> None:
    """Have Python processes that this one starts do the same.

    Programs on several GPUs start a process each. What Python runs first in every process is a
    file of a fixed name on its path, so ours is put there; it runs what it hides.
    """
    os.environ[VARIABLE] = on
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([_STARTUP, before] if before else [_STARTUP])


class _Finder:
    """Finds cuTile as the other finders do, and switches it over when it has run."""

    def __init__(self, on: str) -> None:
        self._on = on

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as the others find it, or none if it is not cuTile."""
        if name != _CLIENT:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None:
            _run_after(spec.loader, self._on)
        return spec


def _run_after(loader: Any, on: str) -> None:
    execute = loader.exec_module

    def execute_and_switch(module: ModuleType) -> None:
        execute(module)
        _enable(on)

    loader.exec_module = execute_and_switch


def _enable(on: str) -> None:
    from tilewright.cutile.switching import enable  # noqa: PLC0415

    enable(on)
