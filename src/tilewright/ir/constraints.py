"""Type constraints of declared operands and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


class TypeConstraint:
    """A set of types: a predicate, its description, and the type itself if there is only one."""

    __slots__ = ("accepts", "description", "only")

    def __init__(
        self, description: str, accepts: Callable[[Type], bool], only: Type | None = None
    ) -> None:
        self.description = description
        self.accepts = accepts
        self.only = only

    def __or__(self, other: TypeConstraint) -> TypeConstraint:
        first, second = self.accepts, other.accepts
        return TypeConstraint(
            f"{self.description} or {other.description}", lambda t: first(t) or second(t)
        )

    def __repr__(self) -> str:
        return f"<{self.description}>"


ANY_TYPE: Final = TypeConstraint("any type", lambda t: True)


def exactly(type: Type, description: str) -> TypeConstraint:
    """Only this one type."""
    return TypeConstraint(description, lambda t: t is type, type)


def instance_of(kind: type[Type], description: str) -> TypeConstraint:
    """Any type of a class."""
    return TypeConstraint(description, lambda t: isinstance(t, kind))
