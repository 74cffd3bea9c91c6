"""Test-only operations of NVIDIA's lit tests: functions that take and return any type."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.control_flow import ReturnOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.ir.traits import TERMINATOR, HasParent
from tilewright.ir.types import FunctionType


class TestingFuncOp(EntryOp):
    """A function for tests; exists in NVIDIA's test builds alone."""

    __test__ = False  # pytest: the name is theirs
    name = "cuda_tile.testing$func"

    def verify(self) -> Iterator[str]:
        return iter(())


class TestingReturnOp(ReturnOp):
    """A return that may carry values out of a function for tests."""

    __test__ = False
    name = "cuda_tile.return"
    jumps_to = ("cuda_tile.entry", TestingFuncOp.name)
    traits = (
        TERMINATOR,
        HasParent("cuda_tile.entry", "cuda_tile.if", "cuda_tile.loop", TestingFuncOp.name),
    )

    def verify(self) -> Iterator[str]:
        return iter(())

    def verify_context(self) -> Iterator[str]:
        function = next((op for op in self.ancestors() if isinstance(op, TestingFuncOp)), None)
        if function is None:
            yield from ReturnOp.verify(self)
            yield from ReturnOp.verify_context(self)
            return
        assert isinstance(function.function_type, FunctionType)
        expected = function.function_type.results
        actual = tuple(value.type for value in self.operands)
        if actual != expected:
            yield f"expected values of types {expected}, got {actual}"


def register() -> None:
    """Register the operations with the dialect."""
    CUDA_TILE.ops[TestingFuncOp.name] = TestingFuncOp
    CUDA_TILE.ops[TestingReturnOp.name] = TestingReturnOp
