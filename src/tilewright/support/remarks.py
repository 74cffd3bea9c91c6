"""Optimization remarks: what passes and ptxas report about their decisions."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.support.location import UNKNOWN, Location

MEMORY: Final = "Memory"
TENSOR_CORE: Final = "Tensor-core"
RESOURCES: Final = "Resources"
COMPILER: Final = "Compiler"

Details = tuple[tuple[str, str], ...]


class Remark(NamedTuple):
    """One decision about one function, in the form of LLVM's optimization remarks."""

    kind: str
    """passed, missed, failed or analysis."""
    category: str
    """`MEMORY`, `TENSOR_CORE`, `RESOURCES` or `COMPILER`."""
    name: str
    text: str
    pass_name: str
    """The pass that made the decision, or `ptxas`."""
    function: str
    location: Location = UNKNOWN
    details: Details = ()
    """Further arguments of the remark: key and value."""
