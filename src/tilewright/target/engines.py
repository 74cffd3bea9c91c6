"""Copy engines: what copies tiles between global and shared memory.

The numbers are those of the PTX ISA; each GPU offers some of the engines.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.support.tensor_map_parameters import ALIGNMENT
from tilewright.target.features import Feature


class Engine(NamedTuple):
    """A copy engine: how much it copies at once, and what starts and completes it."""

    name: str
    """As the attribute of a copy spells it."""
    granules: tuple[int, ...]
    """The bytes that one instruction copies; an engine with one granule copies multiples of it."""
    alignment: int
    """Of addresses in global memory, and of strides, in bytes; 1: that of the bytes it copies."""
    requires: Feature = Feature.BASE
    """The instructions that a GPU needs for it."""
    asynchronous: bool = True
    """Whether it runs beside later instructions, until a wait."""
    bulk: bool = False
    """Whether one thread copies all, through the async proxy, and an mbarrier counts the bytes.
    Otherwise every thread copies a part, through the generic proxy."""
    max_rank: int = 1
    """The most dimensions of a box that it copies."""
    max_extent: int = 0
    """The most elements of a box along one dimension; 0: no limit."""
    box_alignment: int = 1
    """Of a box in shared memory, in bytes."""
    element_bits: tuple[int, ...] = ()
    """Of the elements of a box; none: it copies bytes."""


REGISTERS: Final = Engine("registers", (1, 2, 4, 8, 16), 1, asynchronous=False)
"""`ld.global`, then `st.shared`: for every access."""
CP_ASYNC: Final = Engine("cp_async", (4, 8, 16), 1)
"""`cp.async`: it fills what it does not read with zeros."""
BULK: Final = Engine("bulk", (16,), 16, Feature.TMA, bulk=True, box_alignment=16)
"""`cp.async.bulk`: contiguous memory."""
TMA: Final = Engine(
    "tma",
    (16,),
    ALIGNMENT,
    Feature.TMA,
    bulk=True,
    max_rank=5,
    max_extent=256,
    box_alignment=128,
    element_bits=(8, 16, 32, 64),
)
"""`cp.async.bulk.tensor`: boxes of a tensor, by a tensor map."""
