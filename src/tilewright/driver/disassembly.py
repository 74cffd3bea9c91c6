"""A module to text, as NVIDIA's disassembler prints it: the contents without the module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.text.printer import Style, print_op

if TYPE_CHECKING:
    from tilewright.dialects.cuda_tile.structure import ModuleOp


def disassemble(
    module: ModuleOp, *, debug: bool = False, style: str = "public", generic: bool = False
) -> str:
    """The text of everything in a module, each operation on its own, after the producer's name."""
    spelling = Style(style)
    header = f"// Producer: {module.producer}\n" if module.producer else ""
    texts = [
        print_op(op, style=spelling, debug=debug, generic=generic, default_dialect="cuda_tile")
        for op in module.body.block
    ]
    return header + "".join(texts)
