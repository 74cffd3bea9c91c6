"""Accesses of multimem addresses, on tiles with layouts."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.nv_tileaa import multimem as tileaa
from tilewright.dialects.nv_tileas.memory import VECTOR, index_problems, vector_problems
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d


class MultimemLoadReduceOp(tileaa.MultimemLoadReduceOp):
    """Load one tile of a view from every GPU, and combine the tiles."""

    name = "nv_tileas.multimem_load_reduce"
    traits = (*tileaa.MultimemLoadReduceOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class MultimemReduceOp(tileaa.MultimemReduceOp):
    """Atomically combine one tile of a view on every GPU with a tile, once per element."""

    name = "nv_tileas.multimem_reduce"
    traits = (*tileaa.MultimemReduceOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class MultimemStoreOp(tileaa.MultimemStoreOp):
    """Store one tile of a view on every GPU, once per element."""

    name = "nv_tileas.multimem_store"
    traits = (*tileaa.MultimemStoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)
