"""Import hooks that call `enable` once a program has imported cuTile.

cuTile reads its environment when it is imported, so a program may set variables first. It imports
its compiler, and torch, with the first kernel, so a process that compiles nothing does not load
them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from tilewright.cutile.options import Options

VARIABLE: Final = "TILEWRIGHT_CUTILE"
"""The environment variable that passes the options to child processes."""

_CLIENT: Final = "cuda.tile"
_REPLACED_IN: Final = {"gpu": "cuda.tile._compile"}
_STARTUP: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


def switch_on_import(options: Options) -> None:
    """Call `enable` after cuTile is imported; reject unknown versions before.

    The last call wins: programs under `--on cpu` may start others with `--on gpu`.
    """
    module = _REPLACED_IN.get(options.on, _CLIENT)
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _Finder)]
    if module in sys.modules:
        _enable(options)
    else:
        sys.meta_path.insert(0, _Finder({_CLIENT: _check, module: lambda: _enable(options)}))


def hand_down(options: Options) -> None:
    """Enable Tilewright in Python child processes.

    Programs on several GPUs start one process per GPU. Python runs `sitecustomize` at start-up,
    so ours is put on the path; it runs the one that it shadows.
    """
    os.environ[VARIABLE] = str(options)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([_STARTUP, before] if before else [_STARTUP])


class _Finder:
    """A meta path finder that runs a callback after a module is executed."""

    def __init__(self, afterwards: Mapping[str, Callable[[], None]]) -> None:
        self._afterwards = afterwards

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a hooked module from the other finders; None for other modules."""
        afterwards = self._afterwards.get(name)
        if afterwards is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
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


def _enable(options: Options) -> None:
    from tilewright.cutile.switching import enable  # noqa: PLC0415

    enable(options.on, check=options.check, seed=options.seed)
