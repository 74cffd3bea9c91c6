"""The verifier: structure, then dominance, then the verifier of each operation.

Checks that depend only on the types, attributes and group sizes of an operation are run once
for each such signature and remembered, since real programs repeat a few signatures many times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.ir.declare import Arity, OperandField, RegionField, ResultField
from tilewright.ir.dialect import Dialect
from tilewright.ir.dominance import immediate_dominators
from tilewright.ir.operation import Operation, UnregisteredOp
from tilewright.ir.traits import GRAPH_REGION, NO_TERMINATOR, Trait
from tilewright.support.diagnostics import Diagnostic, Severity, Sink, note

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Region
    from tilewright.ir.values import Value

ContextCheck = Callable[[Operation], Iterable["str | Diagnostic"]]

MAX_REMEMBERED: Final = 1 << 14

_passed: set[tuple[object, ...]] = set()
_context_checks: dict[type[Operation], list[ContextCheck]] = {}


def verify(op: Operation, sink: Sink | None = None) -> list[Diagnostic]:
    """Check an operation and all inside it; raises a `UserError` with every error found.

    With a `sink` the errors go there, and nothing is raised. Returns the warnings.
    """
    collected = Sink() if sink is None else sink
    _Verifier(collected).operation(op)
    if sink is None:
        collected.raise_errors()
    return [each for each in collected.diagnostics if each.severity is Severity.WARNING]


def region_errors(op: Operation) -> Iterator[Diagnostic]:
    """Check the regions of one operation against it, without the operations inside them."""
    sink = Sink()
    verifier = _Verifier(sink)
    if not verifier.report(op, _region_problems(op)):
        verifier.context(op)
    return sink.errors


class _Verifier:
    __slots__ = ("_sink", "_visible")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._visible: set[Value] = set()

    def report(self, op: Operation, problems: Iterable[str | Diagnostic]) -> bool:
        """Record the problems of `op`; returns whether there are any."""
        invalid = False
        for problem in problems:
            invalid = True
            self._sink.add(problem if isinstance(problem, Diagnostic) else op.error(problem))
        return invalid

    def operation(self, op: Operation) -> None:
        """Check one operation whose operands' definitions have been seen."""
        kind = type(op)
        attributes = op.attributes
        signature = (
            kind,
            op.segments,
            *[value.type for value in op.operands],
            None,
            *[result.type for result in op.results],
            *attributes,
            *attributes.values(),
        )
        if signature not in _passed:
            problems = _SignatureProblems(op)
            if self.report(op, problems):
                # Other operations may rely on its operands, results and attributes, not on what its
                # own verifier rejects: then there may be further errors inside.
                if problems.are_own and op.regions and not self.report(op, _region_problems(op)):
                    self.regions(op)
                return
            if op.memoize_verification:
                if len(_passed) >= MAX_REMEMBERED:
                    _passed.clear()
                _passed.add(signature)
        if op.regions or kind.schema.regions:
            if self.report(op, _region_problems(op)):
                return
            self.regions(op)
        self.context(op)

    def context(self, op: Operation) -> None:
        """Check one operation against its regions and its parent."""
        kind = type(op)
        checks = _context_checks.get(kind)
        if checks is None:
            checks = _context_checks[kind] = _find_context_checks(kind)
        for check in checks:
            self.report(op, check(op))
        if not Dialect.attribute_checks.keys().isdisjoint(op.attributes):
            for name in op.attributes:
                if (verify_attribute := Dialect.attribute_checks.get(name)) is not None:
                    self.report(op, verify_attribute(op))

    def regions(self, op: Operation) -> None:
        """Check what is inside; an isolated operation sees nothing of the outside."""
        outside = self._visible
        if op.is_isolated:
            self._visible = set()
        for region in op.regions:
            if GRAPH_REGION in op.traits:
                self.graph_region(region)
            elif len(region.blocks) == 1:
                self._visible.difference_update(self.block(region.blocks[0]))
            elif region.blocks:
                self.control_flow_graph(region)
        self._visible = outside

    def graph_region(self, region: Region) -> None:
        """Check a graph region: every value is visible everywhere."""
        values = [result for block in region.blocks for op in block for result in op.results]
        values += [argument for block in region.blocks for argument in block.args]
        self._visible.update(values)
        for block in region.blocks:
            self.block(block)
        self._visible.difference_update(values)

    def block(self, block: Block) -> list[Value]:
        """Check a block in order; gives the values that it made visible."""
        visible = self._visible
        added: list[Value] = list(block.args)
        visible.update(added)
        op = block.first
        while op is not None:
            for value in op.operands:
                if value not in visible:
                    self.undominated(op, value)
            if op.next is not None and (op.is_terminator or op.successors):
                self._sink.add(op.error("must be the last operation in its block"))
            self.operation(op)
            if op.results:
                added += op.results
                visible.update(op.results)
            op = op.next
        return added

    def undominated(self, op: Operation, value: Value) -> None:
        """Report an operand that is not defined on every path to its use."""
        index = op.operands.index(value)
        defined = [note("the value is defined here", value.location)]
        self._sink.add(op.error(f"operand #{index} does not dominate this use", *defined))

    def control_flow_graph(self, region: Region) -> None:
        """Check blocks along the dominator tree, so that a block sees its dominators' values."""
        dominators = immediate_dominators(region)
        children: dict[Block, list[Block]] = {block: [] for block in dominators}
        entry = region.blocks[0]
        for block, dominator in dominators.items():
            if block is not entry:
                children[dominator].append(block)
        stack: list[tuple[Block, list[Value] | None]] = [(entry, None)]
        while stack:
            block, added = stack.pop()
            if added is not None:
                self._visible.difference_update(added)
                continue
            stack.append((block, self.block(block)))
            stack += [(child, None) for child in reversed(children[block])]
        self.unreachable(block for block in region.blocks if block not in dominators)

    def unreachable(self, blocks: Iterable[Block]) -> None:
        """Check unreachable blocks: dominance holds there vacuously."""
        for block in blocks:
            self._visible.update(value for op in block for value in op.operands)
            self._visible.difference_update(self.block(block))


class _SignatureProblems:
    """The problems of counts, types and attributes; later checks rely on earlier ones."""

    __slots__ = ("_op", "are_own")

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.are_own = False
        """Whether only the verifier of the operation itself has problems."""

    def __iter__(self) -> Iterator[str | Diagnostic]:
        op = self._op
        if isinstance(op, UnregisteredOp):
            return
        for stage in (_count_problems, _type_problems, _attribute_problems, _own_problems):
            invalid = False
            for problem in stage(op):
                invalid = True
                yield problem
            if invalid:
                self.are_own = stage is _own_problems
                return


def _count_problems(op: Operation) -> Iterator[str]:
    schema = op.schema
    yield from _group_count_problems("operand", schema.operands, len(op.operands))
    yield from _group_count_problems("result", schema.results, len(op.results))
    if len(op.regions) != len(schema.regions):
        yield f"expected {len(schema.regions)} regions, got {len(op.regions)}"
    if schema.has_segments:
        yield from _segment_problems(op)


def _group_count_problems(
    what: str, fields: list[OperandField[object]] | list[ResultField[object]], count: int
) -> Iterator[str]:
    least = sum(field.arity is Arity.ONE for field in fields)
    if any(field.arity is Arity.VARIADIC for field in fields):
        if count < least:
            yield f"expected at least {least} {what}s, got {count}"
    elif not least <= count <= len(fields):
        expected = str(least) if least == len(fields) else f"{least} to {len(fields)}"
        yield f"expected {expected} {what}s, got {count}"


def _segment_problems(op: Operation) -> Iterator[str]:
    fields = op.schema.operands
    sizes = op.segments
    if sizes is None:
        yield "expected operand segment sizes"
    elif len(sizes) != len(fields):
        yield f"expected {len(fields)} operand segment sizes, got {len(sizes)}"
    elif sum(sizes) != len(op.operands):
        yield f"expected operand segment sizes to add up to {len(op.operands)}, got {sum(sizes)}"
    else:
        for field, size in zip(fields, sizes, strict=True):
            if size < 0 or (field.arity is Arity.ONE and size != 1):
                yield f"expected one operand for '{field.name}', got {size}"
            elif field.arity is Arity.OPTIONAL and size > 1:
                yield f"expected at most one operand for '{field.name}', got {size}"


def _type_problems(op: Operation) -> Iterator[str]:
    """The first wrong type; later ones usually have the same cause."""
    schema = op.schema
    for what, fields in (("operand", schema.operands), ("result", schema.results)):
        values = ((field, value) for field in fields for value in schema.values(op, field.name))
        for index, (field, value) in enumerate(values):
            if not field.constraint.accepts(value.type):
                expected = field.constraint.description
                yield f"{what} #{index} must be {expected}, but got '{value.type}'"
                return


def _attribute_problems(op: Operation) -> Iterator[str]:
    for spelling, field in op.schema.inherent.items():
        stored = op.attributes.get(spelling)
        if stored is None:
            if field.is_required:
                yield f"requires attribute '{spelling}'"
        elif not field.kind.accepts(stored):
            yield f"attribute '{spelling}' failed to satisfy constraint: {field.kind.description}"


def _own_problems(op: Operation) -> Iterator[str | Diagnostic]:
    for trait in op.traits:
        yield from trait.verify(op)
    yield from op.verify()


def _region_problems(op: Operation) -> Iterator[str]:
    may_fall_off = NO_TERMINATOR in op.traits or isinstance(op, UnregisteredOp)
    fields: list[RegionField] = op.schema.regions
    for index, region in enumerate(op.regions):
        count = len(region.blocks)
        field = fields[index] if index < len(fields) else None
        if field is not None and count < field.min_blocks:
            yield f"region #{index}: expected a region with at least one block"
        elif field is not None and field.max_blocks is not None and count > field.max_blocks:
            yield f"region #{index}: expected at most {field.max_blocks} block(s), got {count}"
        for block in region.blocks:
            if block.last is None and not may_fall_off:
                yield f"region #{index} has an empty block: expected a terminator"
            elif block.last is not None and not may_fall_off and block.terminator is None:
                yield f"expected a block to end in a terminator, got '{block.last.name}'"
            yield from _successor_problems(block, region)


def _successor_problems(block: Block, region: Region) -> Iterator[str]:
    last = block.last
    if last is not None and any(successor.parent is not region for successor in last.successors):
        yield f"'{last.name}' branches to a block of another region"


def _find_context_checks(kind: type[Operation]) -> list[ContextCheck]:
    """The region and parent checks of a class; most classes have none."""
    checks: list[ContextCheck] = [
        trait.verify_context
        for trait in kind.traits
        if type(trait).verify_context is not Trait.verify_context
    ]
    if kind.verify_context is not Operation.verify_context:
        checks.append(kind.verify_context)
    return checks
