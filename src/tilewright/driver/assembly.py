"""Parse Tile IR text into a module, with or without enclosing modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.bytecode.opcodes import MLIR_MAGIC
from tilewright.dialects.builtin import ModuleOp as BuiltinModuleOp
from tilewright.dialects.cuda_tile.debug_info import scoped_location
from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp, ModuleOp
from tilewright.driver.registry import context
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.support.diagnostics import fail
from tilewright.support.location import UNKNOWN, ByteLoc, FileLoc, FusedLoc

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation


_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def decode_text(data: bytes, name: str, expected: str = "Tile IR text or bytecode") -> str:
    """Decode UTF-8 with or without a byte-order mark; report the first bad byte."""
    start = ByteLoc(name, 0)
    if not data:
        fail(f"expected {expected}, found an empty file", start)
    if data.startswith(MLIR_MAGIC):
        fail(f"expected {expected}, found MLIR bytecode", start)
    if data.startswith(_UTF16_MARKS):
        fail(f"expected {expected}, found UTF-16: save the file as UTF-8", start)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        location = ByteLoc(name, error.start)
        fail(f"expected {expected}, found binary data that is no UTF-8", location)


def parse_any(
    text: str, name: str, allow_unregistered: bool = False, *, every_error: bool = False
) -> Operation:
    """Parse text of any dialect; top-level operations are wrapped in a module.

    With `every_error` the parser goes on after the first error, to report all.
    """
    # Compiling bytecode does not load the parser.
    if every_error:
        from tilewright.text.recovery import parse_every_error as parse_text  # noqa: PLC0415
    else:
        from tilewright.text.parser import parse_text  # noqa: PLC0415
    return parse_text(text, context(allow_unregistered), name, default_dialect="cuda_tile")


def parse_module(text: str, name: str) -> ModuleOp:
    """Parse a Tile IR module, unwrapping or adding an enclosing module as `tile_module` does."""
    return tile_module(parse_any(text, name), name)


def tile_module(root: Operation, name: str) -> ModuleOp:
    """Extract the Tile IR module of a program.

    Unwrap a builtin module around a single tile module. Wrap entries and globals without a
    module, as disassemblers print them, in one with the name that the bytecode reader uses.
    """
    if isinstance(root, ModuleOp):
        return root
    if not isinstance(root, BuiltinModuleOp):
        fail(f"expected a cuda_tile module, found '{root.name}'", root.location)
    inner = list(root.body.block)
    if len(inner) == 1 and isinstance(inner[0], ModuleOp):
        return inner[0].detach()
    unexpected = next((op for op in inner if not isinstance(op, EntryOp | GlobalOp)), None)
    if unexpected is not None:
        fail(f"expected a cuda_tile module, found '{unexpected.name}'", unexpected.location)
    if not inner:
        fail("expected a cuda_tile module, found no operation", FileLoc(name, 1, 1))
    body = Block()
    for op in inner:
        body.append(op.detach())
    return create_op(ModuleOp, sym_name="kernels", body=body, location=root.location)


def wrap_in_module(root: Operation) -> Operation:
    """Wrap a Tile IR module in a builtin module: passes replace ops inside their root."""
    if not isinstance(root, ModuleOp):
        return root
    body = Block()
    body.append(root.detach())
    return create_op(BuiltinModuleOp, body=body, location=root.location)


def is_disassembly(root: Operation) -> bool:
    """Whether a program has top-level entries or globals without a cuda_tile module."""
    return isinstance(root, BuiltinModuleOp) and any(
        isinstance(op, EntryOp | GlobalOp) for op in root.body.block
    )


def with_plain_locations(module: ModuleOp) -> ModuleOp:
    """Replace fused locations, which bytecode cannot encode.

    Passes fuse the locations of operations that they merge. Bytecode has one location per
    operation, so the first part with a debug scope is kept.
    """
    for op in module.walk():
        if isinstance(op.location, FusedLoc):
            parts = op.location.locations
            op.location = next((part for part in parts if scoped_location(part)), UNKNOWN)
    return module
