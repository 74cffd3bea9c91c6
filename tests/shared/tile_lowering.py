"""Lower small programs of Tile IR to nv_tileaa."""

from __future__ import annotations

from integrity import check_integrity

from tilewright.conversion.cuda_tile_to_nv_tileaa import ConvertCudaTileToTileAA
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Diagnostic, Sink
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

CAPABILITY = "sm_90"


def parsed(text: str) -> Operation:
    """Parse a module of any dialect, unverified, unregistered operations included."""
    return parse_text(f"builtin.module {{ {text} }}", context(True), "test.mlir")


def tile_module(body: str, arguments: str = "", around: str = "", name: str = "m") -> str:
    """The text of a module with one kernel."""
    entry = f"entry @kernel({arguments}) {{\n{body}\nreturn\n}}"
    return f"cuda_tile.module @{name} {{\n{around}\n{entry}\n}}"


def converted(text: str, capability: str = CAPABILITY) -> Operation:
    """Convert a module, and verify it."""
    module = parsed(text)
    verify(module)
    sink = Sink()
    ConvertCudaTileToTileAA(compute_capability=capability).run(module, sink)
    sink.raise_errors()
    check_integrity(module)
    verify(module)
    return module


def failures(module: Operation, capability: str = CAPABILITY) -> list[Diagnostic]:
    """Return the diagnostics of a failed conversion."""
    sink = Sink()
    ConvertCudaTileToTileAA(compute_capability=capability).run(module, sink)
    return sink.diagnostics


def kernel(body: str, arguments: str = "", around: str = "") -> Operation:
    """Return the function that a kernel is converted to."""
    module = converted(tile_module(body, arguments, around))
    return next(op for op in module.walk() if op.name == "nv_tileaa.func")


def lines(body: str, arguments: str = "", around: str = "") -> list[str]:
    """Return the lines of a converted kernel, without the return at its end."""
    text = print_op(kernel(body, arguments, around)).splitlines()[1:-2]
    return [line.strip() for line in text]
