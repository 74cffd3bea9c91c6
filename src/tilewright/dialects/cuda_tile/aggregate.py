"""Operations that combine the elements of tiles along a dimension: reduce and scan."""

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
    """Whether an operation may stand in a body: neither memory effects nor loops inside it."""
    return is_effect_free(op) and not any(inner.jumps_to for inner in op.walk())


class AggregateOp(TileOp):
    """Base of the operations whose body combines two partial values of every operand.

    The body takes a pair of scalars for each operand and yields one; it must be associative and
    commutative, and each identity neutral for it.
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
        """What an operand of this type becomes."""
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
        found = types_of(self.results)
        if found != expected:
            yield f"expected results of types {listed(expected)}, got {listed(found)}"

    def _identity_problems(self) -> Iterator[str]:
        identities = cast("ReduceOp | ScanOp", self).identities
        if len(identities) != len(self.sources):
            yield f"expected {len(self.sources)} identities, got {len(identities)}"
            return
        for index, (identity, source) in enumerate(zip(identities, self.sources, strict=True)):
            element, found = tile(source).element, _type_of(identity)
            # NVIDIA's tools take either of the two half precision types for the other.
            if found is not element and {found, element} != {F16, BF16}:
                yield f"expected identity #{index} to be of type '{element}', got '{found}'"

    def verify_context(self) -> Iterator[str | Diagnostic]:
        block = self.body.block
        scalars = [TileType((), tile(source).element) for source in self.sources]
        expected = tuple(scalar for scalar in scalars for _ in range(2))
        found = types_of(block.args)
        if found != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(found)}"
        for op in block:
            if op is not block.last and not _may_combine(op):
                gist = f"must have no memory effect and no loop, since it is inside '{self.name}'"
                yield op.error(gist)
        if isinstance(block.last, YieldOp):
            yielded = types_of(block.last.operands)
            if yielded != tuple(scalars):
                yield f"expected the body to yield {listed(scalars)}, got {listed(yielded)}"


def _type_of(identity: Attribute) -> Type | None:
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


class ReduceOp(AggregateOp):
    """Combines all elements along a dimension into one; the dimension goes away."""

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
    """Combines each element with all before it along a dimension, or all behind it in reverse."""

    name = "cuda_tile.scan"
    syntax = (
        "$sources attr-dict custom<Combination>($dim, $reverse, $identities) `:` type($sources) "
        "`->` type($outputs) custom<ArgumentRegion>($body)"
    )

    reverse = d.attribute(BOOL_ATTR)
    identities = d.attribute(ARRAY_ATTR)

    def combined(self, source: TileType) -> TileType:
        return source
