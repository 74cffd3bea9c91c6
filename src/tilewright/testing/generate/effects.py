"""Prints, and assertions and assumptions that hold."""

from __future__ import annotations

from typing import Final

from tilewright.testing.generate.elements import INTEGERS
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import Facts, Tile, Value


def print_values(k: Kernel) -> None:
    """`print_tko` of a line with a few integers."""
    if not k.scope.runs_once:
        return
    value = k.find(lambda v: v.tile.element in ("i8", "i16", "i32", "i64") and v.tile.elements <= 8)
    value = value if value is not None else k.block
    letter = "lld" if value.tile.element == "i64" else "d"
    token = " token=" + k.emit("make_token : token")[0] if k.chance(0.5) else ""
    k.prints += 1
    message = f'"block %d, print {k.prints}: %{letter}\\0A"'
    text = f"print_tko {message}, {k.block.name}, {value.name}{token}"
    k.emit(f"{text} : tile<i32>, {value.tile} -> token")


def assert_bound(k: Kernel) -> None:
    """`assert` of a known bound."""
    a = k.any_of(*INTEGERS[1:])
    low = k.constant(a.tile, (int(a.facts.low or 0),))
    flag = a.tile.of("i1")
    text = f"cmpi greater_than_or_equal {a.name}, {low.name}, signed : {a.tile} -> {flag}"
    holds = k.define(text, flag, Facts(-1, 0, True))
    k.line(f'assert {holds.name}, "too small" : {flag}')


def assume(k: Kernel) -> None:
    """`assume` of bounds, of divisibility, and of elements that are the same."""
    match k.random.choice(("bounded", "div_by", "same", "every", "pointer")):
        case "bounded":
            a = k.any_of(*INTEGERS[1:])
            low = str(int(a.facts.low or 0)) if k.chance(0.8) else "?"
            high = str(int(a.facts.high or 0)) if k.chance(0.8) else "?"
            k.define(f"assume bounded<{low}, {high}>, {a.name} : {a.tile}", a.tile, a.facts)
        case "div_by":
            _divisible(k)
        case "same":
            _same(k)
        case "pointer":
            _aligned(k)
        case _:
            _rising(k)


def _divisible(k: Kernel) -> None:
    tile = Tile("i32", k.shape())
    a, amount = k.operand(tile), k.random.randint(0, 5)
    shift = k.constant(tile, (amount,))
    (shifted,) = k.emit(f"shli {a.name}, {shift.name} : {tile}")
    facts = Facts(tile.kind.low, tile.kind.high, True)
    k.define(f"assume div_by<{1 << amount}>, {shifted} : {tile}", tile, facts)


def _aligned(k: Kernel) -> None:
    """Assume the alignment of pointers."""
    element = k.element("i16", "i32", "i64", "f32", "f64")
    tile = Tile(element, k.shape())
    source = k.argument("in", element, tile.elements, "small")
    pointers = k.addresses(f"%{source.name}", tile)
    (known,) = k.emit(f"assume div_by<{tile.kind.storage // 8}>, {pointers} : {tile.pointers}")
    name, _ = k.emit(f"load_ptr_tko weak {known} : {tile.pointers} -> {tile}, token", 2)
    k.scope.values.append(Value(name, tile, source.facts()))


def _same(k: Kernel) -> None:
    scalar = k.find(lambda v: v.tile == Tile("i32")) or k.block
    shape = k.shape() or (4,)
    name = k.spread(scalar.name, "tile<i32>", shape, "i32")
    tile = Tile("i32", shape)
    sizes = ", ".join(str(k.random.choice((1, extent))) for extent in shape)
    k.define(f"assume same_elements<[{sizes}]>, {name} : {tile}", tile, scalar.facts)


def _rising(k: Kernel) -> None:
    tile = Tile("i32", (1 << k.random.randint(1, 6),))
    (name,) = k.emit(f"iota : {tile}")
    every = 1 << k.random.randint(0, tile.elements.bit_length() - 1)
    text = f"assume div_by<{every}, every {every} along 0>, {name} : {tile}"
    k.scope.values.append(Value(k.emit(text)[0], tile, Facts(0, tile.elements - 1, True)))


STATEMENTS: Final = (print_values, assert_bound, assume)
