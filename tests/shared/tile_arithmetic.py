"""Random integer programs of nv_tileaa: arithmetic, shapes, pointers, branches and loops."""

from __future__ import annotations

from math import prod
from random import Random

ARGUMENTS = (("%a0", "i8"), ("%a1", "i8"), ("%a2", "i32"), ("%a3", "i32"), ("%p", "ptr"))
"""The arguments: %a2 is divisible by 16, %a3 is not negative, %p is divisible by 8."""

SHAPES = ((), (8,), (16,), (4, 8), (2, 4, 4), (256,))
CONSTANTS = (0, 1, 2, 3, 4, 6, 7, 8, 12, 16, 32, 64, 96, 120, 127, -1, -2, -3, -4, -8, -16)
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")

Kind = tuple[tuple[int, ...], str]


def spell(kind: Kind) -> str:
    """A type in the text."""
    shape, element = kind
    element = "!nv_tileaa.ptr<f32>" if element == "ptr" else element
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


class Writer:
    """Writes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.pool: dict[Kind, list[str]] = {}
        self.count = 0
        self.depth = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, kind: Kind, text: str) -> str:
        """A new value."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.pool.setdefault(kind, []).append(name)
        return name

    def any(self, kind: Kind) -> str:
        """A value of a kind, created if there is none; recent ones are likelier."""
        names = self.pool.get(kind)
        if names and self.random.random() < 0.8:
            return self.random.choice(names[-6:])
        return self.fresh(kind)

    def fresh(self, kind: Kind) -> str:
        shape, element = kind
        if element == "ptr":
            scalar = self.pool[(), "ptr"][0]
            text = f"nv_tileaa.splat {scalar} : {spell(((), 'ptr'))} -> {spell(kind)}"
            return self.emit(kind, text) if shape else scalar
        if not shape:
            number = self.random.choice(CONSTANTS if element != "i1" else (0, -1))
            literal = {0: "false", -1: "true"}[number] if element == "i1" else number
            suffix = "" if element == "i1" else f" : {element}"
            return self.emit(kind, f"arith.constant {literal}{suffix}")
        if self.random.random() < 0.6 and element != "i1":
            return self.along(kind)
        scalar = self.any(((), element))
        return self.emit(kind, f"nv_tileaa.splat {scalar} : {element} -> {spell(kind)}")

    def along(self, kind: Kind) -> str:
        """A range along one dimension."""
        shape, element = kind
        dim = self.random.randrange(len(shape))
        line: Kind = ((shape[dim],), element)
        start = self.random.choice((0, 0, 0, 4, 3))
        if shape[dim] > 128:
            start = 0
        value = self.emit(line, f"nv_tileaa.make_range {{start = {start} : i64}} : {spell(line)}")
        if len(shape) == 1:
            return value
        thin: Kind = (tuple(e if d == dim else 1 for d, e in enumerate(shape)), element)
        value = self.emit(thin, f"nv_tileaa.view {value} : {spell(line)} -> {spell(thin)}")
        return self.emit(kind, f"nv_tileaa.broadcast {value} : {spell(thin)} -> {spell(kind)}")

    def kind(self, *elements: str) -> Kind:
        return self.random.choice(SHAPES), self.random.choice(elements)

    def step(self) -> None:
        """One more operation."""
        choices = [
            self.binary, self.binary, self.binary, self.binary, self.divide, self.shift,
            self.compare, self.select, self.convert, self.reshape, self.move, self.move, self.unary,
            self.arrange,
        ]  # fmt: skip
        if self.depth < 2:
            choices += [self.loop, self.branch, self.repeat]
        self.random.choice(choices)()

    def binary(self) -> None:
        name = self.random.choice(
            ("addi", "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui")
        )
        kind = self.kind("i8", "i32")
        dialect = "arith" if name.startswith("m") and name != "muli" else "nv_tileaa"
        self.emit(kind, f"{dialect}.{name} {self.any(kind)}, {self.any(kind)} : {spell(kind)}")

    def divide(self) -> None:
        kind = self.kind("i8", "i32")
        sign = self.random.choice(("signed", "unsigned"))
        name = self.random.choice(("divi", "remi"))
        rounding = ""
        if name == "divi" and self.random.random() < 0.4:
            mode = "negative_inf" if sign == "signed" else "positive_inf"
            rounding = f" rounding<{mode}>"
        lhs, rhs = self.any(kind), self.any(kind)
        self.emit(kind, f"nv_tileaa.{name} {lhs}, {rhs} {sign}{rounding} : {spell(kind)}")

    def shift(self) -> None:
        kind = self.kind("i8", "i32")
        amount = self.emit(((), kind[1]), f"arith.constant {self.random.randrange(8)} : {kind[1]}")
        if kind[0]:
            amount = self.emit(kind, f"nv_tileaa.splat {amount} : {kind[1]} -> {spell(kind)}")
        lhs = self.any(kind)
        if self.random.random() < 0.5:
            self.emit(kind, f"nv_tileaa.shli {lhs}, {amount} : {spell(kind)}")
        else:
            sign = self.random.choice(("signed", "unsigned"))
            self.emit(kind, f"nv_tileaa.shri {lhs}, {amount} {sign} : {spell(kind)}")

    def unary(self) -> None:
        kind = self.kind("i8", "i32")
        name = self.random.choice(("negi", "absi"))
        self.emit(kind, f"nv_tileaa.{name} {self.any(kind)} : {spell(kind)}")

    def compare(self) -> None:
        kind = self.kind("i8", "i32")
        predicate = self.random.choice(PREDICATES)
        lhs, rhs = self.any(kind), self.any(kind)
        self.emit((kind[0], "i1"), f"nv_tileaa.cmpi {predicate}, {lhs}, {rhs} : {spell(kind)}")

    def select(self) -> None:
        kind = self.kind("i8", "i32", "ptr")
        bits: Kind = (kind[0], "i1")
        names = self.any(bits), self.any(kind), self.any(kind)
        self.emit(kind, f"nv_tileaa.select {', '.join(names)} : {spell(bits)}, {spell(kind)}")

    def convert(self) -> None:
        shape = self.random.choice(SHAPES)
        sign = self.random.choice(("signed", "unsigned"))
        before, after = self.random.choice((("i8", "i32"), ("i32", "i8"), ("i1", "i8")))
        old: Kind = (shape, before)
        new: Kind = (shape, after)
        if before == "i32":
            text = f"nv_tileaa.trunci {self.any(old)} : {spell(old)} to {spell(new)}"
        else:
            text = f"nv_tileaa.exti {self.any(old)} {sign} : {spell(old)} to {spell(new)}"
        self.emit(new, text)

    def reshape(self) -> None:
        old = self.kind("i8", "i32", "ptr")
        fits = [s for s in (*SHAPES, (2, 8), (8, 4), (1, 8), (2, 2, 8), (16, 16))
                if s and prod(s) == prod(old[0]) and old[0]]  # fmt: skip
        if fits:
            new: Kind = (self.random.choice(fits), old[1])
            self.emit(new, f"nv_tileaa.view {self.any(old)} : {spell(old)} -> {spell(new)}")

    def arrange(self) -> None:
        """A permutation, concatenation or slice."""
        if self.random.random() < 0.5:
            old: Kind = ((4, 8), "i32")
            new: Kind = ((8, 4), "i32")
            text = f"nv_tileaa.permute {self.any(old)} [1, 0] : {spell(old)} -> {spell(new)}"
            self.emit(new, text)
            self.emit(old, f"nv_tileaa.view {self.any(new)} : {spell(new)} -> {spell(old)}")
            return
        half: Kind = ((8,), "i32")
        whole: Kind = ((16,), "i32")
        lhs, rhs = self.any(half), self.any(half)
        kinds = f"{spell(half)}, {spell(half)} -> {spell(whole)}"
        made = self.emit(whole, f"nv_tileaa.cat {lhs}, {rhs} axis = 0 : {kinds}")
        number = self.emit(((), "i32"), f"arith.constant {self.random.randrange(2)} : i32")
        text = f"nv_tileaa.extract_slice {made}[{number}] : {spell(whole)} -> {spell(half)}"
        self.emit(half, text)

    def move(self) -> None:
        """Pointer arithmetic."""
        shape = self.random.choice(SHAPES)
        pointers: Kind = (shape, "ptr")
        offsets: Kind = (shape, self.random.choice(("i8", "i32")))
        names = f"{self.any(pointers)}, {self.any(offsets)}"
        bytes = " bytes" if self.random.random() < 0.2 else ""
        kinds = f"{spell(pointers)}, {spell(offsets)}"
        self.emit(pointers, f"nv_tileaa.addptr {names}{bytes} : {kinds}")

    def nested(self, arguments: dict[str, Kind], wanted: Kind, steps: int) -> list[str]:
        """The lines of a region that yields a value."""
        lines, pool = self.lines, {kind: [*names] for kind, names in self.pool.items()}
        self.lines = []
        self.depth += 1
        for name, kind in arguments.items():
            self.pool.setdefault(kind, []).append(name)
        for _ in range(steps):
            self.step()
        self.lines.append(f"scf.yield {self.any(wanted)} : {spell(wanted)}")
        inside, self.lines, self.pool = self.lines, lines, pool
        self.depth -= 1
        return inside

    def loop(self) -> None:
        kind = self.kind("i8", "i32", "ptr")
        start = self.any(kind)
        bounds = [self.any(((), "i32")), self.any(((), "i32")), self.fresh(((), "i32"))]
        index, carried, result = self.name(), self.name(), self.name()
        body = self.nested({index: ((), "i32"), carried: kind}, kind, 4)
        head = f"{index} = {bounds[0]} to {bounds[1]} step {bounds[2]}"
        self.lines.append(
            f"{result} = scf.for {head} iter_args({carried} = {start}) -> ({spell(kind)}) : i32 {{"
        )
        self.lines += [*body, "}"]
        self.pool.setdefault(kind, []).append(result)

    def branch(self) -> None:
        kind = self.kind("i8", "i32", "ptr")
        condition, result = self.any(((), "i1")), self.name()
        then, other = self.nested({}, kind, 2), self.nested({}, kind, 2)
        self.lines += [f"{result} = scf.if {condition} -> ({spell(kind)}) {{", *then]
        self.lines += ["} else {", *other, "}"]
        self.pool.setdefault(kind, []).append(result)

    def repeat(self) -> None:
        """A loop that runs while a number is small."""
        kind, counter = self.kind("i8", "i32", "ptr"), ((), "i32")
        start, first, bound = self.any(kind), self.any(counter), self.any(counter)
        number, carried, going, result, spare = (self.name() for _ in range(5))
        inner, moved, one = (self.name() for _ in range(3))
        body = self.nested({inner: counter, moved: kind}, kind, 3)
        types = f"i32, {spell(kind)}"
        *body, end = body
        value = end.split()[1]
        self.lines += [
            f"{result}, {spare} = scf.while ({number} = {first}, {carried} = {start}) : "
            f"({types}) -> ({types}) {{",
            f"{going} = nv_tileaa.cmpi slt, {number}, {bound} : i32",
            f"scf.condition({going}) {number}, {carried} : {types}",
            "} do {",
            f"^bb0({inner}: i32, {moved}: {spell(kind)}):",
            *body,
            f"{one} = arith.constant 3 : i32",
            f"{one}n = nv_tileaa.addi {inner}, {one} : i32",
            f"scf.yield {one}n, {value} : {types}",
            "}",
        ]
        self.pool.setdefault(kind, []).append(spare)
        self.pool.setdefault(counter, []).append(result)

    def program(self, steps: int) -> str:
        """A whole function."""
        for name, element in ARGUMENTS:
            self.pool[(), element] = [*self.pool.get(((), element), []), name]
        self.emit(((), "i32"), "nv_tileaa.assume #nv_tileaa.div_by<16>, %a2 : i32")
        self.emit(((), "i32"), "nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %a3 : i32")
        pointer = spell(((), "ptr"))
        self.emit(((), "ptr"), f"nv_tileaa.assume #nv_tileaa.div_by<8>, %p : {pointer}")
        self.pool[(), "ptr"].reverse()
        for _ in range(steps):
            self.step()
        arguments = ", ".join(f"{name}: {spell(((), element))}" for name, element in ARGUMENTS)
        body = "\n".join(self.lines)
        return f"nv_tileaa.func @f({arguments}) {{\n{body}\nnv_tileaa.return\n}}\n"


def random_program(random: Random, steps: int = 24) -> str:
    """The text of a program."""
    return Writer(random).program(steps)


def random_arguments(random: Random) -> list[int]:
    """Arguments that satisfy all assumptions."""
    return [
        random.choice((0, 1, 127, 128, 255, random.randrange(256))),
        random.randrange(256),
        random.choice((0, 16, 1 << 31, (1 << 32) - 16, random.randrange(1 << 28) * 16)),
        random.choice((0, 1, 5, 100, (1 << 31) - 1, random.randrange(1 << 31))),
        random.randrange(1 << 61) * 8,
    ]
