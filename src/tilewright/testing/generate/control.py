"""Statements with regions: branches, loops, and early exits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tilewright.testing.generate.arithmetic import PREDICATES, SIGNS
from tilewright.testing.generate.kernel import I1, I32, Chain, Kernel, Scope
from tilewright.testing.generate.memory import settled
from tilewright.testing.generate.values import Facts, Tile, Value, full

Statements = Callable[[Kernel, int], None]
MAX_NESTING: Final = 3


class Passing:
    """The types of values and tokens that a region yields, and facts about the values."""

    def __init__(self, tiles: Sequence[Tile], buffers: Sequence[str]) -> None:
        self.tiles = tuple(tiles)
        self.buffers = tuple(buffers)
        self.facts: list[Facts | None] = [None] * len(tiles)

    @property
    def types(self) -> str:
        """The types as text."""
        return ", ".join([*map(str, self.tiles), *["token"] * len(self.buffers)])

    def __len__(self) -> int:
        return len(self.tiles) + len(self.buffers)

    def write(self, k: Kernel, word: str, first: Sequence[Value] = ()) -> None:
        """Emit an operation that passes on values in scope."""
        values = [*first, *(k.operand(tile) for tile in self.tiles[len(first) :])]
        for at, value in enumerate(values):
            known = self.facts[at]
            self.facts[at] = value.facts if known is None else known.union(value.facts)
        names = [value.name for value in values]
        names += [_token(k, buffer) for buffer in self.buffers]
        k.line(f"{word} {', '.join(names)} : {self.types}" if names else word)

    def receive(self, k: Kernel, names: Sequence[str], *, known: bool = True) -> None:
        """Add the values that were passed on to the scope."""
        for name, tile, facts in zip(names, self.tiles, self.facts, strict=False):
            whole = full(tile.kind)
            k.scope.values.append(Value(name, tile, (facts or whole) if known else whole))
        for name, buffer in zip(names[len(self.tiles) :], self.buffers, strict=True):
            k.scope.chains[buffer] = Chain(name)


def _token(k: Kernel, buffer: str) -> str:
    """A token after all accesses to a buffer, in whichever scope its chain is."""
    if buffer in k.scope.chains:
        return settled(k, k.scope.chains[buffer])
    outer = k.scope.outer
    while outer is not None and buffer not in outer.chains:
        outer = outer.outer
    assert outer is not None
    chain = outer.chains[buffer]
    if not chain.read:
        return chain.written
    return k.emit(f"join_tokens {', '.join((chain.written, *chain.read))} : token")[0]


def _passing(k: Kernel, most: int = 2) -> Passing:
    """Random types of values in scope, and some of the buffers."""
    types = [v.tile for v in k.scope.values if v.tile.elements <= 256 and v.tile.element != "i4"]
    tiles = [k.random.choice(types) for _ in range(k.random.randint(0, most))]
    for buffer in sorted(k.scope.chains):
        settled(k, k.scope.chains[buffer])
    return Passing(tiles, [name for name in sorted(k.scope.chains) if k.chance(0.7)])


def _inner(k: Kernel, passing: Passing, exits: list[Callable[[], None]] | None = None) -> Scope:
    """The scope of a region: it may use buffers whose tokens it passes on."""
    scope = k.scope
    chains = {name: Chain(scope.chains[name].written) for name in passing.buffers}
    return Scope(
        list(scope.values), chains, scope.exits if exits is None else exits, scope.runs_once,
        scope.may_return, scope,
    )  # fmt: skip


def condition(k: Kernel) -> Value:
    """A scalar condition, mostly one that diverges between blocks and iterations."""
    existing = k.find(lambda value: value.tile == I1)
    if existing is not None and k.chance(0.4):
        return existing
    a = k.find(lambda v: not v.tile.shape and v.tile.element in ("i8", "i16", "i32", "i64"))
    a = a if a is not None else k.block
    b = k.constant(a.tile, (k.random.randint(0, 2),))
    text = f"cmpi {k.random.choice(PREDICATES)} {a.name}, {b.name}, {k.random.choice(SIGNS)}"
    return k.define(f"{text} : {a.tile} -> {I1}", I1, Facts(-1, 0, True))


def _results(k: Kernel, passing: Passing) -> tuple[list[str], str]:
    names = [k.name() for _ in range(len(passing))]
    return names, f"{', '.join(names)} = " if names else ""


def branch(k: Kernel, statements: Statements) -> None:
    """`if`, with or without results and an `else`; one branch may exit early."""
    test, passing = condition(k), _passing(k)
    names, left = _results(k, passing)
    types = f" -> ({passing.types})" if len(passing) else ""
    k.line(f"{left}if {test.name}{types} {{")
    leaves = _branch(k, passing, statements, may_leave=True)
    if len(passing) or k.chance(0.5):
        k.line("} else {")
        _branch(k, passing, statements, may_leave=not leaves)
    k.line("}")
    passing.receive(k, names)


def _branch(k: Kernel, passing: Passing, statements: Statements, *, may_leave: bool) -> bool:
    with k.region(_inner(k, passing)) as scope:
        statements(k, k.random.randint(0, 3))
        exits = [*scope.exits, *([lambda: k.line("return")] if scope.may_return else [])]
        if may_leave and exits and k.chance(0.3):
            k.random.choice(exits)()
            return True
        passing.write(k, "yield")
        return False


def counted(k: Kernel, statements: Statements) -> None:
    """`for`, a few times; an iteration may end early."""
    element = k.element("i8", "i16", "i32", "i32", "i64")
    is_unsigned = k.chance(0.25)
    low, step = k.random.randint(0 if is_unsigned else -2, 3), k.random.randint(1, 3)
    high = low + k.random.randint(0, 3 * step)
    bounds = [k.int_constant(number, element) for number in (low, high, step)]
    if element == "i32" and k.chance(0.4):
        bounds[0], bounds[1], low, high = k.int_constant(0), k.block, 0, k.blocks
    passing = _passing(k)
    initial = [k.operand(tile).name for tile in passing.tiles]
    initial += [k.scope.chains[name].written for name in passing.buffers]
    names, left = _results(k, passing)
    carried, index = [k.name() for _ in names], k.name()
    exits = [lambda: passing.write(k, "continue")]
    inner = _inner(k, passing, exits)
    inner.runs_once = inner.may_return = False
    pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, initial, strict=True))
    clause = f" iter_values({pairs}) -> ({passing.types})" if pairs else ""
    sign = "unsigned " if is_unsigned else ""
    limits = f"({bounds[0].name} to {bounds[1].name}, step {bounds[2].name})"
    k.line(f"{left}for {sign}{index} in {limits} : tile<{element}>{clause} {{")
    with k.region(inner):
        passing.receive(k, carried, known=False)
        facts = Facts(low, max(low, high), True)
        k.scope.values.append(Value(index, Tile(element), facts))
        statements(k, k.random.randint(1, 3))
        passing.write(k, "continue")
    k.line("}")
    passing.receive(k, names, known=False)


def unbounded(k: Kernel, statements: Statements) -> None:
    """`loop`, with a few iterations; may exit by `break` or `return`."""
    limit, zero = k.int_constant(k.random.randint(0, 3)), k.int_constant(0)
    carried = _passing(k, 1)
    carried.tiles = (I32, *carried.tiles)
    carried.facts = [None] * len(carried.tiles)
    results = Passing([k.random.choice(k.scope.values).tile for _ in range(k.random.randint(0, 2))],
                      carried.buffers)  # fmt: skip
    initial = [zero.name, *(k.operand(tile).name for tile in carried.tiles[1:])]
    initial += [k.scope.chains[name].written for name in carried.buffers]
    names, left = _results(k, results)
    inside = [k.name() for _ in range(len(carried))]
    pairs = ", ".join(f"{a} = {b}" for a, b in zip(inside, initial, strict=True))
    arrow = f" -> {results.types}" if len(results) else ""
    iteration = Value(inside[0], I32, Facts(0, 8, True))

    def again() -> None:
        one = k.int_constant(1)
        next = k.define(f"addi {iteration.name}, {one.name} : {I32}", I32, Facts(0, 9, True))
        carried.write(k, "continue", (next,))

    def leave() -> None:
        results.write(k, "break")

    inner = _inner(k, carried, [leave])
    inner.runs_once = False
    k.line(f"{left}loop iter_values({pairs}) : {carried.types}{arrow} {{")
    with k.region(inner):
        carried.receive(k, inside, known=False)
        k.scope.values.append(iteration)
        if k.chance(0.3):
            statements(k, 1)
        _stop(k, iteration, limit, leave)
        # Only after the exit test: before it, the loop might not terminate.
        inner.exits.append(again)
        statements(k, k.random.randint(0, 3))
        again()
    k.line("}")
    results.receive(k, names)


def _stop(k: Kernel, iteration: Value, limit: Value, leave: Callable[[], None]) -> None:
    """Emit the exit test of a loop, in either polarity."""
    is_direct = k.chance(0.6)
    predicate = "greater_than_or_equal" if is_direct else "less_than"
    (test,) = k.emit(f"cmpi {predicate} {iteration.name}, {limit.name}, signed : {I32} -> {I1}")
    k.line(f"if {test} {{" if is_direct else f"if {test} {{ }} else {{")
    with k.region(_inner(k, Passing((), ()))):
        leave()
    k.line("}")


def statement(k: Kernel, statements: Statements) -> None:
    """Any statement with regions, unless the nesting is too deep."""
    if k.nesting >= MAX_NESTING:
        return
    k.random.choice((branch, branch, counted, unbounded, unbounded))(k, statements)
