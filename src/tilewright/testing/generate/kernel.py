"""The kernel under construction: its lines, its arguments, and its scopes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from tilewright.testing.compare import EXACT, Tolerance
from tilewright.testing.generate.elements import ELEMENTS, PROFILES, SCALARS
from tilewright.testing.generate.inputs import Contents, Input
from tilewright.testing.generate.values import Facts, Shape, Tile, Value

I32: Final = Tile("i32")
I1: Final = Tile("i1")
MAX_ELEMENTS: Final = 1 << 14
DENSE: Final = 64
"""The maximum number of elements of a constant that is not a splat."""


class Options(NamedTuple):
    """The kind of program to generate."""

    size: int = 12
    """The approximate number of statements."""
    profile: str = "sm_90"
    unfolded: bool = False
    """Whether constants are arguments."""


class Result(NamedTuple):
    """An array that the kernel changes, and how its elements are compared."""

    name: str
    element: str
    tolerance: Tolerance = EXACT


@dataclass
class Chain:
    """The order of accesses to one buffer: the last write, and the reads since."""

    written: str
    read: list[str] = field(default_factory=list[str])


@dataclass
class Buffer:
    """Memory that one block reads and writes, in the order of its tokens."""

    name: str
    element: str
    count: int


@dataclass
class Scope:
    """The values and buffers in scope."""

    values: list[Value]
    chains: dict[str, Chain]
    exits: list[Callable[[], None]]
    """Each emits an operation that exits a branch early."""
    runs_once: bool = True
    """Whether it runs at most once per block."""
    may_return: bool = True
    outer: Scope | None = None


class Kernel:
    """Builds one kernel. The random choices do not depend on whether constants are arguments."""

    def __init__(self, seed: int, options: Options) -> None:
        self.random = Random(seed)
        self.large = Random(seed)
        """Of tensors with coordinates near 2**31 and 2**32."""
        self.options = options
        self.elements = PROFILES[options.profile]
        self.lines: list[str] = []
        self.globals: list[str] = []
        self.inputs: list[Input] = []
        self.results: list[Result] = []
        self.buffers: dict[str, Buffer] = {}
        self.prints = 0
        self.constants: set[str] = set()
        self.nesting = 0
        self.grid = (self.random.choice((1, 1, 2, 3)), self.random.choice((1, 1, 2)), 1)
        self.blocks = self.grid[0] * self.grid[1]
        self.scope = Scope([], {}, [])
        self._names = 0
        self.shapes = [self._random_shape() for _ in range(3)]
        self.block = self._block_number()

    def _random_shape(self) -> Shape:
        """Mostly small; sometimes as large as a matmul tile."""
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3, 4))
        most = self.random.choice((64, 64, 256, 256, 1024, MAX_ELEMENTS))
        extents: list[int] = []
        for _ in range(rank):
            extent = 1 << self.random.randint(0, 7)
            while extent > most:
                extent //= 2
            most //= extent
            extents.append(extent)
        self.random.shuffle(extents)
        return tuple(extents)

    def shape(self) -> Shape:
        """One of the few shapes of this kernel's tiles."""
        return self.random.choice((*self.shapes, ()))

    def element(self, *names: str) -> str:
        """A random element type that the target supports."""
        return self.random.choice([name for name in names if name in self.elements])

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("  " * (self.nesting + 2) + text)

    def name(self) -> str:
        """A fresh SSA name."""
        self._names += 1
        return f"%v{self._names}"

    def emit(self, text: str, results: int = 1) -> tuple[str, ...]:
        """Emit an operation; return the names of its results."""
        names = tuple(self.name() for _ in range(results))
        self.line(f"{', '.join(names)} = {text}" if names else text)
        return names

    def define(self, text: str, tile: Tile, facts: Facts) -> Value:
        """Emit an operation with one result, and add it to the scope."""
        value = Value(self.emit(text)[0], tile, facts)
        self.scope.values.append(value)
        return value

    def chance(self, share: float) -> bool:
        """True with a probability."""
        return self.random.random() < share

    @contextmanager
    def region(self, scope: Scope) -> Generator[Scope]:
        """Emit lines of a region with its own scope."""
        outer, self.scope = self.scope, scope
        self.nesting += 1
        yield scope
        self.nesting -= 1
        self.scope = outer

    def find(self, wanted: Callable[[Value], bool]) -> Value | None:
        """A random value in scope that satisfies a predicate, preferably a recent one."""
        matching = [value for value in self.scope.values if wanted(value)]
        if not matching:
            return None
        return self.random.choice(matching[-4:] if self.chance(0.7) else matching)

    def operand(self, tile: Tile) -> Value:
        """A value of a type: an existing or a new one."""
        value = self.find(lambda value: value.tile == tile)
        return value if value is not None and self.chance(0.85) else self.fresh(tile)

    def any_of(self, *elements: str, rank: int = 0, least: int = 0) -> Value:
        """A value of one of some element types."""
        allowed = [name for name in elements if name in self.elements]
        value = self.find(lambda v: v.tile.element in allowed and len(v.tile.shape) >= rank
                          and v.tile.elements >= least)  # fmt: skip
        if value is not None and self.chance(0.85):
            return value
        shape = self.shape()
        while len(shape) < rank or Tile("i8", shape).elements < least:
            shape = (*shape, 2)
        element = self.random.choice(allowed)
        if element == "f4E2M1FN" and Tile(element, shape).elements < 2:
            shape = (*shape, 2)
        return self.fresh(Tile(element, shape))

    def fresh(self, tile: Tile) -> Value:
        """A new value: loaded, or a constant."""
        if tile.element == "i4":
            return self._fresh_i4(tile)
        if tile.element == "f4E2M1FN" or self.chance(0.3):
            return self.constant(tile, self.numbers(tile))
        return self.load_input(tile, self.contents(tile.element))

    def _fresh_i4(self, tile: Tile) -> Value:
        source = self.fresh(tile.of("i8"))
        text = f"trunci {source.name} : {source.tile} -> {tile}"
        return self.define(text, tile, Facts(-8, 7, True))

    def contents(self, element: str) -> str:
        """Random contents of an input array of a type."""
        kind = ELEMENTS[element]
        if element == "f8E8M0FNU":
            return "powers"
        if kind.name in ("f16", "bf16", "f32", "f64") and self.chance(0.1):
            return "special"
        return self.random.choice(("small", "random"))

    def numbers(self, tile: Tile) -> tuple[float, ...]:
        """Random numbers for a constant: one for a splat, or one per element."""
        kind, random = tile.kind, self.random
        is_dense = 1 < tile.elements <= DENSE and self.chance(0.4)
        count = tile.elements if is_dense else 1
        if kind.name == "i1":
            return tuple(random.randint(0, 1) for _ in range(count))
        if not kind.is_float:
            edges = (kind.low, kind.high, -1)
            return tuple(
                random.choice(edges) if self.chance(0.1) else random.randint(-8, 8)
                for _ in range(count)
            )
        if kind.name == "f8E8M0FNU":
            return tuple(random.choice((0.5, 1.0, 2.0, 4.0)) for _ in range(count))
        low = -6 if kind.is_signed else 0
        fine = (0.5, 1.0) if kind.bits == 4 else (0.25, 0.5, 1.0)
        scale = random.choice(fine)
        limit = 2 if kind.bits == 4 else 6
        return tuple(random.randint(max(low, -limit), limit) * scale for _ in range(count))

    def constant(self, tile: Tile, numbers: Sequence[float]) -> Value:
        """A constant, or an argument with the same numbers."""
        contents = tuple(numbers)
        facts = Input("", tile.element, len(contents), contents).facts()
        if not self.options.unfolded or tile.element == "f4E2M1FN":
            text = f"constant <{tile.element}: {_literal(tile, contents)}> : {tile}"
            (name,) = self.emit(text)
        else:
            name = self._passed(tile, contents)
        value = Value(name, tile, facts)
        self.constants.add(name)
        self.scope.values.append(value)
        return value

    def _passed(self, tile: Tile, contents: tuple[float, ...]) -> str:
        """The numbers of a constant, as arguments."""
        is_splat = len(contents) == 1
        is_number = is_splat and tile.element in SCALARS
        source = Input(self._argument_name("c"), tile.element, len(contents), contents,
                       number=is_number)  # fmt: skip
        self.inputs.append(source)
        if not is_splat:
            return self.load(source, tile)
        scalar = f"%{source.name}" if is_number else self.load(source, tile.shaped())
        return self.spread(scalar, str(tile.shaped()), tile.shape, tile.element)

    def spread(self, name: str, scalar_type: str, shape: Shape, element: str) -> str:
        """Broadcast a scalar to a shape."""
        if not shape:
            return name
        ones = f"tile<{'1x' * len(shape)}{element}>"
        (name,) = self.emit(f"reshape {name} : {scalar_type} -> {ones}")
        if all(extent == 1 for extent in shape):
            return name
        wide = f"tile<{''.join(f'{extent}x' for extent in shape)}{element}>"
        return self.emit(f"broadcast {name} : {ones} -> {wide}")[0]

    def int_constant(self, number: int, element: str = "i32") -> Value:
        """A scalar integer."""
        return self.constant(Tile(element), (number,))

    def below(self, bound: int, element: str = "i32") -> Value:
        """A scalar index below a power of two: a constant, or computed."""
        tile = Tile(element)
        other = self.find(lambda value: value.tile == tile)
        if other is None or self.chance(0.5):
            return self.int_constant(self.random.randrange(bound), element)
        mask = self.int_constant(bound - 1, element)
        return self.define(f"andi {other.name}, {mask.name} : {tile}", tile,
                           Facts(0, bound - 1, True))  # fmt: skip

    def _argument_name(self, prefix: str) -> str:
        return f"{prefix}{len(self.inputs)}"

    def argument(self, prefix: str, element: str, count: int, contents: Contents) -> Input:
        """Add an array argument."""
        made = Input(self._argument_name(prefix), element, count, contents,
                     self.random.randrange(1 << 30))  # fmt: skip
        self.inputs.append(made)
        return made

    def load_input(self, tile: Tile, contents: Contents) -> Value:
        """Load a new read-only array."""
        source = self.argument("in", tile.element, tile.elements, contents)
        value = Value(self.load(source, tile), tile, source.facts())
        self.scope.values.append(value)
        return value

    def load(self, source: Input, tile: Tile) -> str:
        """Load all elements of an array as a tile."""
        pointers = self.addresses(f"%{source.name}", tile)
        text = f"load_ptr_tko weak {pointers} : {tile.pointers} -> {tile}, token"
        return self.emit(text, 2)[0]

    def addresses(self, base: str, tile: Tile) -> str:
        """Pointers to the elements of a row-major tile at a pointer."""
        if not tile.shape:
            return base
        spread = self.spread(base, Tile(tile.element).pointers, tile.shape, f"ptr<{tile.element}>")
        return self.emit(
            f"offset {spread}, {self.linear(tile.shape)} : {tile.pointers}, "
            f"{tile.of('i32')} -> {tile.pointers}"
        )[0]

    def linear(self, shape: Shape) -> str:
        """The linear index of each element of a shape, row-major."""
        flat = Tile("i32", (Tile("i32", shape).elements,))
        (name,) = self.emit(f"iota : {flat}")
        if flat.shape == shape:
            return name
        return self.emit(f"reshape {name} : {flat} -> {flat.shaped(*shape)}")[0]

    def own_part(self, array: Input, count: int) -> str:
        """A pointer to this block's part of an array."""
        scale = self.int_constant(count)
        (start,) = self.emit(f"muli {self.block.name}, {scale.name} : {I32}")
        pointer = Tile(array.element).pointers
        return self.emit(f"offset %{array.name}, {start} : {pointer}, {I32} -> {pointer}")[0]

    def output(self, value: Value, tolerance: Tolerance = EXACT) -> None:
        """Store a value to an array of its own, in this block's part."""
        tile = value.tile
        if tile.element == "i4":
            tile = tile.of("i8")
            value = self.define(f"exti {value.name} signed : {value.tile} -> {tile}", tile,
                                value.facts)  # fmt: skip
        if tile.element == "f4E2M1FN":
            tile = tile.of("f16")
            value = self.define(f"ftof {value.name} : {value.tile} -> {tile}", tile, value.facts)
        array = self.argument("out", tile.element, tile.elements * self.blocks, "zeros")
        self.results.append(Result(array.name, tile.element, tolerance))
        pointers = self.addresses(self.own_part(array, tile.elements), tile)
        ordering = self.random.choice(("weak", "weak", "relaxed device", "release sys"))
        self.emit(
            f"store_ptr_tko {ordering} {pointers}, {value.name} : {tile.pointers}, {tile} -> token"
        )

    def _block_number(self) -> Value:
        """The linear index of this block."""
        x, y, z = self.emit(f"get_tile_block_id : {I32}", 3)
        width, height, _ = self.emit(f"get_num_tile_blocks : {I32}", 3)
        facts = (Facts(0, extent - 1, True) for extent in self.grid)
        ids = [Value(name, I32, fact) for name, fact in zip((x, y, z), facts, strict=True)]
        self.scope.values += ids
        (plane,) = self.emit(f"muli {z}, {height} : {I32}")
        (row,) = self.emit(f"addi {plane}, {y} : {I32}")
        (start,) = self.emit(f"muli {row}, {width} : {I32}")
        facts = Facts(0, self.blocks - 1, True)
        return self.define(f"addi {start}, {x} : {I32}", I32, facts)


def _literal(tile: Tile, numbers: Sequence[float]) -> str:
    if len(numbers) == 1:
        return _number(tile, numbers[0])
    return _nested([_number(tile, number) for number in numbers], tile.shape)


def _nested(texts: list[str], shape: Shape) -> str:
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0]
    rows = [_nested(texts[at : at + step], shape[1:]) for at in range(0, len(texts), step)]
    return f"[{', '.join(rows)}]"


def _number(tile: Tile, number: float) -> str:
    if tile.element == "i1":
        return "true" if number else "false"
    return f"{number:.17e}" if tile.is_float else str(int(number))
