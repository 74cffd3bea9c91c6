"""Run a kernel of cuTile Python on the CPU: compile it to Tile IR once, execute that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tilewright.cutile.signatures import Arguments
from tilewright.cutile.versions import cutile
from tilewright.driver.api import read
from tilewright.reference.launch import launch as run
from tilewright.support.diagnostics import fail
from tilewright.support.run_limits import RunLimits

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp

_BYTECODE: Final = "13.4"

_compiled: WeakKeyDictionary[Any, dict[str, ModuleOp]] = WeakKeyDictionary()
"""Compiled modules by kernel and mangled signature."""


def launch(
    grid: int | Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    check: bool = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
    max_steps: int | None = None,
    timeout: float | None = None,
) -> None:
    """Run a `@ct.kernel` function over a grid; arrays among the arguments change in place.

    Arguments are those of `ct.launch`, but arrays are NumPy's (with elements of ml_dtypes too) or
    tensors of torch on the CPU. `check`, `seed`, `write`, `max_steps` and `timeout` are those of
    `tilewright.execute`.

    Raises cuTile's exceptions if it cannot compile the kernel, and `tilewright.Error` if the
    launch is invalid or the kernel fails.
    """
    if not isinstance(kernel, cutile().kernel):
        fail(f"expected a function with @ct.kernel, got {type(kernel).__name__}")
    arguments = Arguments(kernel, args)
    module = _compile(kernel, arguments.signature)
    symbol = arguments.signature.symbol
    limits = RunLimits(max_steps, timeout)
    run(
        module, symbol, grid, arguments.parameters,
        check=check, seed=seed, write=write, limits=limits,
    )  # fmt: skip


def _compile(kernel: Any, signature: Any) -> ModuleOp:
    modules = _compiled.setdefault(kernel, {})
    module = modules.get(signature.symbol)
    if module is None:
        code = export_bytecode(kernel, signature)
        module = modules[signature.symbol] = read(code, name=signature.symbol)
    return module


def export_bytecode(kernel: Any, signature: Any) -> bytes:
    """Have cuTile compile a kernel to Tile IR bytecode for a signature."""
    code = BytesIO()
    cutile("compilation").export_kernel(
        kernel,
        [signature],
        code,
        output_format="tileir_bytecode",
        bytecode_version=_BYTECODE,
    )
    return code.getvalue()
