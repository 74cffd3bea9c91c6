"""Library entry points: read Tile IR bytecode or text, write bytecode."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode as encode
from tilewright.driver.assembly import (
    decode_text,
    is_disassembly,
    parse_any,
    parse_module,
    tile_module,
)
from tilewright.driver.files import is_bytecode, read_source
from tilewright.driver.pipelines import level_of
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import fail
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp
    from tilewright.ir.operation import Operation


@ends_tracebacks
def read(source: bytes | str | os.PathLike[str], *, name: str | None = None) -> ModuleOp:
    """Read and verify a Tile IR module: bytecode (`bytes`), text (`str`) or the file at a path.

    Raises `tilewright.Error` with a location if the module is invalid. `name` is the file name
    used in diagnostics.
    """
    if isinstance(source, os.PathLike):
        data, path = read_source(os.fspath(source))
        module = read_unverified(data, name or path)
    else:
        module = read_unverified(source, name or "<input>")
    verify(module)
    return module


def read_unverified(source: bytes | str, name: str) -> ModuleOp:
    """Read bytecode or text without verifying; bytes without the magic number are UTF-8 text."""
    if isinstance(source, bytes):
        if is_bytecode(source):
            return read_bytecode(source, name)
        source = decode_text(source, name)
    else:
        _reject_path(source)
    return parse_module(source, name)


def read_level(
    source: bytes | str, name: str, allow_unregistered: bool = False, *, every_error: bool = False
) -> Operation:
    """Read a program of any level: Tile IR bytecode or text, or text of a lower-level dialect.

    With `every_error` the parser goes on after the first error in a text, to report all.
    """
    if isinstance(source, bytes):
        if is_bytecode(source):
            return read_bytecode(source, name)
        source = decode_text(source, name)
    else:
        _reject_path(source)
    root = parse_any(source, name, allow_unregistered, every_error=every_error)
    return tile_module(root, name) if is_disassembly(root) else root


def _reject_path(text: str) -> None:
    """Reject a string that names an existing file: a path must be an `os.PathLike`."""
    if "\n" not in text and os.path.isfile(text):
        fail(f"expected a program, found the name of a file: pathlib.Path({text!r}) stands for it")


def read_runnable(source: bytes | str, name: str) -> Operation:
    """Read a program for an executor: Tile IR, or text of nv_tileaa or nv_tileas."""
    root = read_level(source, name)
    return root if level_of(root) in ("nv_tileaa", "nv_tileas") else tile_module(root, name)


@ends_tracebacks
def write_bytecode(module: ModuleOp, version: str = "13.4") -> bytes:
    """Encode a module as Tile IR bytecode of a version, "13.1" to "13.4", or the preview "13.5".

    Raises `tilewright.Error` if the module uses a feature newer than the version.
    """
    return encode(module, parse_version(version))
