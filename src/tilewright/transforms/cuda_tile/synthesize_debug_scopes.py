"""Debug information for programs that have only positions in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnit,
    DIFile,
    DILoc,
    DISubprogram,
    scoped_location,
)
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.ir.passes import Pass
from tilewright.support.location import FileLoc
from tilewright.support.source_location import caller_location

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class SynthesizeDebugScopes(Pass):
    """Give every kernel without debug information a function of its own, in an invented unit."""

    name = "synthesize-debug-info-scopes"

    def run(self, op: Operation, sink: Sink) -> None:
        for module in op.walk():
            if isinstance(module, ModuleOp):
                _give_scopes(module)


def _give_scopes(module: ModuleOp) -> None:
    position = caller_location(module.location)
    unit = DICompileUnit(DIFile("<unknown>", "") if position is None else _file(position))
    for entry in module.entries():
        if scoped_location(entry.location) is None:
            _give_scope(entry, unit)


def _file(position: FileLoc) -> DIFile:
    directory, slash, name = position.file.rpartition("/")
    return DIFile(name, directory or slash)


def _give_scope(entry: EntryOp, unit: DICompileUnit) -> None:
    """Put a kernel into a subprogram; operations without a position get the kernel's."""
    position = caller_location(entry.location)
    file = unit.file if position is None else _file(position)
    if position is None:
        position = FileLoc(file.name, 1, 1)
    name, line = entry.sym_name, position.line
    scope = DISubprogram(file, line, name, name, unit, line)
    for op in entry.walk():
        op.location = DILoc(caller_location(op.location) or position, scope)
