"""Have cuTile compile with Tilewright, or run its launches on the CPU; and undo that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, Final

from tilewright.cutile.versions import cutile
from tilewright.support.diagnostics import Unsupported, fail

PLACES: Final = ("gpu", "cpu")

_OURS: Final = "tilewright."

Swap = tuple[Any, Any]
"""An object of cuTile, and ours that stands in for it."""


class _Switch:
    """What stands in for what at present."""

    lock: Final = RLock()
    swaps: Sequence[Swap] = ()


def enable(on: str = "gpu", *, check: bool = False, seed: int = 0) -> None:
    """From now on cuTile's kernels are compiled by Tilewright, in this process.

    cuTile launches them on the GPU as before, and keeps them in its own cache, apart from those of
    other compilers. What it has compiled before in this process stays as it is.

    With `on="cpu"`, `ct.launch` runs kernels on the CPU instead and ignores its stream; `check` and
    `seed` are those of `tilewright.cutile.launch`.

    Either holds in every module that has imported something from cuTile, under whatever name, and
    in those that will.
    """
    if on not in PLACES:
        raise Unsupported(f"cuTile kernels on '{on}' (known: {', '.join(PLACES)})")
    if on == "gpu" and (check or seed):
        fail("'check' and 'seed' are for kernels on the CPU: expected on='cpu' with them")
    # Nobody may compile half with one compiler and half with the other: cuTile would keep the
    # cubin of one under the name of the other.
    with cutile("_compile")._compiler_lock, _Switch.lock:
        disable()
        swaps = _gpu_swaps() if on == "gpu" else _cpu_swaps(check, seed)
        for own, ours in swaps:
            _replace(own, ours)
        _Switch.swaps = swaps


def disable() -> None:
    """Give cuTile back what `enable` took; nothing happens if it has it."""
    if not _Switch.swaps:
        return
    with cutile("_compile")._compiler_lock, _Switch.lock:
        for own, ours in _Switch.swaps:
            _replace(ours, own)
        _Switch.swaps = ()


def _gpu_swaps() -> Sequence[Swap]:
    from tilewright.cutile.compiling import swaps  # noqa: PLC0415

    return swaps()


def _cpu_swaps(check: bool, seed: int) -> Sequence[Swap]:
    from tilewright.cutile.compiling import disassembly  # noqa: PLC0415

    # Logs show a program where there is no compiler of NVIDIA's, too.
    own_text = cutile("_compile")._bytecode_to_mlir_text
    return [(cutile().launch, _cpu_launch(check, seed)), (own_text, disassembly)]


def _cpu_launch(check: bool, seed: int) -> Callable[..., None]:
    from tilewright.cutile.launching import launch  # noqa: PLC0415

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
    """Put one object in the place of another in all loaded modules but those that define ours."""
    for title, module in list(sys.modules.items()):
        names = {} if title.startswith(_OURS) else getattr(module, "__dict__", {})
        for name in [name for name, value in list(names.items()) if value is old]:
            names[name] = new
