"""The rewriter: every edit of a program, told to a listener, with locations that survive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation, Region
from tilewright.support.diagnostics import InternalError
from tilewright.support.location import UNKNOWN, Location, fuse

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value

OpT = TypeVar("OpT", bound=Operation)


class Listener:
    """Hears of edits. A subclass overrides what it wants to know."""

    __slots__ = ()

    def inserted(self, op: Operation) -> None:
        """`op` is new; what is inside it is told one by one."""

    def changed(self, op: Operation) -> None:
        """The operands, attributes or regions of `op` are others now, or it was moved."""

    def erased(self, op: Operation) -> None:
        """`op` is about to go, with everything inside it."""


class Rewriter(Builder):
    """Edits a program: new operations appear at `point` and get `location`.

    `aim` puts both at the operation that is being rewritten, so that what replaces it says where
    it came from. A rewrite that consumes further operations names them to `fuse`.
    """

    __slots__ = ("edits", "listener")

    def __init__(
        self, point: InsertPoint, location: Location = UNKNOWN, listener: Listener | None = None
    ) -> None:
        super().__init__(point, location)
        self.listener = Listener() if listener is None else listener
        self.edits = 0
        """How many edits there have been; whoever sees it unchanged knows that nothing moved."""

    @staticmethod
    def at(op: Operation, listener: Listener | None = None) -> Rewriter:
        """A rewriter that is about to replace `op`."""
        return Rewriter(InsertPoint.in_front_of(op), op.location, listener)

    def aim(self, op: Operation) -> None:
        """Go on in front of `op`, with its location."""
        assert op.parent is not None
        self.point = InsertPoint(op.parent, op)
        self.location = op.location

    def fuse(self, *ops: Operation) -> None:
        """What is created from here on comes from these operations as well."""
        self.location = fuse(self.location, *[op.location for op in ops])

    def insert(self, op: OpT) -> OpT:
        """Put an operation, with all that it holds, at the insertion point."""
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
        """Delete an operation whose results nobody uses."""
        self.edits += 1
        self.listener.erased(op)
        self._step_off(op)
        op.erase()

    def replace(self, op: Operation, *values: Value) -> None:
        """Let `values` stand for the results of `op`, and delete it."""
        if [value.type for value in values] != [result.type for result in op.results]:
            found = ", ".join(str(value.type) for value in values)
            raise InternalError(f"'{op.name}' replaced by values of types ({found})", op.location)
        for result, value in zip(op.results, values, strict=True):
            self.replace_value(result, value)
        self.erase(op)

    def replace_with(self, op: Operation, kind: type[OpT], **fields: Any) -> OpT:
        """Create an operation as `create` does, with the result types of `op`, in its place."""
        self.aim(op)
        made = self.create(kind, types=[result.type for result in op.results], **fields)
        self.replace(op, *made.results)
        return made

    def replace_value(self, old: Value, new: Value) -> None:
        """Let every user of `old` use `new`.

        If nothing is known of where `new` comes from, it now comes from where `old` did; a known
        place stays, since that is where the code runs.
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

    def set_attribute(self, op: Operation, name: str, attribute: Attribute | None) -> None:
        """Give `op` an attribute, or take it away."""
        if attribute is None:
            op.attributes.pop(name, None)
        else:
            op.attributes[name] = attribute
        self.touch(op)

    def touch(self, op: Operation) -> None:
        """Tell that `op` was changed in place by other means."""
        self.edits += 1
        self.listener.changed(op)

    def move(self, op: Operation, point: InsertPoint) -> None:
        """Move an operation to another place."""
        if point.before is op:
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
        """Make a block at the end of a region, or in front of another block."""
        self.edits += 1
        block = Block(argument_types, locations)
        _link(region, block, before)
        return block

    def erase_block(self, block: Block) -> None:
        """Delete a block that nothing branches to, last operation first."""
        for op in reversed(block):
            self.erase(op)
        _unlink(block)

    def inline_block(
        self, block: Block, point: InsertPoint, arguments: Sequence[Value] = ()
    ) -> None:
        """Move the operations of `block` to `point`; `arguments` stand for its own. It goes."""
        for old, new in zip(block.args, arguments, strict=True):
            self.replace_value(old, new)
        for op in block:
            self.move(op, point)
        if block.parent is not None:
            _unlink(block)

    def merge_blocks(self, block: Block, into: Block, arguments: Sequence[Value] = ()) -> None:
        """Move the operations of `block` to the end of another; `arguments` stand for its own."""
        self.inline_block(block, InsertPoint.at_end(into), arguments)

    def split_block(self, op: Operation) -> Block:
        """Move `op` and all behind it to a new block, which follows the old one."""
        old = op.parent
        assert old is not None
        region = old.parent
        assert region is not None
        following = region.blocks[region.blocks.index(old) + 1 :]
        new = self.add_block(region, before=following[0] if following else None)
        end = InsertPoint.at_end(new)
        rest: Operation | None = op
        while rest is not None:
            after = rest.next
            self.move(rest, end)
            rest = after
        return new

    def inline_region(self, region: Region, before: Block) -> None:
        """Move the blocks of a region in front of a block of another region."""
        self.edits += 1
        target = before.parent
        assert target is not None
        for block in tuple(region.blocks):
            _unlink(block)
            _link(target, block, before)

    def _step_off(self, op: Operation) -> None:
        """Keep the insertion point valid when the operation behind it leaves."""
        if self.point.before is op:
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
