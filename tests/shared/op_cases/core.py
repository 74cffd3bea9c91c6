"""Cases of constants, shapes, parts of tiles and addresses, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from op_cases.kernel import Case, Kernel, tile
from op_cases.numbers import from_integers
from op_cases.values import EVERYTHING, INTEGERS, NUMBERS, NUMBERS4, POINTERS, Effort, some_tile
from tilewright.ir.attributes import Type
from tilewright.ir.types import (
    F4E2M1FN,
    I1,
    I8,
    I32,
    I64,
    TF32,
    FloatType,
    IntegerType,
)
from tilewright.reference.tile import Array, to_patterns

Shape = tuple[int, ...]
SELECTABLE = tuple(element for element in EVERYTHING if element is not F4E2M1FN)


def _literal(elements: Array, element: Type) -> str:
    """The text of elements: integers as such, floats as their bits."""
    if element is I1:
        words = ["true" if bit else "false" for bit in elements.reshape(-1)]
    elif isinstance(element, IntegerType):
        words = [str(n) for n in elements.reshape(-1).tolist()]
    else:
        words = [hex(bits) for bits in to_patterns(elements, element).reshape(-1).tolist()]
    return _nested(words, elements.shape)


def _nested(words: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return words[0]
    size = len(words) // shape[0]
    rows = (words[at : at + size] for at in range(0, len(words), size))
    return f"[{', '.join(_nested(row, shape[1:]) for row in rows)}]"


def constants(effort: Effort) -> Iterator[Case]:
    """Literals: scalars, one value for all elements, one for each."""
    for element in NUMBERS:
        rng = effort.rng("constant", element)
        for shape, literal_shape in [((), ()), ((4, 8), ()), ((4, 8), (4, 8)), ((2,), (2,))]:
            if not exists(element, shape):
                continue
            literal = some_tile(element, literal_shape, rng)
            kernel = Kernel("constant")
            text = f"<{element}: {_literal(literal, element)}>"
            value = kernel.emit(f"constant {text} : {tile(shape, element)}")
            expected = np.array(np.broadcast_to(literal, shape), order="C")
            kernel.store(value, expected, element)
            yield kernel.case()


def iotas(effort: Effort) -> Iterator[Case]:
    """Counting."""
    for element in INTEGERS:
        for count in (1, 2, 64, 256):
            if count <= 1 << element.width:
                kernel = Kernel("iota")
                value = kernel.emit(f"iota : {tile((count,), element)}")
                kernel.store(value, from_integers(range(count), element), element)
                yield kernel.case()


def _same_elements(
    name: str, source: Array, expected: Array, element: Type, modifiers: str = ""
) -> Case:
    kernel = Kernel(name)
    value = kernel.load(source, element)
    types = f"{tile(source.shape, element)} -> {tile(expected.shape, element)}"
    result = kernel.emit(f"{name} {value}{modifiers} : {types}")
    kernel.store(result, np.array(expected, order="C"), element)
    return kernel.case()


def exists(element: Type, shape: Shape) -> bool:
    """Whether a tile type is valid: f4E2M1FN requires an even number of elements."""
    return element is not F4E2M1FN or int(np.prod(shape)) % 2 == 0


def _existing(element: Type, pairs: list[tuple[Shape, Shape]]) -> Iterator[tuple[Shape, Shape]]:
    return (pair for pair in pairs if all(exists(element, shape) for shape in pair))


SHAPES: list[tuple[Shape, Shape]] = [
    ((1,), (4,)),
    ((1, 8), (4, 8)),
    ((4, 1, 2), (4, 8, 2)),
    ((1, 1), (2, 2)),
]
RESHAPES: list[tuple[Shape, Shape]] = [
    ((), (1, 1)),
    ((8,), (2, 4)),
    ((4, 4), (2, 8)),
    ((2, 2, 4), (16,)),
    ((1,), ()),
]
PERMUTATIONS: list[tuple[Shape, Shape]] = [
    ((4, 8), (1, 0)),
    ((2, 4, 8), (2, 0, 1)),
    ((2, 4, 8), (1, 2, 0)),
    ((2, 2), (0, 1)),
]


def shapes(effort: Effort) -> Iterator[Case]:
    """Broadcast, reshape and permute."""
    for element in EVERYTHING:
        rng = effort.rng("shapes", element)
        for shape, wide in _existing(element, SHAPES):
            source = some_tile(element, shape, rng)
            yield _same_elements("broadcast", source, np.broadcast_to(source, wide), element)
        for shape, other in _existing(element, RESHAPES):
            source = some_tile(element, shape, rng)
            yield _same_elements("reshape", source, source.reshape(other), element)
        for shape, order in PERMUTATIONS:
            source = some_tile(element, shape, rng)
            expected = source.transpose(order)
            yield _same_elements("permute", source, expected, element, f" {list(order)}")


JOINS = [((4,), 0), ((2, 4), 0), ((2, 4), 1), ((2, 1, 4), 1)]


def joins(effort: Effort) -> Iterator[Case]:
    """Two tiles in one."""
    for element in EVERYTHING:
        rng = effort.rng("cat", element)
        for shape, dim in JOINS:
            kernel = Kernel("cat")
            parts = [some_tile(element, shape, rng) for _ in range(2)]
            names = [kernel.load(part, element) for part in parts]
            expected = np.concatenate(parts, axis=dim)
            types = f"{tile(shape, element)}, {tile(shape, element)}"
            end = f"dim = {dim} : {types} -> {tile(expected.shape, element)}"
            kernel.store(kernel.emit(f"cat {', '.join(names)} {end}"), expected, element)
            yield kernel.case()


PARTS = [((16,), (4,), (3,)), ((4, 8), (2, 4), (1, 1)), ((4, 8), (4, 1), (0, 5)), ((), (), ())]


def _slice(part: Sequence[int], index: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(i * size, (i + 1) * size) for i, size in zip(index, part, strict=True))


def parts(effort: Effort) -> Iterator[Case]:
    """Parts of tiles taken out, and put in."""
    for element in EVERYTHING:
        rng = effort.rng("parts", element)
        for shape, part, index in PARTS:
            if not exists(element, part):
                continue
            whole, piece = some_tile(element, shape, rng), some_tile(element, part, rng)
            kernel = Kernel("extract")
            source = kernel.load(whole, element)
            indices = ", ".join(kernel.load(np.array(i, np.int32), I32) for i in index)
            types = f"{tile(shape, element)} -> {tile(part, element)}"
            result = kernel.emit(f"extract {source}[{indices}] : {types}")
            expected = np.array(whole[_slice(part, index)], order="C")
            kernel.store(result, expected.reshape(part), element)
            yield kernel.case()

            kernel = Kernel("insert")
            names = [kernel.load(piece, element), kernel.load(whole, element)]
            indices = ", ".join(kernel.load(np.array(i, np.int32), I32) for i in index)
            types = f"{tile(part, element)}, {tile(shape, element)}"
            result = kernel.emit(f"insert {', '.join(names)}[{indices}] : {types}")
            expected = whole.copy()
            expected[_slice(part, index)] = piece
            kernel.store(result, expected, element)
            yield kernel.case()


def selections(effort: Effort) -> Iterator[Case]:
    """One of two values for each element."""
    for element in SELECTABLE:
        rng = effort.rng("select", element)
        for shape in ((), (16,), (2, 4)):
            kernel = Kernel("select")
            condition = rng.random(shape) < 0.5
            condition = np.asarray(condition)
            a, b = (some_tile(element, shape, rng) for _ in range(2))
            names = [kernel.load(condition, I1), kernel.load(a, element), kernel.load(b, element)]
            types = f"{tile(shape, I1)}, {tile(shape, element)}"
            result = kernel.emit(f"select {', '.join(names)} : {types}")
            kernel.store(result, np.asarray(np.where(condition, a, b)), element)
            yield kernel.case()


def offsets(effort: Effort) -> Iterator[Case]:
    """Addresses, some elements further; half bytes are tried by loads and stores."""
    for pointer in POINTERS:
        for element in INTEGERS:
            rng = effort.rng("offset", pointer, element)
            kernel = Kernel("offset")
            addresses = rng.integers(1 << 40, 1 << 41, 16, dtype=np.int64) * 8
            distances = some_tile(element, (16,), rng)
            if element is I64:
                distances >>= 30
            size = _size(pointer.pointee)
            steps = -distances.astype(np.int64) if element is I1 else distances.astype(np.int64)
            if pointer.pointee is F4E2M1FN:
                steps &= ~1 if element is not I1 else 0
                distances = distances & ~1 if element is not I1 else distances & False
            expected = (addresses + (steps * size).astype(np.int64)).view(np.uint64)
            names = [kernel.load(addresses.view(np.uint64), pointer)]
            names.append(kernel.load(distances, element))
            shape = (16,)
            types = f"{tile(shape, pointer)}, {tile(shape, element)} -> {tile(shape, pointer)}"
            kernel.store(kernel.emit(f"offset {', '.join(names)} : {types}"), expected, pointer)
            yield kernel.case()


def _size(element: Type) -> float:
    assert isinstance(element, IntegerType | FloatType)
    if element is TF32:
        return 4
    return 0.5 if element is F4E2M1FN else max(element.width // 8, 1)


def _bytes(elements: Array, element: Type) -> Array:
    """The bytes of a tile, lowest bits first."""
    if element is TF32:
        return np.frombuffer(elements.astype("<f4").tobytes(), np.int8)
    assert isinstance(element, IntegerType | FloatType)
    number = 0
    for index, pattern in enumerate(to_patterns(elements, element).tolist()):
        number |= int(pattern) << (index * element.width)
    count = len(elements) * element.width // 8
    return np.frombuffer(number.to_bytes(count, "little"), np.int8)


def packing(effort: Effort) -> Iterator[Case]:
    """Tiles as bytes, and bytes as tiles."""
    for element in NUMBERS4:
        if element.width == 8:
            continue
        rng = effort.rng("pack", element)
        elements = some_tile(element, (64,), rng)
        data = _bytes(elements, element)
        for name, source, target in (
            ("pack", (elements, element), (data, I8)),
            ("unpack", (data, I8), (elements, element)),
        ):
            kernel = Kernel(name)
            value = kernel.load(*source)
            types = f"{tile(source[0].shape, source[1])} -> {tile(target[0].shape, target[1])}"
            kernel.store(kernel.emit(f"{name} {value} : {types}"), *target)
            yield kernel.case()


def grids(effort: Effort) -> Iterator[Case]:
    """Coordinates of a block and size of the grid: every block stores both."""
    for grid in ((4,), (2, 3), (2, 3, 4)):
        full = (*grid, 1, 1)[:3]
        count = int(np.prod(full))
        for name in ("get_tile_block_id", "get_num_tile_blocks"):
            kernel = Kernel(name)
            out = np.zeros((count, 3), np.int32)
            base = kernel.pointer(out, I32)
            kernel.add("%x, %y, %z = get_tile_block_id : tile<i32>")
            kernel.add("%gx, %gy, %gz = get_num_tile_blocks : tile<i32>")
            row = "%z"
            for extent, index in (("%gy", "%y"), ("%gx", "%x")):
                row = kernel.emit(f"muli {row}, {extent} : tile<i32>")
                row = kernel.emit(f"addi {row}, {index} : tile<i32>")
            three = kernel.constant(3, I32)
            row = kernel.emit(f"muli {row}, {three} : tile<i32>")
            wanted = ("%x", "%y", "%z") if name == "get_tile_block_id" else ("%gx", "%gy", "%gz")
            for dim, value in enumerate(wanted):
                step = kernel.constant(dim, I32)
                at = kernel.emit(f"addi {row}, {step} : tile<i32>")
                pointer = kernel.emit(
                    f"offset {base}, {at} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"
                )
                types = "tile<ptr<i32>>, tile<i32> -> token"
                kernel.emit(f"store_ptr_tko weak {pointer}, {value} : {types}")
            z, y, x = np.indices(full[::-1]).reshape(3, -1)
            ids = np.stack([x, y, z], axis=1).astype(np.int32)
            extents = np.broadcast_to(np.array(full, np.int32), (count, 3))
            expected = ids if name == "get_tile_block_id" else extents
            kernel.expect(out, I32, np.array(expected, order="C"))
            yield kernel.case(grid=grid)


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    groups = (constants, iotas, shapes, joins, parts, selections, offsets, packing, grids)
    for group in groups:
        yield from group(effort)
