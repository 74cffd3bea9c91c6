"""Statements on memory by views: partitions, strides, gathers and scatters, also out of bounds."""

from __future__ import annotations

from typing import Final, NamedTuple

from tilewright.testing.generate.elements import BASE_FLOATS, ELEMENTS
from tilewright.testing.generate.kernel import Kernel, Result
from tilewright.testing.generate.memory import LOADS, MODES, STORES, atomic_element
from tilewright.testing.generate.values import UNKNOWN, Facts, Tile, Value

PADDINGS: Final = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")
HINTS: Final = ("", "", " optimization_hints = <sm_90 = {allow_tma = false}>",
                " optimization_hints = <default = {latency = 2}>")  # fmt: skip
LARGE: Final = 0.12
"""The share of tensors with coordinates near a limit."""
LIMITS: Final = (1 << 30, 1 << 31, 1 << 32, 1 << 33)
LARGEST_TILE: Final = 64
"""Of tiles along a dimension."""


class View(NamedTuple):
    """A view and the indices of one tile."""

    name: str
    type: str
    tile: Tile
    padding: str
    indices: str
    index_types: str
    inbounds: tuple[bool, ...]


class Tensor(NamedTuple):
    """A tensor in memory."""

    name: str
    type: str
    element: str
    shape: tuple[int, ...]
    """The extents of its memory."""
    skipped: tuple[int, ...]
    """Elements along each dimension before those in memory."""


def _skipped(k: Kernel, element: str, rank: int) -> tuple[int, ...]:
    """No elements, or along one dimension as many as bring a limit near."""
    skipped = [0] * rank
    # Drawn from numbers of their own, so that the rest of a program stays as it is without them.
    if k.large.random() < LARGE and element != "f4E2M1FN":
        before = LARGEST_TILE * k.large.randrange(2)
        skipped[k.large.randrange(rank)] = k.large.choice(LIMITS) - before
    return tuple(skipped)


def _tensor(
    k: Kernel, base: str, element: str, shape: tuple[int, ...], *, may_be_large: bool = True
) -> Tensor:
    """A dense tensor at a pointer; some extents and strides are dynamic.

    A large one starts as far before the pointer as elements are skipped.
    """
    strides, step, order = [1] * len(shape), 1, list(range(len(shape)))
    if element != "f4E2M1FN" and k.chance(0.25):
        k.random.shuffle(order)
    for dim in reversed(order):
        strides[dim] = step
        step *= shape[dim]
    skipped = _skipped(k, element, len(shape)) if may_be_large else (0,) * len(shape)
    sizes = [before + n for before, n in zip(skipped, shape, strict=True)]
    index = k.element("i32", "i64")
    index = "i64" if max(sizes) >> 32 else index
    kept = [k.chance(0.6) or element == "f4E2M1FN" for _ in shape]
    # A stride of one, which makes rows contiguous, stays static.
    fixed = [stride == 1 or k.chance(0.6) for stride in strides]
    extents = [str(n) if keep else _unsigned(k, n, index)
               for n, keep in zip(sizes, kept, strict=True)]  # fmt: skip
    steps = [str(n) if keep else k.int_constant(n, index).name
             for n, keep in zip(strides, fixed, strict=True)]  # fmt: skip
    spelled = "x".join(str(n) if keep else "?" for n, keep in zip(sizes, kept, strict=True))
    spaced = ",".join(str(n) if keep else "?" for n, keep in zip(strides, fixed, strict=True))
    type = f"tensor_view<{spelled}x{element}, strides=[{spaced}]>"
    dynamic = "" if all((*kept, *fixed)) else f"tile<{index}> -> "
    if any(skipped):
        distance = sum([before * n for before, n in zip(skipped, strides, strict=True)])
        start, pointer = k.int_constant(-distance, "i64"), f"tile<ptr<{element}>>"
        (base,) = k.emit(f"offset {base}, {start.name} : {pointer}, tile<i64> -> {pointer}")
    made = f"shape = [{', '.join(extents)}], strides = [{', '.join(steps)}]"
    (name,) = k.emit(f"make_tensor_view {base}, {made} : {dynamic}{type}")
    if k.chance(0.15) and element != "f4E2M1FN":
        bytes = max(ELEMENTS[element].storage // 8, 1)
        (name,) = k.emit(f"assume div_by<{bytes}>, {name} : {type}")
    if k.chance(0.2) and not any(skipped):
        names = k.emit(f"get_tensor_shape {name} : {type} -> tile<{index}>", len(shape))
        k.scope.values += [Value(name, Tile(index), Facts(n, n, True))
                           for name, n in zip(names, shape, strict=True)]  # fmt: skip
    return Tensor(name, type, element, shape, skipped)


def _unsigned(k: Kernel, number: int, element: str) -> str:
    """The name of an unsigned integer."""
    bits = ELEMENTS[element].bits
    return k.int_constant(number - (1 << bits) if number >> (bits - 1) else number, element).name


def _random_shape(k: Kernel, element: str) -> tuple[int, ...]:
    rank = k.random.choice((1, 1, 2, 2, 3))
    most = (300, 100, 20) if k.chance(0.15) else (40, 24, 9)
    shape = [k.random.randint(1, most[rank - 1]) for _ in range(rank)]
    if element == "f4E2M1FN":
        shape[-1] = 2 * (shape[-1] // 2 + 1)
    return tuple(shape)


def _view(k: Kernel, tensor: Tensor, *, padded: bool) -> View:
    """A partition or strided view, and the indices of one of its tiles."""
    rank = len(tensor.shape)
    most = 4 if rank < 3 else 2
    if max(tensor.shape) > 40:
        most += 2
    tile_shape = [1 << k.random.randint(0, most) for _ in range(rank)]
    order = list(range(rank))
    if k.chance(0.3):
        k.random.shuffle(order)
    pairs = order.index(rank - 1) if tensor.element == "f4E2M1FN" else None
    if pairs is not None:
        tile_shape[pairs] = max(tile_shape[pairs], 2)
    # Others need not have a tile that starts after what is skipped, and in memory.
    is_strided = k.chance(0.35) and not any(tensor.skipped)
    steps = [k.random.randint(1, 2 * n) for n in tile_shape] if is_strided else tile_shape
    if pairs is not None:
        steps[pairs] += steps[pairs] % 2
    kind = "strided" if is_strided else "partition"
    spaces = [-(-tensor.shape[q] // steps[d]) for d, q in enumerate(order)]
    numbers = [k.random.randrange(space) for space in spaces]
    # Some indices are the block index, if there is a tile per block.
    by_block = [k.blocks <= space and k.chance(0.3) for space in spaces]
    by_block = [by and not any(tensor.skipped) for by in by_block]
    numbers = [k.blocks - 1 if by else n for n, by in zip(numbers, by_block, strict=True)]
    inside = tuple(
        numbers[d] * steps[d] + tile_shape[d] <= tensor.shape[q] for d, q in enumerate(order)
    )
    is_padded = padded and not (all(inside) and k.chance(0.4))
    padding = _padding(k, tensor.element) if is_padded else ""
    parts = [f"tile=({'x'.join(map(str, tile_shape))})"]
    if is_strided:
        parts.append(f"traversal_strides=[{','.join(map(str, steps))}]")
    if padding:
        parts.append(f"padding_value = {padding}")
    parts.append(tensor.type)
    if order != list(range(rank)):
        parts.append(f"dim_map=[{', '.join(map(str, order))}]")
    type = f"{kind}_view<{', '.join(parts)}>"
    (name,) = k.emit(f"make_{kind}_view {tensor.name} : {type}")
    index = "i32" if any(by_block) else k.element("i32", "i64", "i16")
    if any(tensor.skipped):
        numbers = [n + tensor.skipped[q] // steps[d]
                   for d, (n, q) in enumerate(zip(numbers, order, strict=True))]  # fmt: skip
        index = "i64" if max(numbers) >> ELEMENTS[index].bits else index
    else:
        _ask_space(k, name, type, spaces)
    indices = [
        k.block.name if by else _unsigned(k, number, index)
        for number, by in zip(numbers, by_block, strict=True)
    ]
    tile = Tile(tensor.element, tuple(tile_shape))
    return View(name, type, tile, padding, ", ".join(indices), f"tile<{index}>", inside)


def _ask_space(k: Kernel, name: str, type: str, spaces: list[int]) -> None:
    if not k.chance(0.25):
        return
    names = k.emit(f"get_index_space_shape {name} : {type} -> tile<i32>", len(spaces))
    k.scope.values += [Value(name, Tile("i32"), Facts(n, n, True))
                       for name, n in zip(names, spaces, strict=True)]  # fmt: skip


def _padding(k: Kernel, element: str) -> str:
    if element in BASE_FLOATS:
        return k.random.choice(PADDINGS)
    return "zero"


def _inbounds(k: Kernel, view: View) -> str:
    """In-bounds flags that hold; NVIDIA's compiler accepts none on a padded view."""
    if not k.chance(0.4) or (view.padding and k.options.profile != "all"):
        return ""
    flags = [inside and k.chance(0.8) for inside in view.inbounds]
    if not view.padding:
        flags = list(view.inbounds)
    return f" inbounds = [{', '.join(str(p).lower() for p in flags)}]"


def _padded(facts: Facts, padding: str) -> Facts:
    """The facts of elements some of which are padding."""
    if padding in ("nan", "pos_inf", "neg_inf"):
        return UNKNOWN
    return facts.union(Facts(0, 0, True)) if padding else facts


def _elements(k: Kernel) -> list[str]:
    return sorted(k.elements - {"i4", "f8E8M0FNU"})


def load_view(k: Kernel) -> None:
    """`load_view_tko` of a tile that may be partly out of bounds."""
    element = k.random.choice(_elements(k))
    shape = _random_shape(k, element)
    contents = "small" if element == "f4E2M1FN" else k.contents(element)
    array = k.argument("in", element, Tile(element, shape).elements, contents)
    view = _view(k, _tensor(k, f"%{array.name}", element, shape), padded=True)
    text = f"load_view_tko {k.random.choice(LOADS)} {view.name}[{view.indices}]"
    text += f"{k.random.choice(HINTS)}{_inbounds(k, view)}"
    name, _ = k.emit(f"{text} : {view.type}, {view.index_types} -> {view.tile}, token", 2)
    k.scope.values.append(Value(name, view.tile, _padded(array.facts(), view.padding)))


def store_view(k: Kernel) -> None:
    """`store_view_tko` of a tile to an array of its own."""
    if not k.scope.runs_once:
        return
    element = k.random.choice([name for name in _elements(k) if name != "f4E2M1FN"])
    tensor = _own_tensor(k, "out", element, "zeros")
    view = _view(k, tensor, padded=k.chance(0.5))
    value = k.operand(view.tile)
    text = f"store_view_tko {k.random.choice(STORES)} {value.name}, {view.name}[{view.indices}]"
    text += f"{k.random.choice(HINTS)}{_inbounds(k, view)}"
    k.emit(f"{text} : {view.tile}, {view.type}, {view.index_types} -> token")


def _own_tensor(k: Kernel, prefix: str, element: str, contents: str) -> Tensor:
    shape = _random_shape(k, element)
    count = Tile(element, shape).elements
    array = k.argument(prefix, element, count * k.blocks, contents)
    k.results.append(Result(array.name, element))
    return _tensor(k, k.own_part(array, count), element, shape)


def reduce_view(k: Kernel) -> None:
    """`atomic_red_view_tko` of all blocks to the same tile, or of each to its own."""
    element = atomic_element(k)
    shape = _random_shape(k, element)
    array = k.argument("at", element, Tile(element, shape).elements, "small")
    k.results.append(Result(array.name, element))
    view = _view(k, _tensor(k, f"%{array.name}", element, shape), padded=False)
    tile = view.tile
    value = k.load_input(tile, "signs") if tile.is_float else k.operand(tile)
    mode = k.random.choice(MODES[element])
    text = f"atomic_red_view_tko relaxed device {view.name}[{view.indices}], {mode}, {value.name}"
    k.emit(f"{text} : {tile}, {view.type}, {view.index_types} -> token")


def gather(k: Kernel) -> None:
    """`load_view_tko` of rows anywhere in a tensor."""
    element = k.random.choice([name for name in _elements(k) if ELEMENTS[name].bits >= 8])
    shape = (1 << k.random.randint(1, 5), k.random.randint(4, 20))
    array = k.argument("in", element, shape[0] * shape[1], k.contents(element))
    tensor = _tensor(k, f"%{array.name}", element, shape, may_be_large=False)
    tile = Tile(element, (1 << k.random.randint(0, 4), 1 << k.random.randint(0, 4)))
    padding = _padding(k, element)
    sizes = f"tile=({tile.shape[0]}x{tile.shape[1]}), padding_value = {padding}"
    type = f"gather_scatter_view<{sizes}, {tensor.type}, sparse_dim=0>"
    (view,) = k.emit(f"make_gather_scatter_view {tensor.name} : {type}")
    rows = Tile("i32", (tile.shape[0],))
    source, mask = k.operand(rows), k.constant(rows, (shape[0] - 1,))
    (index,) = k.emit(f"andi {source.name}, {mask.name} : {rows}")
    column = k.int_constant(k.random.randrange(shape[1]))
    text = f"load_view_tko {k.random.choice(LOADS)} {view}[{index}, {column.name}]"
    name, _ = k.emit(f"{text} : {type}, {rows}, tile<i32> -> {tile}, token", 2)
    k.scope.values.append(Value(name, tile, _padded(array.facts(), padding)))


def scatter(k: Kernel) -> None:
    """`store_view_tko` to rows in any order, each once."""
    if not k.scope.runs_once:
        return
    element = k.random.choice([name for name in _elements(k) if ELEMENTS[name].bits >= 8])
    tile = Tile(element, (1 << k.random.randint(0, 4), 1 << k.random.randint(0, 3)))
    shape = (tile.shape[0] + k.random.randint(0, 4), k.random.randint(2, 12))
    array = k.argument("out", element, shape[0] * shape[1] * k.blocks, "zeros")
    k.results.append(Result(array.name, element))
    tensor = _tensor(k, k.own_part(array, shape[0] * shape[1]), element, shape, may_be_large=False)
    sizes = f"tile=({tile.shape[0]}x{tile.shape[1]})"
    type = f"gather_scatter_view<{sizes}, {tensor.type}, sparse_dim=0>"
    (view,) = k.emit(f"make_gather_scatter_view {tensor.name} : {type}")
    rows = Tile("i32", (tile.shape[0],))
    (order,) = k.emit(f"iota : {rows}")
    flip = k.constant(rows, (k.random.randrange(tile.shape[0]),))
    (index,) = k.emit(f"xori {order}, {flip.name} : {rows}")
    column, value = k.int_constant(k.random.randrange(shape[1])), k.operand(tile)
    text = f"store_view_tko weak {value.name}, {view}[{index}, {column.name}]"
    k.emit(f"{text} : {tile}, {type}, {rows}, tile<i32> -> token")


STATEMENTS: Final = (load_view, load_view, store_view, reduce_view, gather, scatter)
