"""Values: the results of operations and the arguments of blocks, with their users."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.location import Location

OpT = TypeVar("OpT", bound="Operation")


class Value:
    """An SSA value: defined once, used by the operations in `users`."""

    __slots__ = ("index", "type", "users")

    def __init__(self, type: Type, index: int) -> None:
        self.type = type
        self.index = index
        self.users: dict[Operation, int] = {}
        """Each user with its number of uses of this value, oldest first."""

    @property
    def is_used(self) -> bool:
        """Whether any operation uses this value."""
        return bool(self.users)

    @property
    def has_one_use(self) -> bool:
        """Whether exactly one operand slot holds this value."""
        return len(self.users) == 1 and next(iter(self.users.values())) == 1

    @property
    def parent_block(self) -> Block | None:
        """The block that defines this value; none for a placeholder."""
        return None

    @property
    def location(self) -> Location:
        """The source location of this value."""
        raise NotImplementedError

    def defining_op(self) -> Operation | None:
        """The operation whose result this is; none for a block argument."""
        return None

    def defined_by(self, kind: type[OpT]) -> OpT | None:
        """The defining operation if it is of this class."""
        op = self.defining_op()
        return op if isinstance(op, kind) else None

    def is_inside(self, op: Operation) -> bool:
        """Whether this value is defined in a region nested in `op`."""
        block = self.parent_block
        owner = block.parent_op if block is not None else None
        return owner is not None and op.is_ancestor_of(owner)

    def uses(self) -> Iterator[tuple[Operation, int]]:
        """Every (user, operand index) pair."""
        for user in tuple(self.users):
            for index, operand in enumerate(user.operands):
                if operand is self:
                    yield user, index

    def replace_all_uses_with(self, other: Value) -> None:
        """Replace all uses by `other`."""
        if other is self:
            return
        for user in tuple(self.users):
            user.replace_operand(self, other)


class OpResult(Value):
    """A result of an operation."""

    __slots__ = ("owner",)

    def __init__(self, type: Type, owner: Operation, index: int) -> None:
        self.type = type
        self.index = index
        self.users = {}
        self.owner = owner

    @property
    def parent_block(self) -> Block | None:
        return self.owner.parent

    @property
    def location(self) -> Location:
        return self.owner.location

    def defining_op(self) -> Operation:
        return self.owner

    def __repr__(self) -> str:
        return f"<result {self.index} of {self.owner.name}>"


class BlockArgument(Value):
    """An argument of a block, with a location of its own."""

    __slots__ = ("_location", "owner")

    def __init__(self, type: Type, owner: Block, index: int, location: Location) -> None:
        self.type = type
        self.index = index
        self.users = {}
        self.owner = owner
        self._location = location

    @property
    def parent_block(self) -> Block:
        return self.owner

    @property
    def location(self) -> Location:
        return self._location

    @location.setter
    def location(self, location: Location) -> None:
        self._location = location

    def __repr__(self) -> str:
        return f"<block argument {self.index}>"
