"""Cases of memory through pointers, of tokens and of scratch memory, against NumPy's indexing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from op_cases.kernel import Case, Kernel, deferred, loaded, noise, stored, tile
from op_cases.values import NUMBERS, Effort, some_tile
from tilewright.dialects.cuda_tile.types import PtrType
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, F32, I1, I32
from tilewright.reference.tile import Array

SCOPES = ("tl_blk", "device", "sys", "cluster")
LOADS = ["weak", *map(" ".join, product(("relaxed", "acquire", "seq_cst"), SCOPES))]
STORES = ["weak", *map(" ".join, product(("relaxed", "release", "seq_cst"), SCOPES))]
SHAPE = (4, 8)
COUNT = 64
"""The number of elements in memory."""


def pointers_to(kernel: Kernel, base: str, indices: Array, element: Type) -> str:
    """Pointers to elements of an array."""
    shape = indices.shape
    ones = (1,) * len(shape)
    pointer = PtrType(element)
    if shape:
        base = kernel.emit(f"reshape {base} : {tile((), pointer)} -> {tile(ones, pointer)}")
        base = kernel.emit(f"broadcast {base} : {tile(ones, pointer)} -> {tile(shape, pointer)}")
    steps = kernel.load(indices.astype(np.int32), I32)
    types = f"{tile(shape, pointer)}, {tile(shape, I32)} -> {tile(shape, pointer)}"
    return kernel.emit(f"offset {base}, {steps} : {types}")


def loads(effort: Effort) -> Iterator[Case]:
    """`load_ptr_tko`: masks, padding, orderings and scopes, with and without tokens."""
    for element in NUMBERS:
        for masked, padded, token in product((False, True), repeat=3):
            yield _load(effort, element, "weak", masked, padded, token)
        for ordering in LOADS:
            yield _load(effort, element, ordering, True, True, False)


@deferred
def _load(
    effort: Effort, element: Type, ordering: str, masked: bool, padded: bool, token: bool
) -> Case:
    rng = effort.rng("load_ptr_tko", element, ordering, masked, padded)
    kernel = Kernel("load_ptr_tko")
    memory = some_tile(element, (COUNT,), rng)
    base = kernel.pointer(stored(memory, element), element)
    indices = rng.integers(0, COUNT, SHAPE)
    selected = rng.random(SHAPE) < 0.5
    padding = some_tile(element, SHAPE, rng)
    pointers = pointers_to(kernel, base, indices, element)
    operands, types = [pointers], [tile(SHAPE, PtrType(element))]
    if masked:
        operands.append(kernel.load(selected, I1))
        types.append(tile(SHAPE, I1))
    # Text cannot tell padding of i1 without a mask from a mask.
    padded = padded and (masked or element is not I1)
    if padded:
        operands.append(kernel.load(padding, element))
        types.append(tile(SHAPE, element))
    end = ""
    if token:
        end = f" token={kernel.emit('make_token : token')}"
    kernel.add(
        f"%found, %done = load_ptr_tko {ordering} {', '.join(operands)}{end} : "
        f"{', '.join(types)} -> {tile(SHAPE, element)}, token"
    )
    if masked and not padded:  # what the mask leaves out may be anything
        return _stored_under_mask(kernel, memory, indices, selected, element)
    expected = np.where(selected, memory[indices], padding) if masked else memory[indices]
    kernel.store("%found", expected, element)
    return kernel.case()


def _stored_under_mask(
    kernel: Kernel, memory: Array, indices: Array, selected: Array, element: Type
) -> Case:
    """The loaded elements, stored under the same mask into memory of their own."""
    out = noise((indices.size,), element)
    target = stored(out, element)
    base = kernel.pointer(target, element)
    pointers = pointers_to(kernel, base, np.arange(indices.size).reshape(SHAPE), element)
    mask = kernel.load(selected, I1)
    types = f"{tile(SHAPE, PtrType(element))}, {tile(SHAPE, element)}, {tile(SHAPE, I1)}"
    kernel.emit(f"store_ptr_tko weak {pointers}, %found, {mask} : {types} -> token")
    expected = np.where(selected.reshape(-1), memory[indices].reshape(-1), _clean(out, element))
    kernel.expect(target, element, expected)
    return kernel.case()


def _clean(array: Array, element: Type) -> Array:
    """Elements as they come back from memory."""
    return loaded(stored(array, element), element, array.shape)


def stores(effort: Effort) -> Iterator[Case]:
    """`store_ptr_tko`: masks, orderings and scopes, with and without tokens."""
    for element in NUMBERS:
        for masked, token in product((False, True), repeat=2):
            yield _store(effort, element, "weak", masked, token)
        for ordering in STORES:
            yield _store(effort, element, ordering, True, False)


@deferred
def _store(effort: Effort, element: Type, ordering: str, masked: bool, token: bool) -> Case:
    rng = effort.rng("store_ptr_tko", element, ordering, masked)
    kernel = Kernel("store_ptr_tko")
    before = some_tile(element, (COUNT,), rng)
    memory = stored(before, element)
    base = kernel.pointer(memory, element)
    indices = rng.permutation(COUNT)[: int(np.prod(SHAPE))].reshape(SHAPE)
    values, selected = some_tile(element, SHAPE, rng), rng.random(SHAPE) < 0.5
    operands = [pointers_to(kernel, base, indices, element), kernel.load(values, element)]
    types = [tile(SHAPE, PtrType(element)), tile(SHAPE, element)]
    if masked:
        operands.append(kernel.load(selected, I1))
        types.append(tile(SHAPE, I1))
    end = f" token={kernel.emit('make_token : token')}" if token else ""
    kernel.emit(
        f"store_ptr_tko {ordering} {', '.join(operands)}{end} : {', '.join(types)} -> token"
    )
    expected = before.copy()
    chosen = selected if masked else np.ones(SHAPE, np.bool_)
    expected[indices[chosen]] = values[chosen]
    kernel.expect(memory, element, expected)
    return kernel.case()


def scalars(effort: Effort) -> Iterator[Case]:
    """Single elements; f4E2M1FN has none."""
    for element in NUMBERS:
        if element is F4E2M1FN:
            continue
        rng = effort.rng("scalars", element)
        for name in ("load_ptr_tko", "store_ptr_tko"):
            kernel = Kernel(name)
            value = some_tile(element, (), rng)
            kernel.store(kernel.load(value, element), value, element)
            yield kernel.case()


def scratch(effort: Effort) -> Iterator[Case]:
    """`alloca`: a block loads what it stored, regardless of other blocks."""
    for element in NUMBERS:
        for modifier in ("", " global"):
            rng = effort.rng("alloca", element)
            kernel = Kernel("alloca")
            values = some_tile(element, SHAPE, rng)
            base = kernel.emit(
                f"alloca num_elem = 32, alignment = 16{modifier} : tile<ptr<{element}>>"
            )
            indices = np.arange(32).reshape(SHAPE)
            pointers = pointers_to(kernel, base, indices, element)
            value = kernel.load(values, element)
            pointer, type = tile(SHAPE, PtrType(element)), tile(SHAPE, element)
            done = kernel.emit(
                f"store_ptr_tko weak {pointers}, {value} : {pointer}, {type} -> token"
            )
            kernel.add(
                f"%found, %after = load_ptr_tko weak {pointers} token={done} : "
                f"{pointer} -> {type}, token"
            )
            kernel.store("%found", values, element)
            yield kernel.case()


TOKENS = {
    "make_token": "",
    "join_tokens": "%t2 = join_tokens %t1, %t0 : token",
    "memory_fence_alias_tko": "%t2 = memory_fence_alias_tko %t1",
    "gdc_wait_tko": "%t2 = gdc_wait_tko token = %t1 -> token",
    "gdc_launch_dependents_tko": "%t2 = gdc_launch_dependents_tko token = %t1 -> token",
}


def tokens(effort: Effort) -> Iterator[Case]:
    """A load after a store, ordered by a token: without it `check=True` would report a race."""
    for name, line in TOKENS.items():
        kernel = Kernel(name)
        before, after = np.zeros(16, np.float32), np.arange(16, dtype=np.float32)
        memory = stored(before, F32)
        pointers = pointers_to(kernel, kernel.pointer(memory, F32), np.arange(16), F32)
        value = kernel.load(after, F32)
        types = "tile<16xptr<f32>>, tile<16xf32> -> token"
        kernel.add("%t0 = make_token : token")
        kernel.add(f"%t1 = store_ptr_tko weak {pointers}, {value} token=%t0 : {types}")
        if line:
            kernel.add(line)
        last = "%t2" if line else "%t1"
        kernel.add(
            f"%found, %t3 = load_ptr_tko weak {pointers} token={last} : "
            "tile<16xptr<f32>> -> tile<16xf32>, token"
        )
        kernel.store("%found", after, F32)
        yield kernel.case()
    for name in ("gdc_wait_tko", "gdc_launch_dependents_tko"):
        kernel = Kernel(name)
        kernel.emit(f"{name} -> token")
        yield kernel.case()


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (loads, stores, scalars, scratch, tokens):
        yield from group(effort)
