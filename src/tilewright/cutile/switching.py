"""Patch cuTile to compile with Tilewright or to run launches on the CPU, and undo it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, Final

from tilewright.cutile.versions import cutile
from tilewright.support.diagnostics import Unsupported, fail

DEVICES: Final = ("gpu", "cpu")

_OURS: Final = "tilewright."

Replacement = tuple[Any, Any]
"""An object of cuTile and its replacement."""


class _Switch:
    """The replacements in effect."""

    lock: Final = RLock()
    replacements: Sequence[Replacement] = ()


def enable(on: str = "gpu", *, check: bool = False, seed: int = 0) -> None:
    """Compile cuTile's kernels with Tilewright, in this process.

    cuTile launches them on the GPU as before and caches them in its own cache, separate from those
    of other compilers. Kernels compiled earlier in this process are unchanged.

    With `on="cpu"`, `ct.launch` runs kernels on the CPU instead and ignores its stream; `check` and
    `seed` are those of `tilewright.cutile.launch`.

    The replacements apply to every module that has imported, or will import, names of cuTile.
    """
    if on not in DEVICES:
        raise Unsupported(f"cuTile kernels on '{on}' (known: {', '.join(DEVICES)})")
    if on == "gpu" and (check or seed):
        fail("'check' and 'seed' are for kernels on the CPU: expected on='cpu' with them")
    # A compilation must not mix both compilers: cuTile would cache the cubin of one under the
    # key of the other.
    with cutile("_compile")._compiler_lock, _Switch.lock:
        disable()
        replacements = _gpu_replacements() if on == "gpu" else _cpu_replacements(check, seed)
        for own, ours in replacements:
            replace_object(own, ours)
        _Switch.replacements = replacements


def disable() -> None:
    """Undo `enable`; idempotent."""
    if not _Switch.replacements:
        return
    with cutile("_compile")._compiler_lock, _Switch.lock:
        for own, ours in _Switch.replacements:
            replace_object(ours, own)
        _Switch.replacements = ()


def _gpu_replacements() -> Sequence[Replacement]:
    from tilewright.cutile.compiling import replacements  # noqa: PLC0415

    return replacements()


def _cpu_replacements(check: bool, seed: int) -> Sequence[Replacement]:
    from tilewright.cutile.compiling import disassembly  # noqa: PLC0415

    # Logs contain the disassembly also where NVIDIA's tools are not installed.
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
        """`ct.launch` on the CPU: synchronous, so streams are ignored."""
        launch(grid, kernel, kernel_args, check=check, seed=seed)

    return launch_on_cpu


def replace_object(old: Any, new: Any) -> None:
    """Replace an object in all loaded modules except the ones that define the replacement."""
    for title, module in list(sys.modules.items()):
        names = {} if title.startswith(_OURS) else getattr(module, "__dict__", {})
        for name in [name for name, value in list(names.items()) if value is old]:
            names[name] = new
