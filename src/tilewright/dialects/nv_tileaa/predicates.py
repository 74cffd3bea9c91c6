"""The predicates of `assume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from tilewright.dialects.assumptions import Assumption, Bounded, DivBy, SameElements
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType
from tilewright.ir.attribute_kinds import InstanceKind
from tilewright.ir.types import IntegerType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


class Predicate(Assumption):
    """Base of the predicates."""

    __slots__ = ()

    is_elementwise: ClassVar[bool] = True
    """Whether it constrains every element in the same way, regardless of its index."""


class DivByAttr(DivBy, Predicate):
    """`#nv_tileaa.div_by<16, every 4 along 1>`: divisibility of each element, or group."""

    __slots__ = ("divisor", "every", "along")  # noqa: RUF023 - the order of the parameters
    mnemonic = "nv_tileaa.div_by"

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        divisor, every, along = parameters
        assert isinstance(divisor, int)
        assert isinstance(every, int | None)
        assert isinstance(along, int | None)
        return cls.parameter_problem(divisor, every, along)

    @property
    def is_elementwise(self) -> bool:  # pyrefly: ignore[bad-override]
        """Groups depend on the index of an element."""
        return self.every is None

    def value_problem(self, type: Type) -> str | None:
        if isinstance(type, MemrefType):
            return None if self.every is None else "'div_by' takes no 'every' for a memref"
        if not isinstance(element_of(type), IntegerType | PtrType):
            return f"'div_by' expects integers, pointers or a memref, got '{type}'"
        return self.group_problem(shape(type))


class SameElementsAttr(SameElements, Predicate):
    """`#nv_tileaa.same_elements<[1, 4]>`: all elements of a block of that shape are equal."""

    __slots__ = ("values",)
    mnemonic = "nv_tileaa.same_elements"
    is_elementwise = False

    def value_problem(self, type: Type) -> str | None:
        if not isinstance(element_of(type), IntegerType | PtrType):
            return f"'same_elements' expects integers or pointers, got '{type}'"
        return self.block_problem(shape(type))


class BoundedAttr(Bounded, Predicate):
    """`#nv_tileaa.bounded<0, ?>`: an inclusive signed range of every element."""

    __slots__ = ("lower", "upper")
    mnemonic = "nv_tileaa.bounded"

    def value_problem(self, type: Type) -> str | None:
        element = element_of(type)
        if not isinstance(element, IntegerType):
            return f"'bounded' expects integers, got '{type}'"
        return self.width_problem(element.width)


PREDICATE: Final = InstanceKind(Predicate, "assume predicate attribute")
