"""The one operation that NVIDIA's lit tests use beside the dialect: a function for tests."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cuda_tile.structure import EntryOp


class TestingFuncOp(EntryOp):
    """A function that takes and gives anything; exists in NVIDIA's test builds alone."""

    __test__ = False  # pytest: the name is theirs
    name = "cuda_tile.testing$func"

    def verify(self) -> Iterator[str]:
        return iter(())
