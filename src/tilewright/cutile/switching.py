"""Patch cuTile to compile with Tilewright or to run launches without a GPU, and undo it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, Final

from tilewright.cutile.options import Options
from tilewright.cutile.versions import cutile

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

    With `on="cpu"`, `ct.launch` runs kernels on the CPU instead and ignores its stream: the Tile IR
    on the reference executor. With `on="emulator"` it runs the PTX that they are compiled to on the
    PTX emulator. `check` and `seed` are those of `tilewright.cutile.launch`.

    The replacements apply to every module that has imported, or will import, names of cuTile.
    """
    options = Options(on, check, seed)
    options.validate()
    # A compilation must not mix both compilers: cuTile would cache the cubin of one under the
    # key of the other.
    with cutile("_compile")._compiler_lock, _Switch.lock:
        disable()
        replacements = _gpu_replacements() if on == "gpu" else _host_replacements(options)
        replace_objects(replacements)
        _Switch.replacements = replacements


def disable() -> None:
    """Undo `enable`; idempotent."""
    if not _Switch.replacements:
        return
    with cutile("_compile")._compiler_lock, _Switch.lock:
        replace_objects([(ours, own) for own, ours in _Switch.replacements])
        _Switch.replacements = ()


def _gpu_replacements() -> Sequence[Replacement]:
    from tilewright.cutile.compiling import replacements  # noqa: PLC0415

    return replacements()


def _host_replacements(options: Options) -> Sequence[Replacement]:
    from tilewright.cutile.compiling import disassembly  # noqa: PLC0415

    # Logs contain the disassembly also where NVIDIA's tools are not installed.
    own_text = cutile("_compile")._bytecode_to_mlir_text
    return [(cutile().launch, _host_launch(options)), (own_text, disassembly)]


def _host_launch(options: Options) -> Callable[..., None]:
    from tilewright.cutile.launching import launch  # noqa: PLC0415

    def launch_on_host(
        stream: Any,
        grid: Sequence[int],
        kernel: Any,
        kernel_args: Sequence[Any],
        /,
        *,
        programmatic_dependent_launch: bool = False,
    ) -> None:
        """`ct.launch` without a GPU: synchronous, so streams are ignored."""
        __tracebackhide__ = True
        on, check, seed = options
        launch(grid, kernel, kernel_args, on=on, check=check, seed=seed)

    return launch_on_host


def replace_objects(replacements: Sequence[Replacement]) -> None:
    """Replace objects in all loaded modules except the ones that define the replacements."""
    by_identity = {id(old): new for old, new in replacements}
    for title, module in list(sys.modules.items()):
        names: dict[str, Any] = {} if title.startswith(_OURS) else getattr(module, "__dict__", {})
        # One look at each name: a process that has loaded torch has some hundred thousand.
        for name in [name for name, value in list(names.items()) if id(value) in by_identity]:
            names[name] = by_identity[id(names[name])]
