"""Result type inference from operand types and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import listed, types_of
from tilewright.ir.declare import Arity
from tilewright.ir.operation import Operation

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.text.syntax import ParseState


class InferringOp(Operation):
    """Base of operations with `infer_results`, which parser, builder and verifier use."""

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer the result types from the operand types by field, and the attributes."""
        raise NotImplementedError

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the result types that the text omits."""
        needed = [field.name for field in cls.schema.operands if field.arity is Arity.ONE]
        if not all(state.operand_types.get(name) for name in needed):
            return
        inferred = cls.infer_results(state.operand_types, state.attributes)
        for field, type in zip(cls.schema.results, inferred, strict=True):
            state.result_types.setdefault(field.name, [type])

    def verify(self) -> Iterator[str]:
        schema = self.schema
        types = {field.name: types_of(schema.values(self, field.name)) for field in schema.operands}
        expected = tuple(self.infer_results(types, self.attributes))
        actual = types_of(self.results)
        if actual != expected:
            yield f"expected results of types {listed(expected)}, got {listed(actual)}"
