"""The rewriter: edits of a program that notify a listener and preserve locations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation, Region
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import UNKNOWN, Location, fuse

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value

OpT = TypeVar("OpT", bound=Operation)


class Listener:
    """Notified of edits; a subclass overrides the notifications it needs."""

    __slots__ = ()

    def inserted(self, op: Operation) -> None:
        """`op` was inserted; nested operations are notified one by one."""

    def changed(self, op: Operation) -> None:
        """The operands, attributes, regions or position of `op` changed."""

    def erased(self, op: Operation) -> None:
        """`op` is about to be erased, with all nested operations."""


class Rewriter(Builder):
    """Edits a program: new operations appear at `point` and get `location`.

    `aim` sets both to the operation that is being rewritten, so that its replacement keeps its
    location. A rewrite that consumes further operations passes them to `fuse`.
    """

    __slots__ = ("edits", "listener")

    def __init__(
        self, point: InsertPoint, location: Location = UNKNOWN, listener: Listener | None = None
    ) -> None:
        super().__init__(point, location)
        self.listener = Listener() if listener is None else listener
        self.edits = 0
        """The number of edits so far; unchanged means that the program is unchanged."""

    @staticmethod
    def at(op: Operation, listener: Listener | None = None) -> Rewriter:
        """A rewriter that is about to replace `op`."""
        return Rewriter(InsertPoint.before(op), op.location, listener)

    def aim(self, op: Operation) -> None:
        """Set the insertion point before `op`, and take its location."""
        assert op.parent is not None
        self.point = InsertPoint(op.parent, op)
        self.location = op.location

    def fuse(self, *ops: Operation) -> None:
        """Fuse the locations of further source operations into those of new operations."""
        self.location = fuse(self.location, *[op.location for op in ops])

    def insert(self, op: OpT) -> OpT:
        """Insert an operation with its nested operations at the insertion point."""
        self.edits += 1
        super().insert(op)
        if op.regions:
            for inner in op.walk():
                self.listener.inserted(inner)
        else:
            self.listener.inserted(op)
        return op

    def clone(self, op: OpT, values: dict[Value, Value] | None = None) -> OpT:
        """Insert a copy of `op`; `values` maps operands, and learns the copies of results."""
        return self.insert(op.clone(values))

    def erase(self, op: Operation) -> None:
        """Erase an operation whose results are unused."""
        self.edits += 1
        self.listener.erased(op)
        self._step_off(op)
        op.erase()

    def replace(self, op: Operation, *values: Value) -> None:
        """Replace the results of `op` by `values`, and erase it."""
        if [value.type for value in values] != [result.type for result in op.results]:
            types = ", ".join(str(value.type) for value in values)
            raise InternalError(f"'{op.name}' replaced by values of types ({types})", op.location)
        for result, value in zip(op.results, values, strict=True):
            self.replace_value(result, value)
        self.erase(op)

    def replace_with(self, op: Operation, kind: type[OpT], **fields: Any) -> OpT:
        """Replace `op` by a new operation with the same result types."""
        self.aim(op)
        made = self.create(kind, types=[result.type for result in op.results], **fields)
        self.replace(op, *made.results)
        return made

    def replace_value(self, old: Value, new: Value) -> None:
        """Replace all uses of `old` by `new`.

        If the location of `new` is unknown, it takes that of `old`; a known location stays.
        """
        self.edits += 1
        source = new.defining_op()
        if source is not None and source.location is UNKNOWN:
            source.location = old.location
        for user in tuple(old.users):
            user.replace_operand(old, new)
            self.listener.changed(user)

    def set_operands(
        self, op: Operation, operands: Sequence[Value], segments: tuple[int, ...] | None = None
    ) -> None:
        """Replace all operands of `op`."""
        op.set_operands(operands, segments)
        self.touch(op)

    def touch(self, op: Operation) -> None:
        """Notify the listener that `op` was updated in place."""
        self.edits += 1
        self.listener.changed(op)

    def move(self, op: Operation, point: InsertPoint) -> None:
        """Move an operation to another insertion point."""
        if point.anchor is op:
            return
        self._step_off(op)
        point.insert(op.detach())
        self.touch(op)

    def add_block(
        self,
        region: Region,
        argument_types: Iterable[Type] = (),
        locations: Sequence[Location] | None = None,
        *,
        before: Block | None = None,
    ) -> Block:
        """Create a block at the end of a region, or before another block."""
        self.edits += 1
        block = Block(argument_types, locations)
        _link(region, block, before)
        return block

    def erase_block(self, block: Block) -> None:
        """Erase a block without predecessors, last operation first."""
        for op in reversed(block):
            self.erase(op)
        _unlink(block)

    def inline_block(
        self, block: Block, point: InsertPoint, arguments: Sequence[Value] = ()
    ) -> None:
        """Inline the operations of `block` at `point`, replacing its arguments; erase the block."""
        for old, new in zip(block.args, arguments, strict=True):
            self.replace_value(old, new)
        for op in block:
            self.move(op, point)
        if block.parent is not None:
            _unlink(block)

    def merge_blocks(self, block: Block, into: Block, arguments: Sequence[Value] = ()) -> None:
        """Append the operations of `block` to another block, replacing its arguments."""
        self.inline_block(block, InsertPoint.at_end(into), arguments)

    def _step_off(self, op: Operation) -> None:
        """Keep the insertion point valid when its anchor is moved or erased."""
        if self.point.anchor is op:
            self.point = InsertPoint(self.point.block, op.next)


def _link(region: Region, block: Block, before: Block | None) -> None:
    block.parent = region
    at = len(region.blocks) if before is None else region.blocks.index(before)
    region.blocks.insert(at, block)


def _unlink(block: Block) -> None:
    region = block.parent
    assert region is not None
    region.blocks.remove(block)
    block.parent = None
