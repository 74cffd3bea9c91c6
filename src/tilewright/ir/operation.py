"""Operations, blocks and regions: the nested structure of a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from tilewright.ir.declare import OperationMeta
from tilewright.ir.traits import GRAPH_REGION, Effects, Trait
from tilewright.ir.values import BlockArgument, OpResult, Value
from tilewright.support.diagnostics import Diagnostic, InternalError, Severity
from tilewright.support.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.declare import Schema
    from tilewright.ir.tiling import Way


class Operation(metaclass=OperationMeta):
    """One operation. Subclasses declare operands, results, attributes and regions as fields.

    `operands`, `results` and `regions` are tuples: reading is free, and every change goes
    through a method that keeps the users right.
    """

    __slots__ = (
        "attributes",
        "location",
        "next",
        "operands",
        "parent",
        "prev",
        "regions",
        "results",
        "segments",
        "successors",
    )

    name: ClassVar[str] = ""
    """`dialect.mnemonic`; an abstract base class has none."""
    since: ClassVar[tuple[int, int] | None] = None
    """The first version of the format that has this operation, where versions matter."""
    effects: ClassVar[Effects] = Effects.UNKNOWN
    traits: ClassVar[tuple[Trait, ...]] = ()
    schema: ClassVar[Schema]
    is_terminator: ClassVar[bool] = False
    is_isolated: ClassVar[bool] = False
    syntax: ClassVar[str | None] = None
    """The custom text form; see `text.syntax`."""
    default_dialect: ClassVar[str | None] = None
    """The dialect whose prefix may be left out inside this operation's regions."""
    elides_type_prefix: ClassVar[bool] = False
    """Whether types of the operation's own dialect go without `!dialect.` in its custom form."""
    other_names: ClassVar[Mapping[str, str]] = {}
    """The spelling of the operation in printing styles that rename it."""
    loop_body: ClassVar[str | None] = None
    """The field of the region that a loop repeats; only loops have one."""
    jumps_to: ClassVar[tuple[str, ...]] = ()
    """The names of the operations that a terminator may leave or repeat; else it is the parent."""
    needs_whole: ClassVar[str | None] = None
    """Why tiles cannot be cut along dimensions that no way of the operation has."""
    memoize_verification: ClassVar[bool] = True
    """Whether `verify` may be skipped for a signature that has passed before."""

    def __init__(
        self,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        location: Location = UNKNOWN,
        successors: Sequence[Block] = (),
        segments: tuple[int, ...] | None = None,
    ) -> None:
        self.operands: tuple[Value, ...] = tuple(operands)
        for value in self.operands:
            users = value.users
            users[self] = users.get(self, 0) + 1
        # Nearly all have one result: a comprehension would cost a quarter of the whole.
        if len(result_types) == 1:
            self.results: tuple[OpResult, ...] = (OpResult(result_types[0], self, 0),)
        else:
            self.results = tuple([OpResult(t, self, i) for i, t in enumerate(result_types)])
        self.attributes = {} if attributes is None else attributes
        self.regions = tuple(regions)
        for region in self.regions:
            region.parent = self
        self.location = location
        self.successors = tuple(successors)
        self.segments = segments
        """Sizes of the operand groups, for operations with several of variable size."""
        self.parent: Block | None = None
        self.prev: Operation | None = None
        self.next: Operation | None = None

    @property
    def dialect(self) -> str:
        """The name of the dialect."""
        return self.name.partition(".")[0]

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this one."""
        block = self.parent
        region = block.parent if block is not None else None
        return region.parent if region is not None else None

    @property
    def parent_region(self) -> Region | None:
        """The region that holds this operation."""
        return self.parent.parent if self.parent is not None else None

    def ancestors(self) -> Iterator[Operation]:
        """The enclosing operations, innermost first."""
        op = self.parent_op
        while op is not None:
            yield op
            op = op.parent_op

    def is_ancestor_of(self, other: Operation) -> bool:
        """Whether `other` is this operation or lies inside it."""
        return other is self or any(op is self for op in other.ancestors())

    def set_operands(
        self, operands: Sequence[Value], segments: tuple[int, ...] | None = None
    ) -> None:
        """Replace all operands; `segments` where the sizes of variable groups change."""
        self.drop_operands()
        self.operands = tuple(operands)
        for value in self.operands:
            value.users[self] = value.users.get(self, 0) + 1
        if segments is not None:
            self.segments = segments

    def set_operand(self, index: int, value: Value) -> None:
        """Replace one operand."""
        operands = list(self.operands)
        operands[index] = value
        self.set_operands(operands)

    def replace_operand(self, old: Value, new: Value) -> None:
        """Use `new` wherever this operation uses `old`."""
        count = old.users.pop(self, 0)
        if not count:
            return
        self.operands = tuple([new if value is old else value for value in self.operands])
        new.users[self] = new.users.get(self, 0) + count

    def set_regions(self, regions: Iterable[Region]) -> None:
        """Take ownership of detached regions."""
        self.regions = tuple(regions)
        for region in self.regions:
            region.parent = self

    def drop_operands(self) -> None:
        """Drop all operands."""
        for value in self.operands:
            value.users.pop(self, None)
        self.operands = ()

    def detach(self) -> Self:
        """Take the operation out of its block; it stays alive."""
        block = self.parent
        if block is None:
            return self
        before, after = self.prev, self.next
        if before is None:
            block.first = after
        else:
            before.next = after
        if after is None:
            block.last = before
        else:
            after.prev = before
        self.parent = self.prev = self.next = None
        return self

    def insert_before(self, anchor: Operation) -> None:
        """Insert this detached operation before `anchor`."""
        block = anchor.parent
        assert block is not None
        assert self.parent is None
        before = anchor.prev
        self.parent, self.prev, self.next = block, before, anchor
        anchor.prev = self
        if before is None:
            block.first = self
        else:
            before.next = self

    def insert_after(self, anchor: Operation) -> None:
        """Insert this detached operation after `anchor`."""
        if anchor.next is not None:
            self.insert_before(anchor.next)
            return
        assert anchor.parent is not None
        anchor.parent.append(self)

    def erase(self) -> None:
        """Delete the operation and all nested operations; its results must be unused."""
        for result in self.results:
            if result.users:
                raise InternalError(f"'{self.name}' erased while in use", self.location)
        self.detach()
        self.drop_all_operands()

    def drop_all_operands(self) -> None:
        """Drop the operands of this operation and of all nested operations."""
        for op in self.walk():
            op.drop_operands()

    def members(self) -> Iterator[Operation]:
        """The operations directly inside this one."""
        return (op for region in self.regions for block in region.blocks for op in block)

    def walk(self) -> Iterator[Operation]:
        """This operation and all inside it, each before its regions."""
        stack: list[Operation] = [self]
        while stack:
            op = stack.pop()
            yield op
            if op.regions:
                for region in reversed(op.regions):
                    region.push(stack)

    def walk_post_order(self) -> Iterator[Operation]:
        """All operations inside this one and then itself, each after its regions."""
        for region in self.regions:
            for block in region.blocks:
                for op in block:
                    if op.regions:
                        yield from op.walk_post_order()
                    else:
                        yield op
        yield self

    def clone(self, values: dict[Value, Value] | None = None) -> Self:
        """A detached copy; `values` maps operands, and learns the copies of results."""
        return self._clone({} if values is None else values, {})

    def _clone(self, values: dict[Value, Value], blocks: dict[Block, Block]) -> Self:
        copy = self.like(
            [values.get(value, value) for value in self.operands],
            [result.type for result in self.results],
            [blocks.get(block, block) for block in self.successors],
        )
        if self.regions:
            copy.set_regions([region.clone(values, blocks) for region in self.regions])
        values.update(zip(self.results, copy.results, strict=True))
        return copy

    def like(
        self,
        operands: Sequence[Value],
        result_types: Sequence[Type],
        successors: Sequence[Block] = (),
        segments: tuple[int, ...] | None = None,
    ) -> Self:
        """A detached operation of the same kind, attributes and location, without regions."""
        sizes = self.segments if segments is None else segments
        attributes = self.attributes.copy()
        return type(self)(operands, result_types, attributes, (), self.location, successors, sizes)

    def verify(self) -> Iterable[str]:
        """Verify operands, results and attributes; may look at nothing else."""
        return ()

    def verify_context(self) -> Iterable[str | Diagnostic]:
        """Verify regions, parents and the definitions of operands."""
        return ()

    def ways(self) -> Iterable[Way]:
        """The ways to cut the operation into parts; by default those of its traits."""
        for trait in self.traits:
            yield from trait.ways(self)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        """Suggested names of results, as (index, name)."""
        return ()

    def block_argument_names(
        self, region: Region, style: str
    ) -> Iterable[tuple[BlockArgument, str]]:
        """Suggested names of the block arguments of a region."""
        return ()

    def error(self, message: str, *notes: Diagnostic) -> Diagnostic:
        """A diagnostic at this operation, or at the innermost ancestor with a known location."""
        known = (op.location for op in (self, *self.ancestors()) if str(op.location))
        location = next(known, self.location)
        return Diagnostic(message, location, notes=notes, subject=self.name)

    def note(self, message: str) -> Diagnostic:
        """A note about this operation, to attach to another diagnostic."""
        return Diagnostic(message, self.location, Severity.NOTE, subject=self.name)

    def __repr__(self) -> str:
        location = str(self.location)
        return f"<{self.name}{f' at {location}' if location else ''}>"


class UnregisteredOp(Operation):
    """An operation of an unregistered dialect."""

    __slots__ = ("op_name",)

    op_name: str

    def __init__(
        self,
        op_name: str,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        location: Location = UNKNOWN,
        successors: Sequence[Block] = (),
    ) -> None:
        super().__init__(operands, result_types, attributes, regions, location, successors)
        self.op_name = op_name

    @property
    def name(self) -> str:  # pyrefly: ignore[bad-override]
        """The name from the text."""
        return self.op_name

    def like(
        self,
        operands: Sequence[Value],
        result_types: Sequence[Type],
        successors: Sequence[Block] = (),
        segments: tuple[int, ...] | None = None,
    ) -> Self:
        attributes = self.attributes.copy()
        return type(self)(
            self.op_name, operands, result_types, attributes, (), self.location, successors
        )


class Block:
    """A list of operations with arguments."""

    __slots__ = ("args", "first", "last", "parent")

    def __init__(
        self, arg_types: Iterable[Type] = (), locations: Sequence[Location] | None = None
    ) -> None:
        given = locations or ()
        self.args: tuple[BlockArgument, ...] = tuple(
            [
                BlockArgument(t, self, i, given[i] if given else UNKNOWN)
                for i, t in enumerate(arg_types)
            ]
        )
        self.first: Operation | None = None
        self.last: Operation | None = None
        self.parent: Region | None = None

    def __iter__(self) -> Iterator[Operation]:
        """The operations; the one just yielded may be erased or moved."""
        op = self.first
        while op is not None:
            after = op.next
            yield op
            op = after

    def __reversed__(self) -> Iterator[Operation]:
        op = self.last
        while op is not None:
            before = op.prev
            yield op
            op = before

    @property
    def terminator(self) -> Operation | None:
        """The last operation if it ends the block."""
        last = self.last
        return last if last is not None and last.is_terminator else None

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this block."""
        return self.parent.parent if self.parent is not None else None

    def append(self, op: Operation) -> None:
        """Put a detached operation at the end."""
        last = self.last
        op.parent, op.prev, op.next = self, last, None
        if last is None:
            self.first = op
        else:
            last.next = op
        self.last = op

    def prepend(self, op: Operation) -> None:
        """Put a detached operation at the start."""
        if self.first is None:
            self.append(op)
        else:
            op.insert_before(self.first)

    def add_argument(self, type: Type, location: Location = UNKNOWN) -> BlockArgument:
        """Append an argument."""
        argument = BlockArgument(type, self, len(self.args), location)
        self.args = (*self.args, argument)
        return argument

    def predecessors(self) -> list[Block]:
        """The blocks of the same region that branch here, in order."""
        blocks = self.parent.blocks if self.parent is not None else []
        return [block for block in blocks if block.last and self in block.last.successors]


class Region:
    """A list of blocks inside an operation; the first is the entry."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks = list(blocks)
        self.parent: Operation | None = None
        for block in self.blocks:
            block.parent = self

    @property
    def block(self) -> Block:
        """The only block."""
        (block,) = self.blocks
        return block

    @property
    def _has_no_order(self) -> bool:
        """Whether a value may be used before its definition, as far as we know."""
        owner = self.parent
        return owner is not None and (
            GRAPH_REGION in owner.traits or isinstance(owner, UnregisteredOp)
        )

    def append(self, block: Block) -> None:
        """Put a block at the end."""
        block.parent = self
        self.blocks.append(block)

    def walk(self) -> Iterator[Operation]:
        """All operations inside, each before its regions."""
        stack: list[Operation] = []
        self.push(stack)
        while stack:
            op = stack.pop()
            yield op
            for region in reversed(op.regions):
                region.push(stack)

    def push(self, stack: list[Operation]) -> None:
        """Put the operations directly inside on a stack, so that the first one is on top."""
        for block in reversed(self.blocks):
            op = block.last
            while op is not None:
                stack.append(op)
                op = op.prev

    def clone(self, values: dict[Value, Value], blocks: dict[Block, Block] | None = None) -> Region:
        """A copy; both maps learn what became of arguments, results and blocks."""
        blocks = {} if blocks is None else blocks
        copy = Region()
        for block in self.blocks:
            twin = Block([a.type for a in block.args], [a.location for a in block.args])
            blocks[block] = twin
            copy.append(twin)
            values.update(zip(block.args, twin.args, strict=True))
        for block in self.blocks:
            for op in block:
                blocks[block].append(op._clone(values, blocks))  # noqa: SLF001 - this module's own
        if len(self.blocks) > 1 or self._has_no_order:
            _remap_forward_references(copy, values)
        return copy


def _remap_forward_references(region: Region, values: dict[Value, Value]) -> None:
    """Operands that were defined in a block that is cloned later."""
    for op in region.walk():
        for value in op.operands:
            if (twin := values.get(value)) is not None:
                op.replace_operand(value, twin)
