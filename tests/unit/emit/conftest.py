"""From the text of a program to LLVM IR, PTX and cubins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.driver.registry import context
from tilewright.emit.llvm.module import LLVMModule, emit_llvm
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.target.arch import ARCHES
from tilewright.text.parser import parse_text

Emit = Callable[..., LLVMModule]


def read(text: str, name: str = "program.mlir") -> Operation:
    program = parse_text(text, context(), name)
    verify(program)
    return program


@pytest.fixture(scope="session")
def emit() -> Emit:
    """Writes the LLVM IR of a program for a GPU."""

    def run(text: str, arch: str = "sm_90", *, line_info: bool = False) -> LLVMModule:
        return emit_llvm(read(text), ARCHES[arch], line_info=line_info)

    return run


@pytest.fixture(scope="session")
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of its own for the whole run: no test sees what another run has left."""
    return tmp_path_factory.mktemp("cache")
