"""Compile a program and collect the report of `tilewright explain`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tilewright import __version__
from tilewright.driver.api import read_level
from tilewright.driver.assembly import decode_text
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation
from tilewright.driver.compile_remarks import collected_remarks, entry_locations
from tilewright.driver.files import is_bytecode
from tilewright.explain.collect import Collector, Subject
from tilewright.explain.positions import Positions
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported
from tilewright.support.location import ByteLoc
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.driver.settings import Settings
    from tilewright.explain.report import Report
    from tilewright.ir.operation import Operation


class Source(NamedTuple):
    """A program, and the texts that its locations are in as far as they are known."""

    module: Operation
    texts: dict[str, str]


def explain(
    data: bytes, name: str, settings: Settings, *, title: str = "", folders: Sequence[str] = ()
) -> Report:
    """Compile a program and report what the compiler decided.

    `data` is Tile IR or text of a level below it. The report has the text of the files that its
    locations name, if they are in one of the folders.
    """
    source = read_explained(data, name)
    # Lines of PTX and SASS are linked by line information, which does not change the code.
    settings = settings._replace(line_info=True)
    positions = Positions(source.texts, folders)
    subject = Subject(title or os.path.basename(name), __version__, _spell(settings), settings.arch)
    collector = Collector(subject, positions)
    observers = Observers(remarks=True, reached=collector.reached)
    observers.sink.diagnostics += verify(source.module)
    module = source.module
    locations = entry_locations(module)
    compilation = Compilation(module.clone(), settings, observers, source=module.clone)
    notes: list[str] = []
    try:
        compilation.to("cubin")
    except Unsupported as error:
        if not compilation.ptx:
            raise
        # Without ptxas the report ends with PTX.
        notes.append(str(error))
    remarks = collected_remarks(compilation, locations)
    return collector.report(compilation.llvm, compilation.ptx, compilation.cubin, remarks, notes)


def read_explained(data: bytes, name: str) -> Source:
    """Read a program; bytecode without source lines gets those of its disassembly."""
    if not is_bytecode(data):
        return Source(read_level(data, name), {name: decode_text(data, name)})
    module = read_level(data, name)
    has_lines = any(not isinstance(op.location, ByteLoc) and str(op.location)
                    for op in module.walk())  # fmt: skip
    if has_lines:
        return Source(module, {})
    text = print_op(module)
    shown = f"{name}.mlir"
    return Source(read_level(text, shown), {shown: text})


def _spell(settings: Settings) -> str:
    parts = [f"-O{settings.opt_level}"]
    parts += [f"--schedule {settings.schedule.replace(' ', ',')}"] if settings.schedule else []
    parts += ["--sanitize=memcheck"] if settings.sanitize else []
    return " ".join(parts)
