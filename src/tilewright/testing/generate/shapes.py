"""Statements on shapes, slices, packing, reductions and scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tilewright.testing.generate.elements import BASE_FLOATS, ELEMENTS, INTEGERS
from tilewright.testing.generate.kernel import MAX_ELEMENTS, Kernel
from tilewright.testing.generate.values import Facts, Tile, Value, float_facts, full, integer_facts


def _anything(k: Kernel, rank: int = 0) -> Value:
    value = k.find(lambda v: len(v.tile.shape) >= rank)
    if value is not None and k.chance(0.8):
        return value
    shape = k.shape()
    while len(shape) < rank:
        shape = (*shape, 2)
    names = sorted(k.elements - {"f4E2M1FN", "i4"})
    if k.chance(0.2) and Tile("i8", shape).elements > 1:
        names = sorted(k.elements & {"f4E2M1FN", "i4"})
    return k.fresh(Tile(k.random.choice(names), shape))


def _rearrange(k: Kernel, text: str, source: Value, shape: Sequence[int]) -> None:
    tile = source.tile.shaped(*shape)
    k.define(f"{text} : {source.tile} -> {tile}", tile, source.facts)


def reshape(k: Kernel) -> None:
    """`reshape` to any split of the same number of elements."""
    a = _anything(k)
    left, extents = a.tile.elements, list[int]()
    for _ in range(k.random.randint(0, 3)):
        extent = min(1 << k.random.randint(0, 4), left)
        extents.append(extent)
        left //= extent
    if left > 1 or not extents:
        extents.append(left)
    if a.tile.elements == 1 and a.tile.element != "f4E2M1FN":
        extents = [1] * k.random.randint(0, 3)
    _rearrange(k, f"reshape {a.name}", a, extents)


def broadcast(k: Kernel) -> None:
    """`broadcast` along dimensions of extent one."""
    a = k.find(lambda v: 1 in v.tile.shape and v.tile.element != "f4E2M1FN")
    if a is None:
        scalar = k.find(lambda v: not v.tile.shape)
        scalar = scalar if scalar is not None else k.block
        tile = scalar.tile.shaped(*[1] * k.random.randint(1, 3))
        a = k.define(f"reshape {scalar.name} : {scalar.tile} -> {tile}", tile, scalar.facts)
    budget = MAX_ELEMENTS // a.tile.elements
    shape: list[int] = []
    for extent in a.tile.shape:
        wide = min(1 << k.random.randint(0, 4), budget) if extent == 1 else 1
        budget //= wide
        shape.append(extent * wide)
    _rearrange(k, f"broadcast {a.name}", a, shape)


def permute(k: Kernel) -> None:
    """`permute` of two dimensions or more."""
    a = _anything(k, rank=2)
    order = list(range(len(a.tile.shape)))
    k.random.shuffle(order)
    _rearrange(k, f"permute {a.name} {order}", a, [a.tile.shape[dim] for dim in order])


def concatenate(k: Kernel) -> None:
    """`cat` of two tiles of one type."""
    a = _anything(k, rank=1)
    if 2 * a.tile.elements > MAX_ELEMENTS:
        return
    b, dim = k.operand(a.tile), k.random.randrange(len(a.tile.shape))
    shape = [extent * 2 if at == dim else extent for at, extent in enumerate(a.tile.shape)]
    tile = a.tile.shaped(*shape)
    text = f"cat {a.name}, {b.name} dim = {dim} : {a.tile}, {b.tile} -> {tile}"
    k.define(text, tile, a.facts.union(b.facts))


def _part(k: Kernel, whole: Tile) -> tuple[Tile, str]:
    """The type of a slice of a tile, and the indices of one."""
    shape = [extent >> k.random.randint(0, extent.bit_length() - 1) for extent in whole.shape]
    if whole.element == "f4E2M1FN":
        shape[-1] = max(shape[-1], 2)
    parts = [a // b for a, b in zip(whole.shape, shape, strict=True)]
    return whole.shaped(*shape), ", ".join(k.below(count).name for count in parts)


def extract(k: Kernel) -> None:
    """`extract` of a slice."""
    a = _anything(k, rank=1)
    if a.tile.element == "f4E2M1FN" and a.tile.shape[-1] < 2:
        return
    tile, indices = _part(k, a.tile)
    k.define(f"extract {a.name}[{indices}] : {a.tile} -> {tile}", tile, a.facts)


def insert(k: Kernel) -> None:
    """`insert` of a slice."""
    a = _anything(k, rank=1)
    if a.tile.element == "f4E2M1FN" and a.tile.shape[-1] < 2:
        return
    tile, indices = _part(k, a.tile)
    b = k.operand(tile)
    text = f"insert {b.name}, {a.name}[{indices}] : {b.tile}, {a.tile}"
    k.define(text, a.tile, a.facts.union(b.facts))


def iota(k: Kernel) -> None:
    """`iota` in range of the type."""
    element = k.element(*INTEGERS)
    kind = ELEMENTS[element]
    tile = Tile(element, (1 << k.random.randint(0, min(kind.bits, 8)),))
    k.define(f"iota : {tile}", tile, integer_facts(0, tile.elements - 1, kind))


def pack(k: Kernel) -> None:
    """`pack` of non-NaNs, and `unpack` of any bytes."""
    if k.chance(0.5):
        a = k.find(lambda v: len(v.tile.shape) == 1 and v.tile.kind.bits != 8
                   and v.tile.elements * v.tile.kind.storage >= 8 and v.facts.low is not None
                   and v.tile.element != "tf32")  # fmt: skip
        a = a if a is not None else k.fresh(Tile("i32", (8,)))
        tile = Tile("i8", (a.tile.elements * a.tile.kind.storage // 8,))
        k.define(f"pack {a.name} : {a.tile} -> {tile}", tile, full(tile.kind))
        return
    a = k.operand(Tile("i8", (k.random.choice((8, 16, 64)),)))
    names = sorted(name for name in k.elements if ELEMENTS[name].bits != 8 and name != "tf32")
    element = k.random.choice(names)
    tile = Tile(element, (a.tile.elements * 8 // ELEMENTS[element].bits,))
    facts = Facts(-6.0, 6.0) if element == "f4E2M1FN" else full(tile.kind)
    k.define(f"unpack {a.name} : {a.tile} -> {tile}", tile, facts)


class Fold(NamedTuple):
    """A body that is associative and commutative, and its identity."""

    op: str
    identity: str
    sign: str = ""


def _integer_folds(element: str) -> list[Fold]:
    kind = ELEMENTS[element]
    if element == "i1":
        return [Fold("andi", "true"), Fold("ori", "false"), Fold("xori", "false")]
    unsigned = (1 << kind.bits) - 1
    top = -1 if element == "i64" else unsigned
    return [
        Fold("addi", f"0 : {element}"), Fold("muli", f"1 : {element}"),
        Fold("andi", f"-1 : {element}"), Fold("ori", f"0 : {element}"),
        Fold("xori", f"0 : {element}"), Fold("maxi", f"{kind.low} : {element}", " signed"),
        Fold("mini", f"{kind.high} : {element}", " signed"),
        Fold("maxi", f"0 : {element}", " unsigned"),
        Fold("mini", f"{top} : {element}", " unsigned"),
    ]  # fmt: skip


_INFINITY: Final = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F80_0000, "f64": 0x7FF0 << 48}


def _float_folds(element: str) -> list[Fold]:
    kind = ELEMENTS[element]
    minus = _INFINITY[element] | 1 << (kind.bits - 1)
    return [
        Fold("addf", f"0.0 : {element}"),
        Fold("maxf", f"0x{minus:X} : {element}"),
        Fold("minf", f"0x{_INFINITY[element]:X} : {element}"),
        Fold("maxf", f"0x{minus:X} : {element}", " propagate_nan"),
    ]


def aggregate(k: Kernel) -> None:
    """`reduce` and `scan` with bit-identical results in every order."""
    a = k.any_of(*INTEGERS, *BASE_FLOATS, rank=1)
    folds = _float_folds(a.tile.element) if a.tile.is_float else _integer_folds(a.tile.element)
    fold, dim = k.random.choice(folds), k.random.randrange(len(a.tile.shape))
    facts = a.facts
    if fold.op == "addf":
        a = _summable(k, a, dim)
        facts = _sum_facts(a, dim)
    elif fold.op not in ("maxi", "mini", "maxf", "minf"):
        facts = full(a.tile.kind)
    scalar = Tile(a.tile.element)
    step = f"%r = {fold.op} %a, %b{fold.sign} : {scalar}"
    if fold.op == "maxi" and k.chance(0.5):
        step = (
            f"%more = cmpi greater_than %a, %b,{fold.sign} : {scalar} -> tile<i1> "
            f"%r = if %more -> ({scalar}) {{ yield %a : {scalar} }} else {{ yield %b : {scalar} }}"
        )
    body = f"(%a: {scalar}, %b: {scalar}) {{ {step} yield %r : {scalar} }}"
    _fold(k, a, dim, fold.identity, body, facts)


def _fold(k: Kernel, a: Value, dim: int, identity: str, body: str, facts: Facts) -> None:
    if k.chance(0.4):
        reverse = k.random.choice(("true", "false"))
        text = f"scan {a.name} dim={dim} reverse={reverse} identities=[{identity}]"
        k.define(f"{text} : {a.tile} -> {a.tile} {body}", a.tile, facts)
        return
    tile = a.tile.shaped(*a.tile.shape[:dim], *a.tile.shape[dim + 1 :])
    text = f"reduce {a.name} dim={dim} identities=[{identity}]"
    k.define(f"{text} : {a.tile} -> {tile} {body}", tile, facts)


def _summable(k: Kernel, a: Value, dim: int) -> Value:
    """A tile of integers so small that their sum is exact."""
    most = a.facts.magnitude * a.tile.shape[dim]
    if a.facts.is_whole and most <= 2.0**a.tile.kind.precision:
        return a
    limit = 2.0**a.tile.kind.precision
    contents = "small" if 4 * a.tile.shape[dim] <= limit else "signs"
    return k.load_input(a.tile, contents)


def _sum_facts(a: Value, dim: int) -> Facts:
    most = a.facts.magnitude * a.tile.shape[dim]
    return float_facts(-most, most, True, a.tile.kind)


def arg_extremum(k: Kernel) -> None:
    """Arg-max: the largest element and its index; of equal ones, the first."""
    a = k.any_of(*INTEGERS[1:], rank=1)
    dim = k.random.randrange(len(a.tile.shape))
    at, scalar, index = a.tile.of("i32"), Tile(a.tile.element), Tile("i32")
    indices = k.operand(at)
    tile, index_tile = (t.shaped(*t.shape[:dim], *t.shape[dim + 1 :]) for t in (a.tile, at))
    flag = Tile("i1")
    identities = f"[{a.tile.kind.low} : {scalar.element}, {index.kind.high} : i32]"
    names = k.emit(
        f"reduce {a.name}, {indices.name} dim={dim} identities={identities} "
        f": {a.tile}, {at} -> {tile}, {index_tile} "
        f"(%a: {scalar}, %b: {scalar}, %i: {index}, %j: {index}) {{ "
        f"%more = cmpi greater_than %a, %b, signed : {scalar} -> {flag} "
        f"%same = cmpi equal %a, %b, signed : {scalar} -> {flag} "
        f"%early = cmpi less_than %i, %j, signed : {index} -> {flag} "
        f"%tie = andi %same, %early : {flag} %take = ori %more, %tie : {flag} "
        f"%v = select %take, %a, %b : {flag}, {scalar} "
        f"%w = select %take, %i, %j : {flag}, {index} "
        f"yield %v, %w : {scalar}, {index} }}", 2,
    )  # fmt: skip
    k.scope.values += [Value(names[0], tile, a.facts), Value(names[1], index_tile, indices.facts)]


STATEMENTS: Final = (
    reshape, broadcast, permute, concatenate, extract, insert, iota, pack, pack, aggregate,
    aggregate, arg_extremum,
)  # fmt: skip
