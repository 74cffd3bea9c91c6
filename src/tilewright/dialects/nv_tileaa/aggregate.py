"""Operations with a scalar body: reduce, scan and generate."""

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
from tilewright.ir.tiling import Join, Way, alike
from tilewright.ir.traits import CONSTANT_LIKE, ELEMENTWISE, TERMINATOR, Effects, HasParent
from tilewright.ir.types import BF16, F16, I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.support.diagnostics import Diagnostic

AXIS = IntegerKind(I32, minimum=0)


class YieldOp(Operation):
    """Terminate the body of `reduce`, `scan`, `generate` or `pragma`, yielding its values."""

    name = "nv_tileaa.yield"
    needs_whole = "a body yields whole tiles"
    effects = Effects.PURE
    traits = (
        TERMINATOR,
        HasParent("nv_tileaa.reduce", "nv_tileaa.scan", "nv_tileaa.generate", "nv_tileaa.pragma"),
    )
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)


class AggregateOp(Operation):
    """Base of `reduce` and `scan`, whose body combines two partial results of every operand.

    The body takes a pair of scalars for each operand and yields one; it must be associative and
    commutative, with the identities as its identity elements.
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
        """The result type for an operand of type `source`."""
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
        actual = types_of(self.results)
        if actual != expected:
            yield f"expected results of types {listed(expected)}, got {listed(actual)}"

    def _identity_problems(self) -> Iterator[str]:
        if self.identities is None:
            return
        if len(self.identities) != len(self.sources):
            yield f"expected {len(self.sources)} identities, got {len(self.identities)}"
            return
        for index, (identity, source) in enumerate(zip(self.identities, self.sources, strict=True)):
            element, actual = element_of(source.type), _type_of(identity)
            # NVIDIA's tools accept f16 for bf16, and the reverse.
            if actual is not element and {actual, element} != {F16, BF16}:
                yield f"expected identity #{index} to be of type '{element}', got '{actual}'"

    def verify_context(self) -> Iterator[str | Diagnostic]:
        scalars = tuple([element_of(source.type) for source in self.sources])
        block = self.body.block
        expected = tuple([scalar for scalar in scalars for _ in range(2)])
        actual = types_of(block.args)
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"
        yield from body_problems(self, scalars)


def body_problems(op: Operation, expected: tuple[Type, ...]) -> Iterator[str | Diagnostic]:
    """Check that a body has no memory effects, and the types that it yields."""
    block = op.regions[0].block
    for inner in block:
        if inner is not block.last and not is_effect_free(inner):
            yield inner.error(f"must have no memory effect, since it is inside '{op.name}'")
    if not isinstance(block.last, YieldOp):
        yield "expected the body to end in 'nv_tileaa.yield'"
        return
    actual = types_of(block.last.values)
    if actual != expected:
        yield f"expected the body to yield {listed(expected)}, got {listed(actual)}"


def _type_of(identity: Attribute) -> Type | None:
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


class ReduceOp(AggregateOp):
    """Reduce along an axis; the result lacks that dimension."""

    name = "nv_tileaa.reduce"
    needs_whole = "a reduction along the dimension needs all of it"

    def combined(self, source: Type) -> Type:
        extents = shape(source)
        return tile_type(extents[: self.axis] + extents[self.axis + 1 :], element_of(source))

    def ways(self) -> Iterator[Way]:
        """Along the axis, if the body can combine tiles; along others with the results."""
        lifted = {CONSTANT_LIKE, ELEMENTWISE, TERMINATOR}
        is_lifted = all(not lifted.isdisjoint(op.traits) for op in self.body.block)
        for dim in range(len(shape(self.sources[0].type))):
            sources = dict.fromkeys(self.sources, dim)
            if dim != self.axis:
                yield Way(sources | dict.fromkeys(self.results, dim - (dim > self.axis)))
            elif is_lifted:
                yield Way(sources, Join.COMBINE)


class ScanOp(AggregateOp):
    """Compute prefixes along an axis, or suffixes in reverse.

    An inclusive scan includes the element itself. An exclusive one does not: its first element
    is the identity.
    """

    name = "nv_tileaa.scan"
    needs_whole = "a scan along the dimension needs all of it"

    inclusive = d.attribute(BOOL_ATTR)
    reverse = d.flag()

    def combined(self, source: Type) -> Type:
        return source

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        if not self.inclusive and self.identities is None:
            yield "expected identities, since an exclusive scan begins with them"

    def ways(self) -> Iterator[Way]:
        return alike(self, whole_dims=(self.axis,))


class GenerateOp(Operation):
    """Generate a tile by a body that computes each element from its indices."""

    name = "nv_tileaa.generate"
    effects = Effects.RECURSIVE
    needs_whole = "each element is computed from its index in the whole tile"
    syntax = "attr-dict `:` type($result) $body"

    result = d.result(ANY_TENSOR)
    body = d.region()

    def verify_context(self) -> Iterator[str | Diagnostic]:
        expected = (I32,) * len(shape(self.result.type))
        actual = types_of(self.body.block.args)
        if actual != expected:
            yield f"expected block arguments of types {listed(expected)}, got {listed(actual)}"
        yield from body_problems(self, (element_of(self.result.type),))
