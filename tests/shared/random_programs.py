"""Random kernels on small integers: branches, loops, early exits, tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

ARGUMENTS = "%a0: tile<i8>, %a1: tile<i8>, %a2: tile<i8>, %c0: tile<i1>, %c1: tile<i1>"
"""The arguments of every kernel: three bytes and two bits."""

PREDICATES = (
    "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
    "greater_than_or_equal",
)  # fmt: skip


class Scope:
    """The visible values by type, and the operations that may end a block."""

    def __init__(self, values: dict[str, list[str]], exits: tuple[str, ...]) -> None:
        self.values = {kind: list(names) for kind, names in values.items()}
        self.exits = exits
        """Terminators that leave a branch: whole lines, with operands to fill in."""

    def inner(self, exits: tuple[str, ...] | None = None) -> Scope:
        return Scope(self.values, self.exits if exits is None else exits)


Statement = Callable[[Scope], None]
"""Writes one statement."""


class Generator:
    """Writes the body of one kernel."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = 0
        scope = Scope({"i8": ["%a0", "%a1", "%a2"], "i1": ["%c0", "%c1"], "token": []}, ("return",))
        self.emit("make_token : token", scope, "token")
        self.show(scope)
        self.statements(scope, 3, 12)
        self.show(scope)

    def text(self) -> str:
        return "\n".join(self.lines)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, line: str, scope: Scope, kind: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {line}")
        scope.values[kind].append(name)
        return name

    def pick(self, scope: Scope, kind: str) -> str:
        """A value of a kind: mostly a recent one, sometimes a constant."""
        if kind != "token" and self.random.random() < 0.2:
            return self.constant(scope, kind)
        names = scope.values[kind]
        return self.random.choice(names[-4:] if self.random.random() < 0.7 else names)

    def constant(self, scope: Scope, kind: str) -> str:
        value = self.random.choice((0, 1, -1, 2, 3, 127, -128)) if kind == "i8" else None
        text = self.random.choice(("true", "false")) if value is None else str(value)
        return self.emit(f"constant <{kind}: {text}> : tile<{kind}>", scope, kind)

    def statements(self, scope: Scope, depth: int, most: int) -> None:
        choices: list[Statement] = [self.arithmetic, self.comparison, self.choice]
        choices += [self.logic, self.join, *[self.show] * 3]
        if depth:
            nesting = (self.branch, self.branch, self.counted, self.endless)
            choices += [partial(each, depth=depth - 1) for each in nesting]
        for _ in range(self.random.randint(1, most)):
            self.random.choice(choices)(scope)

    def arithmetic(self, scope: Scope) -> None:
        a, b = self.pick(scope, "i8"), self.pick(scope, "i8")
        op = self.random.choice(("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini"))
        sign = f" {self.random.choice(('signed', 'unsigned'))}" if op in ("maxi", "mini") else ""
        self.emit(f"{op} {a}, {b}{sign} : tile<i8>", scope, "i8")

    def comparison(self, scope: Scope) -> None:
        a, b = self.pick(scope, "i8"), self.pick(scope, "i8")
        predicate, sign = self.random.choice(PREDICATES), self.random.choice(("signed", "unsigned"))
        self.emit(f"cmpi {predicate} {a}, {b}, {sign} : tile<i8> -> tile<i1>", scope, "i1")

    def logic(self, scope: Scope) -> None:
        condition = self.pick(scope, "i1")
        if self.random.random() < 0.5:
            true = self.emit("constant <i1: true> : tile<i1>", scope, "i1")
            self.emit(f"xori {condition}, {true} : tile<i1>", scope, "i1")
        else:
            self.emit(f"andi {condition}, {self.pick(scope, 'i1')} : tile<i1>", scope, "i1")

    def choice(self, scope: Scope) -> None:
        kind = self.random.choice(("i8", "i1"))
        condition, a, b = self.pick(scope, "i1"), self.pick(scope, kind), self.pick(scope, kind)
        self.emit(f"select {condition}, {a}, {b} : tile<i1>, tile<{kind}>", scope, kind)

    def show(self, scope: Scope) -> None:
        value = self.pick(scope, "i8")
        token = f" token={self.pick(scope, 'token')}" if self.random.random() < 0.8 else ""
        line = f'print_tko "{self.count}: %d", {value}{token} : tile<i8> -> token'
        self.emit(line, scope, "token")

    def join(self, scope: Scope) -> None:
        tokens = ", ".join(self.pick(scope, "token") for _ in range(self.random.randint(2, 3)))
        self.emit(f"join_tokens {tokens} : token", scope, "token")

    def fill(self, scope: Scope, template: str) -> str:
        """An exit with values of the kinds that it names in braces."""
        while "{" in template:
            kind = template[template.index("{") + 1 : template.index("}")]
            template = template.replace(f"{{{kind}}}", self.pick(scope, kind), 1)
        return template

    def passing(self, scope: Scope, word: str, kinds: list[str]) -> str:
        values = ", ".join(self.pick(scope, kind) for kind in kinds)
        return f"{word} {values} : {_types(kinds)}" if kinds else word

    def branch(self, scope: Scope, depth: int) -> None:
        random = self.random
        kinds = [random.choice(("i8", "i1", "token")) for _ in range(random.choice((0, 0, 1, 2)))]
        condition = self.pick(scope, "i1")
        results = [self.name() for _ in kinds]
        left = f"{', '.join(results)} = " if results else ""
        types = f" -> ({_types(kinds)})" if kinds else ""
        self.lines.append(f"{left}if {condition}{types} {{")
        self.body(scope.inner(), depth, kinds)
        if kinds or random.random() < 0.5:
            self.lines.append("} else {")
            self.body(scope.inner(), depth, kinds)
        self.lines.append("}")
        for kind, result in zip(kinds, results, strict=True):
            scope.values[kind].append(result)

    def body(self, scope: Scope, depth: int, kinds: list[str]) -> None:
        if self.random.random() < 0.8:
            self.statements(scope, depth, 4)
        if self.random.random() < 0.15:
            self.lines.append(self.fill(scope, self.random.choice(scope.exits)))
        else:
            last = self.passing(scope, "yield", kinds)
            self.lines.append(last)

    def counted(self, scope: Scope, depth: int) -> None:
        random = self.random
        kinds = [random.choice(("i8", "token")) for _ in range(random.randint(0, 2))]
        lower, upper = random.randint(-9, 3), random.randint(-4, 9)
        unsigned = random.random() < 0.3
        if unsigned:
            lower, upper = abs(lower), abs(upper)
        bounds = [self.emit(f"constant <i8: {value}> : tile<i8>", scope, "i8")
                  for value in (lower, upper, random.randint(1, 4))]  # fmt: skip
        if random.random() < 0.5:
            mask = self.emit("constant <i8: 7> : tile<i8>", scope, "i8")
            bounds[1] = self.emit(f"andi {self.pick(scope, 'i8')}, {mask} : tile<i8>", scope, "i8")
        inner = scope.inner((f"continue {_holes(kinds)}" if kinds else "continue",))
        counter, initial = self.name(), self.carry(scope, inner, kinds)
        results = [self.name() for _ in kinds]
        left = f"{', '.join(results)} = " if results else ""
        types = f" -> ({_types(kinds)})" if kinds else ""
        sign = "unsigned " if unsigned else ""
        self.lines.append(
            f"{left}for {sign}{counter} in ({bounds[0]} to {bounds[1]}, step {bounds[2]}) "
            f": tile<i8>{initial}{types} {{"
        )
        inner.values["i8"].append(counter)
        if random.random() < 0.7:
            self.split(inner, counter, "unsigned" if unsigned else "signed", scope, depth)
        self.statements(inner, depth, 4)
        self.lines.append(self.passing(inner, "continue", kinds))
        self.lines.append("}")
        for kind, result in zip(kinds, results, strict=True):
            scope.values[kind].append(result)

    def split(self, inner: Scope, counter: str, sign: str, outer: Scope, depth: int) -> None:
        """A branch on the counter and a loop-invariant value, at which a loop can be split."""
        pair = [counter, self.random.choice(outer.values["i8"])]
        self.random.shuffle(pair)
        line = f"cmpi {self.random.choice(PREDICATES)} {pair[0]}, {pair[1]}, {sign}"
        condition = self.emit(f"{line} : tile<i8> -> tile<i1>", inner, "i1")
        self.lines.append(f"if {condition} {{")
        self.body(inner.inner(), max(depth - 1, 0), [])
        self.lines.append("}")

    def carry(self, scope: Scope, inner: Scope, kinds: list[str]) -> str:
        """The clause of the loop-carried values; the loop has new names for them."""
        pairs: list[str] = []
        for kind in kinds:
            initial, name = self.pick(scope, kind), self.name()
            pairs.append(f"{name} = {initial}")
            inner.values[kind].append(name)
        return f" iter_values({', '.join(pairs)})" if pairs else ""

    def endless(self, scope: Scope, depth: int) -> None:
        """A loop with a counter, which breaks at the latest after a few iterations."""
        random = self.random
        if "return" not in scope.exits and not scope.exits[0].startswith("break"):
            return  # inside a counted loop a kernel cannot end
        kinds = [random.choice(("i8", "token")) for _ in range(random.randint(0, 2))]
        gives = [random.choice(("i8", "token")) for _ in range(random.randint(0, 2))]
        zero = self.emit("constant <i8: 0> : tile<i8>", scope, "i8")
        limit = self.emit(f"constant <i8: {random.randint(0, 3)}> : tile<i8>", scope, "i8")
        leave = f"break {_holes(gives)}" if gives else "break"
        inner = scope.inner((leave, "return"))
        clause = self.carry(scope, inner, kinds)
        counter = self.name()
        pair = f"{counter} = {zero}"
        clause = f"{clause[:-1]}, {pair})" if clause else f" iter_values({pair})"
        carried = [*kinds, "i8"]
        results = [self.name() for _ in gives]
        left = f"{', '.join(results)} = " if results else ""
        types = f" : {_types(carried)}" + (f" -> {_types(gives)}" if gives else " -> ()")
        self.lines.append(f"{left}loop{clause}{types.replace(' -> ()', '')} {{")
        one = self.emit("constant <i8: 1> : tile<i8>", inner, "i8")
        following = self.emit(f"addi {counter}, {one} : tile<i8>", inner, "i8")
        line = f"cmpi greater_than_or_equal {counter}, {limit}, signed : tile<i8> -> tile<i1>"
        condition = self.emit(line, inner, "i1")
        self.statements(inner, depth, 3)
        self.lines.append(f"if {condition} {{")
        self.lines.append(self.fill(inner.inner(), leave))
        self.lines.append("}")
        self.statements(inner, depth, 2)
        values = ", ".join([*(self.pick(inner, kind) for kind in kinds), following])
        self.lines.append(f"continue {values} : {_types(carried)}")
        self.lines.append("}")
        for kind, result in zip(gives, results, strict=True):
            scope.values[kind].append(result)


def _types(kinds: list[str]) -> str:
    return ", ".join(kind if kind == "token" else f"tile<{kind}>" for kind in kinds)


def _holes(kinds: list[str]) -> str:
    return f"{', '.join(f'{{{kind}}}' for kind in kinds)} : {_types(kinds)}"


def random_kernel(seed: int) -> str:
    """The body of a kernel with the arguments `ARGUMENTS`."""
    return Generator(seed).text()


def random_arguments(seed: int) -> list[list[int]]:
    """Some calls: bytes and bits as patterns, the ends of their ranges among them."""
    random = Random(seed)
    extremes = [0x80, 0x7F, 0xFF, 0, 1]
    calls = [[random.choice(extremes) for _ in range(3)] for _ in range(3)]
    calls += [[random.randrange(256) for _ in range(3)] for _ in range(3)]
    return [[*call, random.randrange(2), random.randrange(2)] for call in calls]
