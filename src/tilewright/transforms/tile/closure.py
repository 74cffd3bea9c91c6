"""Which tiles are cut into parts together, each along one dimension, and which operations.

A tile that is cut is cut for its definition and for all users, so the choice for one tile decides
those that are connected with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.ir.tiling import Join
from tilewright.plans.rematerialization import Rematerializable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.control_flow import Scope

TWO_WAYS: Final = "its tiles would be split in two ways"


class CannotCut(Exception):
    """An operation that cannot be cut, and the reason."""

    def __init__(self, op: Operation, reason: str | None = None) -> None:
        super().__init__()
        self.op = op
        self.reason = reason or op.needs_whole or f"'{op.name}' needs whole tiles"


def is_concatenated(_: Operation, way: Way) -> bool:
    """Whether parts need nothing of each other."""
    return way.join is Join.CONCAT


class Cut:
    """The tiles that are cut, such that every operation has the operands that it needs.

    Within its scope, a tile is cut along one dimension for all users, or whole. Tiles that are
    computed from scalars alone are rematerialized as each user needs them.

    `accepts` says whether an operation may be cut in a way.
    """

    __slots__ = ("_accepts", "_remade", "_seen", "dims", "parts", "scope", "ways")

    def __init__(
        self, scope: Scope, parts: int, accepts: Callable[[Operation, Way], bool] = is_concatenated
    ) -> None:
        self.scope, self.parts, self._accepts = scope, parts, accepts
        self._remade = Rematerializable()
        self._seen: set[tuple[Value, int]] = set()
        self.dims: dict[Value, int] = {}
        """The dimension along which each tile is cut; without those that are rematerialized."""
        self.ways: dict[Operation, Way] = {}
        """The operations that are cut, and how."""

    def ways_of(self, op: Operation) -> Iterator[Way]:
        """The ways in which an operation may be cut into the parts."""
        for way in op.ways():
            if way.allows(self.parts) and self._accepts(op, way):
                yield way

    def way_along(self, op: Operation, value: Value, dim: int) -> Way:
        """The way with one of the tiles cut along a dimension, or raise `CannotCut`."""
        for way in self.ways_of(op):
            if way.axes.get(value) == dim:
                return way
        raise CannotCut(op)

    def with_op(self, op: Operation, way: Way) -> Cut:
        """This cut and one more operation, with all that is connected with it.

        Raises `CannotCut` if one of them cannot be cut; this cut does not change.
        """
        other = Cut(self.scope, self.parts, self._accepts)
        other._remade = self._remade
        other.dims, other.ways = self.dims.copy(), self.ways.copy()
        other._extend(other._use(op, way))
        return other

    def add(self, tile: Value, dim: int) -> None:
        """Cut one more tile, and all that is connected with it, or raise `CannotCut`."""
        self._extend([(tile, dim)])

    def is_remade(self, value: Value) -> bool:
        """Whether a tile is computed from scalars, wherever one of its users needs it."""
        return value in self._remade

    def _extend(self, worklist: list[tuple[Value, int]]) -> None:
        while worklist:
            worklist += self._cut(*worklist.pop())

    def _use(self, op: Operation, way: Way) -> list[tuple[Value, int]]:
        """Cut an operation; returns its tiles."""
        if op not in self.scope:
            raise CannotCut(op, "it is outside of what is cut")
        if self.ways.setdefault(op, way) != way:
            raise CannotCut(op, TWO_WAYS)
        return list(way.axes.items())

    def _cut(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Cut a tile; returns the tiles that are cut with it."""
        maker = value.defining_op()
        if maker is not None and self.is_remade(value):
            return self._remake(maker, value, dim)
        known = self.dims.get(value)
        if known is not None:
            if known == dim:
                return []
            raise CannotCut(maker or _owner(value), TWO_WAYS)
        linked = self.scope.linked(value)
        if maker is None and not linked:
            raise CannotCut(_owner(value), "it passes on whole tiles")
        self.dims[value] = dim
        more: list[tuple[Value, int]] = []
        for op in (*([] if maker is None else [maker]), *value.users):
            if not self.scope.links(op):
                more += self._use(op, self.way_along(op, value, dim))
        return more + [(other, dim) for other in linked]

    def _remake(self, maker: Operation, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Rematerialize a part of a tile; other users may need it whole, or along another one."""
        if (value, dim) in self._seen:
            return []
        self._seen.add((value, dim))
        axes = self.way_along(maker, value, dim).axes
        return [(other, along) for other, along in axes.items() if other is not value]


def _owner(value: Value) -> Operation:
    """The operation whose region a block argument is of."""
    block = value.parent_block
    owner = None if block is None else block.parent_op
    assert owner is not None
    return owner
