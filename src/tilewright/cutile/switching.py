"""Have `ct.launch` run kernels on the CPU, wherever a module holds it, and undo that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.cutile.launching import launch
from tilewright.cutile.versions import cutile
from tilewright.support.diagnostics import Unsupported


class _Switch:
    """cuTile's own function, and ours while it stands in for it."""

    own: Any = None
    ours: Any = None


def enable(on: str = "cpu", *, check: bool = False, seed: int = 0) -> None:
    """From now on `ct.launch` runs kernels on the CPU and ignores its stream.

    This holds in every module that has imported `launch` from cuTile, under whatever name, and in
    those that will. `check` and `seed` are those of `tilewright.cutile.launch`.
    """
    if on != "cpu":
        raise Unsupported(f"cuTile kernels on '{on}'")
    disable()
    _Switch.own = cutile().launch
    _Switch.ours = _stand_in(check, seed)
    _replace(_Switch.own, _Switch.ours)


def disable() -> None:
    """Give `ct.launch` back to cuTile; nothing happens if it has it."""
    if _Switch.ours is None:
        return
    _replace(_Switch.ours, _Switch.own)
    _Switch.own = _Switch.ours = None


def _stand_in(check: bool, seed: int) -> Callable[..., None]:
    def launch_on_cpu(
        stream: Any,
        grid: Sequence[int],
        kernel: Any,
        kernel_args: Sequence[Any],
        /,
        *,
        programmatic_dependent_launch: bool = False,
    ) -> None:
        """`ct.launch` on the CPU: done when it returns, so streams and overlap mean nothing."""
        launch(grid, kernel, kernel_args, check=check, seed=seed)

    return launch_on_cpu


def _replace(old: Any, new: Any) -> None:
    """Put one object in the place of another in all loaded modules."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for name in [name for name, value in list(names.items()) if value is old]:
            names[name] = new
