"""Have cuTile switched over as soon as a program has imported what that replaces, and no earlier.

cuTile reads its environment when it is imported: a program that sets variables first must find
them obeyed. Its compiler it imports with the first kernel, and torch with it: a process that only
launches must not wait for that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

VARIABLE: Final = "TILEWRIGHT_CUTILE"
"""Tells Python processes that a program starts where its kernels go."""

_CLIENT: Final = "cuda.tile"
_REPLACED_IN: Final = {"gpu": "cuda.tile._compile", "cpu": _CLIENT}
_STARTUP: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


def switch_on_import(on: str) -> None:
    """Call `enable(on)` as soon as what it replaces is there; other versions are refused before.

    The last call counts: programs under `--on cpu` may start others with `--on gpu`.
    """
    module = _REPLACED_IN.get(on, _CLIENT)
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _Finder)]
    if module in sys.modules:
        _enable(on)
    else:
        sys.meta_path.insert(0, _Finder({_CLIENT: _check, module: lambda: _enable(on)}))


def hand_down(on: str) -> None:
    """Have Python processes that this one starts do the same.

    Programs on several GPUs start a process each. What Python runs first in every process is a
    file of a fixed name on its path, so ours is put there; it runs what it hides.
    """
    os.environ[VARIABLE] = on
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([_STARTUP, before] if before else [_STARTUP])


class _Finder:
    """Finds modules as the other finders do, and has something done when they have run."""

    def __init__(self, afterwards: Mapping[str, Callable[[], None]]) -> None:
        self._afterwards = afterwards

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as the others find it, or none if it is not one of those."""
        afterwards = self._afterwards.get(name)
        if afterwards is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None:
            _run_after(spec.loader, afterwards)
        return spec


def _run_after(loader: Any, afterwards: Callable[[], None]) -> None:
    execute = loader.exec_module

    def execute_first(module: ModuleType) -> None:
        execute(module)
        afterwards()

    loader.exec_module = execute_first


def _check() -> None:
    from tilewright.cutile.versions import cutile  # noqa: PLC0415

    cutile()


def _enable(on: str) -> None:
    from tilewright.cutile.switching import enable  # noqa: PLC0415

    enable(on)
