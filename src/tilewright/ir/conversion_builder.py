"""The driver of dialect conversion, and the builder that it hands to patterns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tilewright.ir.adapted import Pack, adapted
from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.conversion_commit import replace_blocks, undo_insertions
from tilewright.ir.conversion_pattern import ConversionPattern, Result, Transfer
from tilewright.ir.dominance import reverse_post_order
from tilewright.ir.legality import Legality
from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.type_converter import KEEP_ALL, TypeConverter
from tilewright.ir.value_mapping import Bound, Rejected, ValueMapping
from tilewright.ir.value_names import pass_on_names
from tilewright.ir.values import Value
from tilewright.support.diagnostics import Diagnostic, InternalError, Sink, note
from tilewright.support.location import unnamed
from tilewright.support.stack import DeepRecursion

if TYPE_CHECKING:
    from tilewright.ir.conversion_pattern import PatternFinder
    from tilewright.ir.legality import ConversionTarget
    from tilewright.ir.type_converter import Types
    from tilewright.support.location import Location

OpT = TypeVar("OpT", bound=Operation)
ContextT = TypeVar("ContextT")

_MAX_DEPTH: Final = 64
_FRAMES, _LEVELS = 10, 32
"""Stack frames of a nested pattern, and the nesting levels between two checks of the limit."""


class ConversionBuilder(Builder):
    """Builds the new program: a pattern creates the replacement of an operation of the old one.

    New operations are inserted at the converted position, with the location of that operation.
    """

    __slots__ = (
        "_blocks",
        "_contexts",
        "_depth",
        "_finder",
        "_fresh",
        "_level",
        "_made",
        "_mapping",
        "_next",
        "_partial",
        "_reasons",
        "_regions",
        "_root",
        "_shortcuts",
        "_sink",
        "_target",
        "types",
    )

    def __init__(
        self,
        root: Operation,
        target: ConversionTarget,
        finder: PatternFinder,
        types: TypeConverter | None,
        partial: bool,
        sink: Sink,
    ) -> None:
        super().__init__(InsertPoint(Block()), root.location)
        self.types = KEEP_ALL if types is None else types
        self._contexts: dict[type, object] = {}
        self._root = root
        self._target = target
        self._finder = finder
        self._shortcuts = finder.shortcuts(target)
        self._partial = partial
        self._sink = sink
        self._made: list[Operation | Block] = []
        """All that is new, in order: what a pattern that gives up has to take back."""
        self._fresh: list[Operation] = []
        """Operations created by the current pattern; each must be legal or be legalized."""
        self._reasons: list[Diagnostic] = []
        self._mapping = ValueMapping(root, self.types, self._made)
        self._blocks: dict[Block, Block] = {}
        self._regions: list[Region] = []
        self._next: InsertPoint | None = None
        self._depth = 0
        self._level = 0

    def insert(self, op: OpT) -> OpT:
        """Put an operation of the new program at the insertion point."""
        super().insert(op)
        inside = list(op.walk()) if op.regions else (op,)
        self._fresh += inside
        self._made += inside
        return op

    def context(self, kind: type[ContextT]) -> ContextT:
        """The state that the patterns of a conversion share: its one instance of a class.

        It is created on first use and lives as long as the conversion. A pattern that is rolled
        back leaves its changes in it.
        """
        context = self._contexts.get(kind)
        if isinstance(context, kind):
            return context
        created = self._contexts[kind] = kind()
        return created

    def reject(self, reason: str) -> None:
        """Say why a pattern does not apply: `return build.reject("expected ...")`."""
        self._reasons.append(note(reason, self.location))

    def values(self, value: Value) -> tuple[Value, ...]:
        """The replacement of a value of the old program, in converted types."""
        if isinstance(value, Pack):
            return value.values
        bound = self._mapping.converted(value, self._mapping.old(value), self)
        return bound if isinstance(bound, tuple) else (bound,)

    def value(self, value: Value) -> Value:
        """The one value that stands for a value of the old program."""
        values = self.values(value)
        if len(values) != 1:
            raise InternalError(f"expected one value, got {len(values)}", value.location)
        return values[0]

    def bind(self, old: Value, *new: Value) -> None:
        """Let values of the new program stand for one of the old."""
        self._mapping.bind(old, *new)

    def block(self, old: Block) -> Block:
        """The block that stands for one of the old program."""
        return self._blocks[old]

    @contextmanager
    def at(self, point: InsertPoint) -> Generator[None]:
        """Create elsewhere for a while."""
        before, self.point = self.point, point
        yield
        self.point = before

    def add_block(
        self,
        types: Sequence[Type] = (),
        locations: Sequence[Location] | None = None,
        *,
        after: Block | None = None,
    ) -> Block:
        """Create a block after another one, by default after the current one."""
        before = self.point.block if after is None else after
        block = Block(types, locations or [self.location] * len(types))
        assert before.parent is not None
        self._link(block, before.parent, before.parent.blocks.index(before) + 1)
        return block

    def continue_in(self, block: Block) -> None:
        """Put all that follows the operation being converted at the end of another block."""
        self.point = self._next = InsertPoint.at_end(block)

    def convert_region(
        self,
        old: Region,
        new: Region,
        *,
        after: Block | None = None,
        signature: Sequence[Types] | None = None,
        terminator: Callable[[Any, Any, ConversionBuilder], Result] | None = None,
    ) -> list[Block]:
        """Convert the blocks of a region and put them into another; gives the new ones.

        They are appended to `new`, or inserted after one of its blocks. `signature` has the
        converted types of each argument of the first block, if not those of the type converter.
        `terminator` is a pattern for the last operation of each block, in place of those for its
        class. Blocks that nothing reaches are left out.
        """
        ending = None
        if terminator is not None:
            ending = (ConversionPattern((Operation,), terminator, "terminator"),)
        at = len(new.blocks) if after is None else new.blocks.index(after) + 1
        twins = self._twins(old, new, at, self._converted_arguments, signature)
        self._fill(old, ending)
        return twins

    def inline_block(self, old: Block, arguments: Sequence[Bound]) -> list[Value]:
        """Convert the operations of a block in place; gives what its terminator would pass on.

        `arguments` stand for those of the block. A block may be inlined any number of times.
        """
        for argument, bound in zip(old.args, arguments, strict=True):
            self.bind(argument, *(bound if isinstance(bound, tuple) else (bound,)))
        start, end = self.point.block, old.terminator
        self.convert_operations(op for op in old if op is not end)
        if self.point.block is not start:
            self._next = self.point
        operands = () if end is None else end.operands
        return [new for value in operands for new in self.values(value)]

    def convert_operations(self, ops: Iterable[Operation]) -> None:
        """Convert operations of the old program in place, one after the other."""
        location = self.location
        for op in ops:
            self._legalize(op)
        self.location = location

    @property
    def regions(self) -> Sequence[Region]:
        """The new regions of the root, which are not in place yet."""
        return self._regions

    def run(self) -> None:
        """Convert the contents of the root into regions beside it."""
        for region in self._root.regions:
            new = Region()
            new.parent = self._root
            self._regions.append(new)
            self._copy(region, new)
        self._mapping.drop_unused_casts()

    def commit(self) -> None:
        """Put the new program in place of the old one."""
        root = self._root
        if not root.is_isolated:
            for op in (op for region in root.regions for op in region.walk()):
                op.drop_operands()
        for old, new in zip(root.regions, self._regions, strict=True):
            replace_blocks(old, new)

    def discard(self) -> None:
        """Forget the new program; nothing of the old one has been touched."""
        self._roll_back(0)

    def _link(self, block: Block, region: Region, at: int) -> None:
        block.parent = region
        region.blocks.insert(at, block)
        self._made.append(block)

    def _twins(
        self,
        old: Region,
        new: Region,
        at: int,
        arguments: Callable[[Block], Sequence[Types]],
        signature: Sequence[Types] | None = None,
    ) -> list[Block]:
        """Put empty blocks that stand for those of a region into another one."""
        blocks = old.blocks
        reached = set(reverse_post_order(old)) if len(blocks) > 1 else blocks
        twins: list[Block] = []
        for block in blocks:
            if block not in reached:
                continue
            groups = arguments(block) if signature is None or twins else signature
            twin = self._blocks[block] = self._twin(block, groups)
            self._link(twin, new, at + len(twins))
            twins.append(twin)
        return twins

    def _twin(self, block: Block, groups: Sequence[Types]) -> Block:
        """An empty block with groups of arguments that stand for those of an old one."""
        pairs = list(zip(block.args, groups, strict=True))
        locations = [argument.location for argument, group in pairs for _ in group]
        twin = Block([type for group in groups for type in group], locations)
        start = 0
        for argument, group in pairs:
            self.bind(argument, *twin.args[start : start + len(group)])
            start += len(group)
        return twin

    def _converted_arguments(self, block: Block) -> list[Types]:
        groups: list[Types] = []
        for argument in block.args:
            types = self.types.convert_value(argument)
            if types is None:
                message = f"cannot convert a block argument of type '{argument.type}'"
                self._sink.error(message, argument.location)
            groups.append((argument.type,) if types is None else types)
        return groups

    def _copy(self, old: Region, new: Region) -> None:
        """Convert what is in a region whose own arguments stay."""
        self._twins(old, new, 0, lambda block: [(argument.type,) for argument in block.args])
        self._fill(old, None)

    def _fill(self, old: Region, ending: tuple[ConversionPattern, ...] | None) -> None:
        """Convert the contents of blocks, each after those that dominate it."""
        point, location, shortcuts = self.point, self.location, self._shortcuts
        for block in reverse_post_order(old) if len(old.blocks) > 1 else old.blocks:
            self.point = InsertPoint(self._blocks[block])
            end = None if ending is None else block.terminator
            for op in block:
                make = shortcuts.get(type(op))
                if make is None or op is end or not self._transfer(op, make):
                    self._legalize(op, ending if op is end else None)
        self.point, self.location = point, location

    def _legalize(
        self, op: Operation, patterns: tuple[ConversionPattern, ...] | None = None
    ) -> None:
        """Let something legal stand for an operation of the old program."""
        self.location = op.location
        legality = Legality.ILLEGAL
        if patterns is None:
            legality = self._target.legality(op)
            if legality is Legality.LEGAL:
                self._keep(op)
                return
            patterns = self._finder(type(op))
            make = patterns[0].transfer if patterns else None
            if make is not None:
                if self._target.is_settled(op):
                    self._shortcuts[type(op)] = make
                if self._transfer(op, make):
                    return
        reasons = self._convert(op, patterns, False)
        if reasons is None:
            return
        if legality is Legality.UNKNOWN and self._partial:
            self._keep(op)
        else:
            self._fail(op, legality, *reasons)

    def _transfer(self, op: Operation, make: Transfer) -> bool:
        """Let one operation stand for another, the short way, if that is all it takes."""
        self.location = op.location
        try:
            operands = self._mapping.adapted(op.operands, False, self)
        except Rejected:
            return False
        made = None if tuple in map(type, operands) else make(op, operands, self.types)
        if made is None:
            return False
        steps = made if isinstance(made, tuple) else (made,)
        for each in steps:
            self.point.insert(each)
            self._made.append(each)
        for each in steps[:-1]:
            each.location = unnamed(each.location)
        bound = self._mapping.bound
        for old, new in zip(op.results, steps[-1].results, strict=True):
            bound[old] = new
        return True

    def _keep(self, op: Operation) -> None:
        """Copy an operation, with operands of the types it had."""
        blocks = self._blocks
        kept = op.like(
            [self._original(op, value) for value in op.operands],
            [result.type for result in op.results],
            [blocks[block] for block in op.successors],
        )
        self.point.insert(kept)
        self._made.append(kept)
        for old, new in zip(op.results, kept.results, strict=True):
            self.bind(old, new)
        if not op.regions:
            return
        kept.regions = tuple([Region() for _ in op.regions])
        for inside, target in zip(op.regions, kept.regions, strict=True):
            target.parent = kept
            self._copy(inside, target)

    def _original(self, op: Operation, value: Value) -> Value:
        """The replacement of an operand of a legal operation, in its original type."""
        mapping = self._mapping
        try:
            return mapping.original(value, mapping.old(value), self)
        except Rejected as rejection:
            self._sink.add(op.error(f"stays, but its operands change: {rejection}"))
            return Value(value.type, 0)

    def _convert(
        self, op: Operation, patterns: Sequence[ConversionPattern], new: bool
    ) -> Sequence[Diagnostic] | None:
        """Apply the first pattern that takes an operation, or tell why none did.

        `new`: whether the operation belongs to the new program, created by another pattern.
        """
        if not patterns:
            return ()
        point, mark = self.point, len(self._made)
        outer = self._fresh, self._next, self._reasons
        self._fresh = []
        self._next = None
        self._reasons = []
        location = self.location = unnamed(op.location)
        for pattern in patterns:
            result = self._attempt(pattern, op, new)
            if result is not None:
                break
            self._roll_back(mark)
            self.point, self.location, self._next = point, location, None
        else:
            reasons = self._reasons
            self._fresh, self._next, self._reasons = outer
            return reasons
        self.point = point if self._next is None else self._next
        self._bind(op, result)
        fresh = self._fresh
        if location is not op.location:
            pass_on_names(op, self._mapping.bound, self._made[mark:])
        self._fresh, self._next, self._reasons = outer
        self._settle(op, fresh)
        return None

    def _attempt(self, pattern: ConversionPattern, op: Operation, new: bool) -> Result:
        blocks = self._blocks
        self._level += 1
        if not self._level % _LEVELS:
            DeepRecursion.need(_FRAMES * (self._level + _LEVELS) + 1000)
        try:
            bounds = self._mapping.adapted(op.operands, new, self)
            successors = tuple([blocks.get(block, block) for block in op.successors])
            return pattern.apply(op, adapted(op, bounds, successors), self)
        except Rejected as rejection:
            return self.reject(str(rejection))
        finally:
            self._level -= 1

    def _bind(self, op: Operation, result: Result) -> None:
        """Remember what stands for the results of an operation."""
        if isinstance(result, Operation):
            if len(result.results) == len(op.results) == 1:
                self._mapping.bound[op.results[0]] = result.results[0]
                return
            parts = self.types.grouped(op.results, result.results)
        else:
            parts = (result,) if isinstance(result, Value) else result or ()
        if len(parts) != len(op.results):
            actual = f"{len(parts)} values for {len(op.results)} results"
            raise InternalError(f"'{op.name}' converted to {actual}", op.location)
        for old, part in zip(op.results, parts, strict=True):
            if isinstance(part, Value):
                self._mapping.bound[old] = part
            else:
                self.bind(old, *part)

    def _settle(self, source: Operation, fresh: list[Operation]) -> None:
        """Make what a pattern has created legal too."""
        again = False
        for op in fresh:
            legality = self._target.legality(op)
            if legality is Legality.LEGAL or op.parent is None:
                continue
            reasons = self._convert_again(op)
            if reasons is None:
                again = True
            elif legality is not Legality.UNKNOWN or not self._partial:
                origin = note(f"it was made for '{source.name}'", source.location)
                self._fail(op, legality, origin, *reasons)
        if again:
            for result in source.results:
                self._mapping.renew(result)

    def _convert_again(self, op: Operation) -> Sequence[Diagnostic] | None:
        """Replace an operation of the new program by what patterns make of it."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InternalError(f"patterns make '{op.name}' again and again", op.location)
        with self.at(InsertPoint.before(op)):
            location, self.location = self.location, op.location
            reasons = self._convert(op, self._finder(type(op)), True)
            if reasons is None:
                self._replace(op)
            self.location = location
        self._depth -= 1
        return reasons

    def _replace(self, op: Operation) -> None:
        if self.point.block is not op.parent:
            raise InternalError(f"the block of a new '{op.name}' was split", op.location)
        for result in op.results:
            if not result.users:
                continue
            bound = self._mapping.new(result)
            original = self._mapping.original(result, bound, self)
            if original is not bound:
                # Users that are converted later take the values themselves, not the cast.
                self.bind(original, *(bound if isinstance(bound, tuple) else (bound,)))
            result.replace_all_uses_with(original)
        op.erase()

    def _fail(self, op: Operation, legality: Legality, *notes: Diagnostic) -> None:
        """Report an operation, and map its results to placeholders to find further errors."""
        why = " that was marked illegal" if legality is Legality.ILLEGAL else ""
        self._sink.error(f"failed to legalize operation '{op.name}'{why}", op.location, *notes)
        for result in op.results:
            types = self.types.convert_value(result) or (result.type,)
            self.bind(result, *[Value(type, result.index) for type in types])

    def _roll_back(self, mark: int) -> None:
        """Undo the insertions since a mark."""
        if undo_insertions(self._made, mark):
            self._fresh.clear()
            self._mapping.forget_casts()
