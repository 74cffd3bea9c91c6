"""Operations whose body says how elements come about: reduce, scan, generate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.elements import SameShape, element_of, listed, types_of
from tilewright.dialects.nv_tileaa.constraints import ANY_TENSOR, ANY_TILE, shape, tile_type
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ARRAY_ATTR, BOOL_ATTR, IntegerKind
from tilewright.ir.attributes import FloatAttr, IntegerAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.effects import is_effect_free
from tilewright.ir.operation import Operation
from tilewright.ir.traits import TERMINATOR, Effects, HasParent
from tilewright.ir.types import BF16, F16, I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.support.diagnostics import Diagnostic

AXIS = IntegerKind(I32, minimum=0)


class YieldOp(Operation):
    """Ends the body of `reduce`, `scan`, `generate` or `pragma`, and gives its values."""

    name = "nv_tileaa.yield"
    effects = Effects.PURE
    traits = (
        TERMINATOR,
        HasParent("nv_tileaa.reduce", "nv_tileaa.scan", "nv_tileaa.generate", "nv_tileaa.pragma"),
    )
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)


class AggregateOp(Operation):
    """Base of the operations whose body combines two partial values of every operand.

    The body takes a pair of scalars for each operand and yields one; it must be associative and
    commutative, and each identity neutral for it.
    """

    effects = Effects.RECURSIVE
    traits = (SameShape("sources"),)
    syntax = "$sources attr-dict `:` type($sources) `->` type($outputs) $body"

    sources = d.operands(ANY_TENSOR)
    axis = d.attribute(AXIS)
    identities = d.optional_attribute(ARRAY_ATTR)
    outputs = d.results(ANY_TILE)
    body = d.region()

    def combined(self, source: Type) -> Type:
        """What an operand of this type becomes."""
        raise NotImplementedError

    def verify(self) -> Iterator[str]:
        if not self.sources:
            yield "expected at least one operand"
            return
        rank = len(shape(self.sources[0].type))
        if self.axis >= rank:
            yield f"expected an axis below the rank {rank}, got {self.axis}"
            return
        yield from self._identity_problems()
        expected = tuple([self.combined(source.type) for source in self.sources])
        found = types_of(self.results)
        if found != expected:
            yield f"expected results of types {listed(expected)}, got {listed(found)}"

    def _identity_problems(self) -> Iterator[str]:
        if self.identities is None:
            return
        if len(self.identities) != len(self.sources):
            yield f"expected {len(self.sources)} identities, got {len(self.identities)}"
            return
        for index, (identity, source) in enumerate(zip(self.identities, self.sources, strict=True)):
            element, found = element_of(source.type), _type_of(identity)
            # NVIDIA's tools take either of the two half precision types for the other.
            if found is not element and {found, element} != {F16, BF16}:
                yield f"expected identity #{index} to be of type '{element}', got '{found}'"

    def verify_context(self) -> Iterator[str | Diagnostic]:
        scalars = tuple([element_of(source.type) for source in self.sources])
        block = self.body.block
        expected = tuple([scalar for scalar in scalars for _ in range(2)])
        found = types_of(block.args)
        if found != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(found)}"
        yield from body_problems(self, scalars)


def body_problems(op: Operation, expected: tuple[Type, ...]) -> Iterator[str | Diagnostic]:
    """What is wrong with a body that only computes, and with what it yields."""
    block = op.regions[0].block
    for inner in block:
        if inner is not block.last and not is_effect_free(inner):
            yield inner.error(f"must have no memory effect, since it is inside '{op.name}'")
    if not isinstance(block.last, YieldOp):
        yield "expected the body to end in 'nv_tileaa.yield'"
        return
    found = types_of(block.last.values)
    if found != expected:
        yield f"expected the body to yield {listed(expected)}, got {listed(found)}"


def _type_of(identity: Attribute) -> Type | None:
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


class ReduceOp(AggregateOp):
    """Combines all elements along an axis into one; the dimension goes away."""

    name = "nv_tileaa.reduce"

    def combined(self, source: Type) -> Type:
        extents = shape(source)
        return tile_type(extents[: self.axis] + extents[self.axis + 1 :], element_of(source))


class ScanOp(AggregateOp):
    """Combines each element with all before it along an axis, or all behind it in reverse.

    An inclusive scan counts the element itself. An exclusive one does not, and has the identity
    where there is nothing to combine.
    """

    name = "nv_tileaa.scan"

    inclusive = d.attribute(BOOL_ATTR)
    reverse = d.flag()

    def combined(self, source: Type) -> Type:
        return source

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if not self.inclusive and self.identities is None:
            yield "expected identities, since an exclusive scan begins with them"


class GenerateOp(Operation):
    """A tile whose elements the body makes, each from its indices."""

    name = "nv_tileaa.generate"
    effects = Effects.RECURSIVE
    syntax = "attr-dict `:` type($result) $body"

    result = d.result(ANY_TENSOR)
    body = d.region()

    def verify_context(self) -> Iterator[str | Diagnostic]:
        expected = (I32,) * len(shape(self.result.type))
        found = types_of(self.body.block.args)
        if found != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(found)}"
        yield from body_problems(self, (element_of(self.result.type),))
