"""The base class of all operations of Tile IR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tilewright.dialects.cuda_tile.directives import DIRECTIVES
from tilewright.ir.operation import Operation
from tilewright.text.printer import Style, print_op
from tilewright.text.syntax import Directive


class TileOp(Operation):
    """Base of the operations of Tile IR; types print without the prefix `!cuda_tile.`."""

    elides_type_prefix = True
    directives: ClassVar[Mapping[str, Directive]] = DIRECTIVES

    def to_text(self, style: str = "public", debug: bool = False) -> str:
        """The text of this operation and all inside it; `debug` adds locations."""
        return print_op(self, style=Style(style), debug=debug)

    def __str__(self) -> str:
        return self.to_text()
