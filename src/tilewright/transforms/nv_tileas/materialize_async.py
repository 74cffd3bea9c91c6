"""Materialization of asynchrony: mbarriers for the tokens of async copies, and for pipelines.

Only tokens on a dependence chain through an async copy are materialized: they become phases of an
mbarrier. A wait for the phase is inserted before the first operation that takes such a token, and a
barrier of the block before a copy that a token orders after accesses of threads. The barriers of
`synchronize` keep the order of all other tokens.

A token takes a slot of an mbarrier where it is created, by live range. The tokens of dependent
operations are later phases of the same mbarrier; a join waits for all its tokens and continues in
the slot of the first. A slot is free again after the last operation that waits on it.

A pipeline has two mbarriers for each stage. One whose threads count their own copies, as all that
`materialize-schedule` and `keep-tiles` build, has none. No pass creates async copies with tokens:
they are in the text of programs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from tilewright.analysis.slices import closure
from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileas.async_copy import (
    AsyncCopyOp,
    AsyncWaitOp,
    CreateTokenOp,
)
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_BYTES
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp, counts_copies
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nv_tileas.types import ASYNC_TOKEN, pipeline
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass
from tilewright.ir.types import I32
from tilewright.schedule.shared_memory import fitting_mbarriers, pipeline_mbarriers
from tilewright.support.diagnostics import fail, note
from tilewright.target.resources import BARRIER_SLOTS
from tilewright.transforms.nv_tileas.global_accesses import token_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

T = TypeVar("T", bound=Hashable)


class MaterializeAsync(Pass):
    """Assign mbarriers to async copies and pipelines."""

    name = "materialize-async"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            copies = [each for each in function.walk() if isinstance(each, AsyncCopyOp)]
            copies = [copy for copy in copies if copy.token.type is MEM_TOKEN]
            if copies:
                _Tokens(function, copies).materialize()
            _assign_slots(function)


def _assign_slots(function: FuncOp) -> None:
    """Pipelines take the mbarrier slots after those of tokens.

    The handle of a token has bits for few slots; the slots of pipelines are constants, as many as
    there is space for beside the planned shared memory.
    """
    arch, planned = target_of(function), function.attributes.get(SCRATCH_BYTES)
    taken = planned.value if isinstance(planned, IntegerAttr) else 0
    limit = None if arch is None else fitting_mbarriers(arch, taken)
    tokens = [op.slot for op in function.walk() if isinstance(op, CreateTokenOp)]
    count = max(tokens, default=-1) + 1
    for op in [each for each in function.walk() if isinstance(each, CreatePipelineOp)]:
        if counts_copies(op):
            continue
        op.attributes["slot"] = IntegerAttr(count, I32)
        count += pipeline_mbarriers(pipeline(op.result).stages)
        if limit is not None and count > limit:
            gist = f"at most {limit} mbarriers, two for each stage, which fit into shared memory"
            fail(f"expected {gist}, got {count}", op.location)


class Lifetime(NamedTuple, Generic[T]):
    """From the operation with the number `start` to that with the number `end`, both included."""

    token: T
    start: int
    end: int


def assign(lifetimes: Iterable[Lifetime[T]], pool: int) -> tuple[dict[T, int], Lifetime[T] | None]:
    """Give each token the lowest free slot; also return the first token left over."""
    slots: dict[T, int] = {}
    busy: dict[int, int] = {}
    for token, start, end in sorted(lifetimes, key=lambda lifetime: lifetime.start):
        slot = next((slot for slot in range(pool) if busy.get(slot, -1) < start), None)
        if slot is None:
            return slots, Lifetime(token, start, end)
        slots[token] = slot
        busy[slot] = end
    return slots, None


def token_slots(
    function: Operation, creations: Iterable[CreateMemTokenOp], pool: int = BARRIER_SLOTS
) -> dict[CreateMemTokenOp, int]:
    """A slot for each of the tokens that are created; more live ones than slots are an error."""
    numbers = {op: number for number, op in enumerate(function.walk())}
    lifetimes = [token_lifetime(op, numbers) for op in creations]
    slots, left = assign(lifetimes, pool)
    if left is None:
        return slots
    rivals = [life for life in lifetimes if life.start <= left.start <= life.end]
    fail(
        f"expected at most {pool} tokens at once, one for each barrier, got one more",
        left.token.location,
        *[note("a token that still lives", life.token.location) for life in rivals[:1]],
    )


def token_lifetime(
    creation: CreateMemTokenOp, numbers: Mapping[Operation, int]
) -> Lifetime[CreateMemTokenOp]:
    """From the creation, or the start of the loop that carries the token, to the last use."""
    starts, ends = [numbers[creation]], [numbers[creation]]
    for token in closure([creation.result], _later_phases):
        for user in token.users:
            outer = user
            while outer.parent is not token.parent_block and outer.parent_op is not None:
                outer = outer.parent_op
            spans = [outer]
            if (passed := _passed_through(user)) is not None:
                # A token that enters or leaves a region is live throughout the region.
                spans.append(passed)
                starts.append(numbers[passed])
            ends += [numbers[op] + sum(1 for _ in op.walk()) - 1 for op in spans]
    return Lifetime(creation, min(starts), max(ends))


def _later_phases(token: Value) -> Iterator[Value]:
    """The tokens that continue in the slot of a token, after the operations that take it."""
    for user, index in token.uses():
        passed = _passed_through(user)
        values = [] if isinstance(user, JoinMemTokenOp) and index else [*(passed or user).results]
        if passed is not None:
            blocks = [block for region in passed.regions for block in region.blocks]
            values += [value for block in blocks for value in block.args]
        yield from (value for value in values if value.type is MEM_TOKEN)


def _passed_through(user: Operation) -> Operation | None:
    """The operation whose regions a token enters or leaves by a use."""
    if user.regions:
        return user
    return user.parent_op if user.is_terminator else None


class _Tokens:
    """The tokens of a function that become phases of mbarriers."""

    __slots__ = ("_chosen", "_copies", "_function", "_waited")

    def __init__(self, function: FuncOp, copies: list[AsyncCopyOp]) -> None:
        self._function = function
        self._copies = copies
        self._waited: set[Value] = set()
        for copy in copies:
            if not copy.result_token.users:
                _wait_at_the_end(copy)
        self._chosen = self._connected()

    def _connected(self) -> dict[Value, None]:
        """All tokens that share an mbarrier with a copy's, in program order."""
        neighbours: dict[Value, list[Value]] = {}
        for token in _tokens(self._function):
            for source in _same_barrier(token):
                neighbours.setdefault(token, []).append(source)
                neighbours.setdefault(source, []).append(token)
        copied = [copy.result_token for copy in self._copies]
        chosen = set(closure(copied, lambda token: neighbours.get(token, ())))
        return {token: None for token in _tokens(self._function) if token in chosen}

    def materialize(self) -> None:
        """Create the mbarriers."""
        for copy in self._copies:
            if _follows_threads(copy.token):
                create_op(BarrierOp, location=copy.location).insert_before(copy)
        for token in self._chosen:
            self._root(token)
        self._chosen = self._connected()
        created = [token.defined_by(CreateMemTokenOp) for token in self._chosen]
        creations = dict.fromkeys(op for op in created if op is not None)
        slots = token_slots(self._function, creations)
        for op in list(self._function.walk()):
            self._order(op)
        for op, slot in slots.items():
            again = list(slots.values()).count(slot) > 1 or op.parent_op is not self._function
            self._create(op, slot, again=again)
        for token in self._chosen:
            token.type = ASYNC_TOKEN

    def _root(self, token: Value) -> None:
        """Start a chain that begins at an access of threads with a fresh token."""
        op = token.defining_op()
        if op is None or op.regions or isinstance(op, CreateMemTokenOp):
            return
        if any(value.type is MEM_TOKEN for value in op.operands):
            return
        made = create_op(CreateMemTokenOp, types=[MEM_TOKEN], location=op.location)
        made.insert_before(op)
        token.replace_all_uses_with(made.result)

    def _order(self, op: Operation) -> None:
        """Insert waits for the copies whose tokens an operation takes."""
        tokens = [value for value in op.operands if value in self._chosen]
        if not tokens or op.regions or op.is_terminator:
            return
        for token in dict.fromkeys(tokens):
            self._wait(token, op)
        match op:
            case AsyncCopyOp():
                return
            case AsyncWaitOp():
                op.erase()
            case JoinMemTokenOp() if op.result in self._chosen:
                self._replace(op.result, tokens[0])
                op.erase()
            case _:
                self._bypass(op, tokens)

    def _wait(self, token: Value, op: Operation) -> None:
        """Wait for a token before its first use, in the block that defines it.

        An mbarrier knows whether its last phase is complete, not an earlier one: so there is one
        wait for a token, before the next phase of its mbarrier starts.
        """
        if token in self._waited or token.defined_by(CreateMemTokenOp) is not None:
            return
        self._waited.add(token)
        while op.parent is not token.parent_block:
            assert op.parent_op is not None
            op = op.parent_op
        create_op(AsyncWaitOp, tokens=[token], location=op.location).insert_before(op)

    def _bypass(self, op: Operation, tokens: list[Value]) -> None:
        """Continue the chain of the mbarrier after an access, which keeps a token of its own."""
        for result in op.results:
            if result in self._chosen:
                self._replace(result, tokens[0])
        fresh = create_op(CreateMemTokenOp, types=[MEM_TOKEN], location=op.location)
        fresh.insert_before(op)
        for number, value in enumerate(op.operands):
            if value in tokens:
                op.set_operand(number, fresh.result)

    def _replace(self, token: Value, other: Value) -> None:
        token.replace_all_uses_with(other)
        del self._chosen[token]

    def _create(self, op: CreateMemTokenOp, slot: int, *, again: bool) -> None:
        copies = [user for user in op.result.users if isinstance(user, AsyncCopyOp)]
        if copies and len(copies) != op.producers:
            wanted = f"{op.producers} copies that take the token, as many as it has producers"
            fail(f"expected {wanted}, got {len(copies)}", op.location)
        made = create_op(
            CreateTokenOp,
            slot=slot,
            producers=op.producers,
            again=again,
            types=[ASYNC_TOKEN],
            location=op.location,
        )
        made.insert_before(op)
        self._replace(op.result, made.result)
        op.erase()


def _wait_at_the_end(copy: AsyncCopyOp) -> None:
    """A copy whose token has no user must complete before its buffer is reused."""
    assert copy.parent is not None
    end = copy.parent.last
    assert end is not None
    wait = create_op(AsyncWaitOp, tokens=[copy.result_token], location=copy.location)
    wait.insert_before(end)


def _tokens(function: FuncOp) -> Iterator[Value]:
    """All tokens of a function, those of regions before those of the operations that follow."""
    for op in function.walk():
        for region in op.regions:
            for block in region.blocks:
                yield from (value for value in block.args if value.type is MEM_TOKEN)
        yield from (value for value in op.results if value.type is MEM_TOKEN)


def _same_barrier(token: Value) -> Iterator[Value]:
    """The tokens that share the mbarrier of a token; a join continues that of its first."""
    join = token.defined_by(JoinMemTokenOp)
    if join is not None:
        yield join.tokens[0]
    else:
        yield from token_sources(token)


def _follows_threads(token: Value) -> bool:
    """Whether an access of threads, not only copies, may be ordered before a token."""
    op = token.defining_op()
    if isinstance(op, CreateMemTokenOp | AsyncCopyOp):
        return False
    if isinstance(op, JoinMemTokenOp):
        return any(_follows_threads(each) for each in op.tokens)
    return True
