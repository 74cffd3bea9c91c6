"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constraints import ANY_TILE
from tilewright.dialects.cuda_tile.control_flow import YieldOp
from tilewright.dialects.cuda_tile.operand_types import listed, types_of
from tilewright.dialects.cuda_tile.traits import same_shape, tile
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, BOOL_ATTR, IntegerKind
from tilewright.ir.attributes import FloatAttr, IntegerAttr
from tilewright.ir.effects import is_effect_free
from tilewright.ir.traits import Effects
from tilewright.ir.types import BF16, F16, I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.operation import Operation, Region
    from tilewright.ir.values import BlockArgument
    from tilewright.support.diagnostics import Diagnostic

DIM = IntegerKind(I32, minimum=0)


def _may_combine(op: Operation) -> bool:
    """Whether an operation is allowed in a body: no memory effects and no loops."""
    return is_effect_free(op) and not any(inner.jumps_to for inner in op.walk())


class AggregateOp(TileOp):
    """Base of `reduce` and `scan`, whose body combines two partial results of every operand.

    The body takes a pair of scalars for each operand and yields one; it must be associative and
    commutative, with the identities as its identity elements.
    """

    since = (13, 1)
    effects = Effects.RECURSIVE
    traits = (same_shape("sources"),)
    default_dialect = "cuda_tile"

    sources = d.operands(ANY_TILE)
    dim = d.attribute(DIM)
    outputs = d.results(ANY_TILE)
    body = d.region(terminator="cuda_tile.yield")

    def combined(self, source: TileType) -> TileType:
        """The result type for an operand of type `source`."""
        raise NotImplementedError

    def verify(self) -> Iterator[str]:
        if not self.sources:
            yield "expected at least one operand"
            return
        rank = tile(self.sources[0]).rank
        if self.dim >= rank:
            yield f"expected a dimension below the rank {rank}, got {self.dim}"
            return
        yield from self._identity_problems()
        expected = tuple(self.combined(tile(source)) for source in self.sources)
        actual = types_of(self.results)
        if actual != expected:
            yield f"expected results of types {listed(expected)}, got {listed(actual)}"

    def _identity_problems(self) -> Iterator[str]:
        identities = cast("ReduceOp | ScanOp", self).identities
        if len(identities) != len(self.sources):
            yield f"expected {len(self.sources)} identities, got {len(identities)}"
            return
        for index, (identity, source) in enumerate(zip(identities, self.sources, strict=True)):
            element, actual = tile(source).element, _type_of(identity)
            # NVIDIA's tools accept f16 for bf16, and the reverse.
            if actual is not element and {actual, element} != {F16, BF16}:
                yield f"expected identity #{index} to be of type '{element}', got '{actual}'"

    def verify_context(self) -> Iterator[str | Diagnostic]:
        block = self.body.block
        scalars = [TileType((), tile(source).element) for source in self.sources]
        expected = tuple(scalar for scalar in scalars for _ in range(2))
        actual = types_of(block.args)
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"
        for op in block:
            if op is not block.last and not _may_combine(op):
                problem = (
                    f"must have no memory effect and no loop, since it is inside '{self.name}'"
                )
                yield op.error(problem)
        if isinstance(block.last, YieldOp):
            yielded = types_of(block.last.operands)
            if yielded != tuple(scalars):
                yield f"expected the body to yield {listed(scalars)}, got {listed(yielded)}"


def _type_of(identity: Attribute) -> Type | None:
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


class ReduceOp(AggregateOp):
    """Reduce along a dimension; the result lacks that dimension."""

    name = "cuda_tile.reduce"
    syntax = (
        "$sources attr-dict custom<Combination>($dim, $identities) `:` type($sources) "
        "`->` type($outputs) custom<ArgumentRegion>($body)"
    )

    identities = d.attribute(ARRAY_ATTR)

    def combined(self, source: TileType) -> TileType:
        return source.with_shape(source.shape[: self.dim] + source.shape[self.dim + 1 :])

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        if self.results:
            yield 0, "red" if style == "tileiras" else "reduce"

    def block_argument_names(
        self, region: Region, style: str
    ) -> Iterator[tuple[BlockArgument, str]]:
        for block in region.blocks[:1]:
            for index, argument in enumerate(block.args):
                number = index // 2 if len(block.args) > 2 else ""
                yield argument, f"reduce_{'rhs' if index % 2 else 'lhs'}{number}"


class ScanOp(AggregateOp):
    """Compute prefixes along a dimension, or suffixes in reverse.

    With `inclusive = false`, which only text can say, they leave the element itself out, and the
    first one is the identity.
    """

    name = "cuda_tile.scan"
    syntax = (
        "$sources attr-dict custom<Combination>($dim, $reverse, $inclusive, $identities) "
        "`:` type($sources) `->` type($outputs) custom<ArgumentRegion>($body)"
    )

    reverse = d.attribute(BOOL_ATTR)
    identities = d.attribute(ARRAY_ATTR)
    inclusive = d.optional_attribute(BOOL_ATTR, since=d.TEXT_ONLY)

    def combined(self, source: TileType) -> TileType:
        return source
