"""Custom assembly directives, by the name in `custom<...>`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tilewright.dialects.cuda_tile.directives_constants import CONSTANTS
from tilewright.dialects.cuda_tile.directives_memory import MEMORY
from tilewright.dialects.cuda_tile.directives_structure import STRUCTURE
from tilewright.dialects.cuda_tile.directives_view import VIEWS
from tilewright.text.syntax import Directive

DIRECTIVES: Final[Mapping[str, Directive]] = {
    **CONSTANTS,
    **MEMORY,
    **STRUCTURE,
    **VIEWS,
}
