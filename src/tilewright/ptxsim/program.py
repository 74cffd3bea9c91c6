"""Decoded kernels: segments of straight-line closures, linked by control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.ptxsim import isa
from tilewright.ptxsim.declarations import block_size
from tilewright.ptxsim.frame import FrameLayout
from tilewright.ptxsim.memory import FUNCTION_WINDOW, LOCAL_WINDOW
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.order import loop_order
from tilewright.ptxsim.syntax import (
    Address,
    Arguments,
    Function,
    Instruction,
    Label,
    Name,
    Operand,
    Pair,
    PtxModule,
    SymbolOffset,
    Variable,
    Vector,
)
from tilewright.ptxsim.vectors import all_set, any_set
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import fail

if TYPE_CHECKING:
    from tilewright.ptxsim.lanes import Lanes
    from tilewright.ptxsim.scheduler import Group, Scheduler
    from tilewright.ptxsim.wave import Wave

Transfer = Callable[["Scheduler", "Group"], "Group | None"]


class Segment:
    """Straight-line instructions, which a group executes from first to last.

    A segment ends at divergence, blocking and join points. `blocking` is an instruction that may
    park threads: it is alone in its segment, so that it can be retried.
    """

    __slots__ = (
        "blocking", "body", "code", "falls_through", "families", "index", "next", "order", "sites",
        "targets", "transfer",
    )  # fmt: skip

    def __init__(self, index: int, code: Code) -> None:
        self.index = index
        self.code = code
        self.body: tuple[isa.Run, ...] = ()
        self.blocking: isa.Run | None = None
        self.transfer: Transfer | None = None
        self.next: Segment | None = None
        self.order = 0
        self.sites: tuple[Instruction, ...] = ()
        self.targets: tuple[Segment, ...] = ()
        self.falls_through = True
        self.families: tuple[str, ...] = ()


class Code:
    """A decoded function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.layout = FrameLayout(function)
        self.segments: list[Segment] = []
        self._by_instruction: dict[int, Segment] = {}

    @property
    def first(self) -> Segment:
        """The entry segment."""
        return self.segments[0]

    def at(self, instruction: int) -> Segment:
        """The segment that starts at an instruction."""
        return self._by_instruction[instruction]

    def begin(self, instruction: int, index: int) -> Segment:
        """Add the segment that starts at an instruction."""
        segment = Segment(index, self)
        self.segments.append(segment)
        self._by_instruction[instruction] = segment
        return segment


class Linker:
    """Symbols beyond one function: addresses of variables, code of functions."""

    def __init__(
        self, module: PtxModule, entry: Function, global_addresses: dict[Variable, int]
    ) -> None:
        self.module = module
        self.entry = entry
        self.reachable, self._names = _reachable(module, entry)
        self.codes: dict[str, Code] = {}
        self.states: set[Callable[[Wave], object]] = set()
        self._globals = global_addresses
        self.static_shared = 0
        self._shared: dict[Variable, int] = {}
        self.dynamic_shared: list[str] = []
        """The variables in dynamic shared memory, whose size the launch sets."""
        self._functions = function_addresses(module)
        self._allocate_shared()

    def _allocate_shared(self) -> None:
        variables = [
            variable
            for variable in self.module.variables
            if variable.space == "shared" and variable.name in self._names
        ]
        for function in self.reachable:
            variables += [each for each in function.variables if each.space == "shared"]
        dynamic = [variable for variable in variables if variable.external or not variable.size]
        for variable in variables:
            if variable not in dynamic:
                self._shared[variable] = self._advance(variable.alignment)
                self.static_shared += variable.size
        start = self._advance(max((each.alignment for each in dynamic), default=1))
        self._shared.update((variable, start) for variable in dynamic)
        self.dynamic_shared = [variable.name for variable in dynamic]

    def _advance(self, alignment: int) -> int:
        self.static_shared = -(-self.static_shared // alignment) * alignment
        return self.static_shared

    def address_of(self, name: str, variable: Variable | None) -> int | None:
        """The address of a variable in its space, or of a function."""
        if variable is None:
            return self._functions.get(name)
        if variable.space == "shared":
            return self._shared.get(variable)
        return self._globals.get(variable)

    def constants(self) -> list[tuple[int, int]]:
        """The address ranges of the variables in the constant space."""
        return [
            (address, address + variable.size)
            for variable, address in self._globals.items()
            if variable.space == "const"
        ]

    def parameter_offset(self, function: Function, variable: Variable) -> int:
        """The offset of a kernel's parameter in the parameter block."""
        offsets, _ = block_size(function.parameters)
        return offsets[function.parameters.index(variable)]

    def frame_window(self, space: str) -> int:
        """The base that converts a local-memory offset to an address of a variable in `space`."""
        return 0 if space == "local" else LOCAL_WINDOW


class Program:
    """A decoded kernel with all functions that it calls."""

    def __init__(
        self, module: PtxModule, entry: Function, global_addresses: dict[Variable, int]
    ) -> None:
        self.linker = Linker(module, entry, global_addresses)
        self.segments: list[Segment] = []
        for function in self.linker.reachable:
            if function.body is not None:
                self.linker.codes[function.name] = Code(function)
        with CollectorPause():
            for code in self.linker.codes.values():
                self._decode(code)
        self.entry = self.linker.codes[entry.name]

    @property
    def register_bytes(self) -> int:
        """The size of a thread's registers if every function is active once."""
        layouts = (code.layout for code in self.linker.codes.values())
        return sum(bits * count for each in layouts for bits, count in each.widths.items()) // 8 + 1

    def release(self) -> None:
        """Drop what instructions do, after the last launch: loops make its references cyclic."""
        for segment in self.segments:
            segment.body, segment.blocking, segment.transfer = (), None, None
            segment.next, segment.targets = None, ()

    def _decode(self, code: Code) -> None:
        body = code.function.body or []
        operations = [Operation(site, code.layout, self.linker) for site in body]
        rows = [isa.find(operation) for operation in operations]
        starts = _starts(body, rows)
        first = len(self.segments)
        self.segments += [code.begin(start, first + at) for at, start in enumerate(starts)]
        bounds = [*starts, len(body)]
        for at, segment in enumerate(code.segments):
            span = range(bounds[at], bounds[at + 1])
            follower = at + 1 < len(code.segments)
            segment.next = code.segments[at + 1] if follower else None
            segment.sites = tuple(body[index] for index in span)
            self._fill(segment, [(rows[index], operations[index]) for index in span])
        if not code.segments:
            fail(f"'{code.function.name}' has no instructions", code.function.location)
        _set_order(code)

    def _fill(self, segment: Segment, parts: Sequence[tuple[isa.Row, Operation]]) -> None:
        body: list[isa.Run] = []
        for row, operation in parts:
            operation.segment = segment
            guard = _guard(operation)
            if row.control is not None:
                segment.transfer = _guarded_transfer(row.control(operation), guard)
                segment.falls_through = guard is not None or row.name == "call"
            else:
                assert row.decode is not None
                run = _guarded(row.decode(operation), guard, operation.site)
                if row.blocks:
                    segment.blocking = run
                else:
                    body.append(run)
            operation.finish()
        segment.body = tuple(body)
        segment.families = tuple(row.family for row, _ in parts)


def _starts(body: Sequence[Instruction], rows: Sequence[isa.Row]) -> list[int]:
    """The indices of the instructions that start a segment."""
    starts = {0} if body else set[int]()
    for at, row in enumerate(rows):
        if row.blocks:
            starts |= {at, at + 1}
        elif row.control is not None:
            starts.add(at + 1)
    for scope in {id(site.scope): site.scope for site in body}.values():
        enclosing = scope
        while enclosing is not None:
            labels = (each for each in enclosing.names.values() if isinstance(each, Label))
            starts |= {label.index for label in labels}
            enclosing = enclosing.parent
    return sorted(start for start in starts if start < len(body))


def _set_order(code: Code) -> None:
    local = {segment: at for at, segment in enumerate(code.segments)}
    successors = [[local[target] for target in _followers(segment)] for segment in code.segments]
    for segment, position in zip(code.segments, loop_order(successors), strict=True):
        segment.order = position


def _followers(segment: Segment) -> list[Segment]:
    following = segment.next if segment.falls_through else None
    return [*segment.targets, following] if following else list(segment.targets)


def _guard(operation: Operation) -> Read | None:
    site = operation.site
    if site.guard is None:
        return None
    read = operation.predicate(site.guard)
    if site.guard_negated:
        return lambda lanes: ~read(lanes)
    return read


def _guarded(run: isa.Run, guard: Read | None, site: Instruction) -> isa.Run:
    if guard is None:
        return run

    def guarded(lanes: Lanes) -> None:
        mask = guard(lanes)
        if all_set(mask):
            run(lanes)
            return
        mask = lanes.spread(mask)
        if lanes.wave.profile is not None:
            lanes.wave.profile.guard(site, int((~mask).sum()))
        if any_set(mask):
            run(lanes.take(mask))

    return guarded


def _guarded_transfer(transfer: Transfer, guard: Read | None) -> Transfer:
    if guard is None:
        return transfer

    def guarded(scheduler: Scheduler, group: Group) -> Group | None:
        mask = guard(group.lanes)
        following = group.segment.next
        if all_set(mask):
            return transfer(scheduler, group)
        if not any_set(mask):
            return group.move(following)
        scheduler.add(group.part(~mask).move(following))
        return transfer(scheduler, group.part(mask))

    return guarded


def function_addresses(module: PtxModule) -> dict[str, int]:
    """The values of function pointers."""
    return {name: FUNCTION_WINDOW + 16 * at for at, name in enumerate(module.functions, 1)}


def _reachable(module: PtxModule, entry: Function) -> tuple[list[Function], set[str]]:
    """The entry and every function that it may call, directly or by address; and their names.

    The names are all that operands of these functions mention, unless the entry is all that the
    module declares.
    """
    if len(module.functions) == 1 and not module.variables:
        return [entry], set()
    in_tables = {
        variable.name: [patch.symbol for patch in variable.relocations]
        for variable in module.variables
        if variable.relocations
    }
    functions = {entry.name: entry}
    seen: set[str] = set()
    work = list(_names(entry))
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        work += in_tables.get(name, ())
        function = module.functions.get(name)
        if function is not None:
            functions[name] = function
            work += _names(function)
    return list(functions.values()), seen


def _names(function: Function) -> set[str]:
    """Every name that the operands of a function mention."""
    names: set[str] = set()
    for site in function.body or ():
        for operand in site.operands:
            if isinstance(operand, Name):  # most of them
                names.add(operand.text)
            else:
                names.update(_names_in(operand))
    return names


def _names_in(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Name):
        yield operand.text
    elif isinstance(operand, SymbolOffset):
        yield operand.name
    elif isinstance(operand, Address):
        yield from _names_in(operand.base)
        for part in operand.rest:
            yield from _names_in(part)
    elif isinstance(operand, Vector | Arguments):
        for part in operand.elements:
            yield from _names_in(part)
    elif isinstance(operand, Pair):
        yield from _names_in(operand.first)
        yield from _names_in(operand.second)
