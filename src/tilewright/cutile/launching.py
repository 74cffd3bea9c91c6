"""Run a kernel of cuTile Python without a GPU: compile it to Tile IR once, execute that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tilewright.cutile.errors import python_errors
from tilewright.cutile.signatures import Arguments
from tilewright.cutile.versions import cutile
from tilewright.driver.api import read
from tilewright.driver.files import DEFAULT_ARCH
from tilewright.reference.launch import launch as run
from tilewright.support.diagnostics import Unsupported, fail
from tilewright.support.run_limits import RunLimits
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp

LAUNCH_DEVICES: Final = ("cpu", "emulator")
"""The devices of `launch`; on a GPU, cuTile launches kernels itself."""

_BYTECODE: Final = "13.4"

_compiled: WeakKeyDictionary[Any, dict[str, ModuleOp]] = WeakKeyDictionary()
"""Compiled modules by kernel and mangled signature."""


@ends_tracebacks
def launch(
    grid: int | Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    on: str = "cpu",
    *,
    check: bool = False,
    seed: int = 0,
    write: Callable[[str], object] | None = None,
    max_steps: int | None = None,
    timeout: float | None = None,
    arch: str = DEFAULT_ARCH,
) -> None:
    """Run a `@ct.kernel` function over a grid; arrays among the arguments change in place.

    Arguments are those of `ct.launch`, but arrays are NumPy's (with elements of ml_dtypes too) or
    tensors of torch on the CPU. With `on="cpu"` the reference executor runs the Tile IR; with
    `on="emulator"` the PTX emulator runs the code that it is compiled to for `arch` (by default
    sm_90). `check`, `seed`, `write`, `max_steps` and `timeout` are those of `tilewright.execute`.

    Raises cuTile's exceptions if it cannot compile the kernel, and `tilewright.Error` if the
    launch is invalid or the kernel fails.
    """
    if on not in LAUNCH_DEVICES:
        raise Unsupported(f"launches on '{on}' (known: {', '.join(LAUNCH_DEVICES)})")
    if not isinstance(kernel, cutile().kernel):
        fail(f"expected a function with @ct.kernel, got {type(kernel).__name__}")
    arguments = Arguments(kernel, args)
    module = _compile(kernel, arguments.signature)
    symbol = arguments.signature.symbol
    with python_errors():
        if on == "emulator":
            # The compiler and the emulator are loaded only for this device.
            from tilewright.driver.emulate import emulate  # noqa: PLC0415

            emulate(
                module, symbol, grid, arguments.parameters,
                arch=arch, check=check, seed=seed, write=write, max_steps=max_steps,
                timeout=timeout, names=arguments.names, line_info=True,
            )  # fmt: skip
        else:
            run(
                module, symbol, grid, arguments.parameters,
                check=check, seed=seed, write=write, limits=RunLimits(max_steps, timeout),
                names=arguments.names,
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
