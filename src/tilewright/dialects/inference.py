"""Operations whose result types follow from operands and attributes, by more than equality."""

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
    """Base of operations that define `infer_results`; text, builder and verifier ask it."""

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """The types of the results, from those of the operands by field, and the attributes."""
        raise NotImplementedError

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Fill in what the text leaves out; operands without types are an error later on."""
        needed = [field.name for field in cls.schema.operands if field.arity is Arity.ONE]
        if not all(state.operand_types.get(name) for name in needed):
            return
        found = cls.infer_results(state.operand_types, state.attributes)
        for field, type in zip(cls.schema.results, found, strict=True):
            state.result_types.setdefault(field.name, [type])

    def verify(self) -> Iterator[str]:
        schema = self.schema
        types = {field.name: types_of(schema.values(self, field.name)) for field in schema.operands}
        expected = tuple(self.infer_results(types, self.attributes))
        found = types_of(self.results)
        if found != expected:
            yield f"expected results of types {listed(expected)}, got {listed(found)}"
