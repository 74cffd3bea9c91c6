"""Disassemble a module as NVIDIA's disassembler does: its contents without the module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.text.printer import Style, print_contents

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp


def disassemble(
    module: ModuleOp, *, debug: bool = False, style: str = "public", generic: bool = False
) -> str:
    """Print the contents of a module, preceded by the name of its producer."""
    producer = module.producer or ""
    if not producer.isprintable():
        # A line break would end the comment, and the rest be read as a program.
        from tilewright.support.quoting import one_line  # noqa: PLC0415

        producer = one_line(producer)
    header = f"// Producer: {producer}\n" if producer else ""
    return header + print_contents(module, style=Style(style), debug=debug, generic=generic)
