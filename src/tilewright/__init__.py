"""Tilewright, an open compiler for CUDA Tile IR: the public names, each loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tilewright.driver.api import read, write_bytecode
    from tilewright.driver.compile import CompiledModule, compile
    from tilewright.driver.execute import execute
    from tilewright.driver.launch import launch
    from tilewright.driver.nvcc.launch import nvcc
    from tilewright.reference.uninitialised import mark_uninitialised
    from tilewright.support.diagnostics import (
        AssemblerError,
        Diagnostic,
        Error,
        InternalError,
        Unsupported,
        UserError,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "AssemblerError",
    "CompiledModule",
    "Diagnostic",
    "Error",
    "InternalError",
    "Unsupported",
    "UserError",
    "__version__",
    "compile",
    "execute",
    "launch",
    "mark_uninitialised",
    "nvcc",
    "read",
    "write_bytecode",
]

_HOME: Final = {
    "AssemblerError": "tilewright.support.diagnostics",
    "CompiledModule": "tilewright.driver.compile",
    "Diagnostic": "tilewright.support.diagnostics",
    "Error": "tilewright.support.diagnostics",
    "InternalError": "tilewright.support.diagnostics",
    "Unsupported": "tilewright.support.diagnostics",
    "UserError": "tilewright.support.diagnostics",
    "compile": "tilewright.driver.compile",
    "execute": "tilewright.driver.execute",
    "launch": "tilewright.driver.launch",
    "mark_uninitialised": "tilewright.reference.uninitialised",
    "nvcc": "tilewright.driver.nvcc.launch",
    "read": "tilewright.driver.api",
    "write_bytecode": "tilewright.driver.api",
}

# Every submodule runs this file first, so it loads nothing: `import tilewright.support` does not
# cost the driver. Type checkers see the imports above instead, and so catch misspelt names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from tilewright.support.lazy import imported  # noqa: PLC0415

        return imported(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
