"""Cases of atomic operations, against updates of one element after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from op_cases.kernel import Case, Kernel, deferred, stored, tile
from op_cases.layout import KINDS, layouts
from op_cases.memory import SCOPES, pointers_to
from op_cases.values import INTEGERS, Effort, some_tile
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.types import PtrType
from tilewright.ir.attributes import Type
from tilewright.ir.types import BF16, F16, F32, F64, I1, I32, I64
from tilewright.reference.tile import Array, dtype

ORDERINGS = [
    f"{ordering} {scope}"
    for ordering in ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
    for scope in SCOPES
]
COUNT, SHAPE = 64, (4, 8)


def _added(a: int, b: int) -> int:
    return a + b


Update = Callable[[Any, Any], Any]
SIGNED: dict[str, Update] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "add": _added,
    "addu": _added,
    "max": max,
    "min": min,
}
UNSIGNED: dict[str, Update] = {"umax": max, "umin": min}


def modes() -> Iterator[tuple[str, Type]]:
    """What may be done to which elements."""
    for mode in (*SIGNED, *UNSIGNED):
        yield from ((mode, element) for element in (I32, I64))
    yield from (("addf", element) for element in (F16, BF16, F32, F64))
    yield from (("xchg", element) for element in (I32, I64, F32, F64))


def updated(mode: str, before: Any, value: Any) -> Any:
    """An element after an update by a value, both NumPy scalars of one type."""
    kind = before.dtype
    if mode == "xchg":
        return value
    if mode == "addf":
        with np.errstate(all="ignore"):
            return kind.type(before + value)
    bits = 8 * kind.itemsize
    a, b = int(before), int(value)
    if mode in UNSIGNED:
        result = UNSIGNED[mode](a % (1 << bits), b % (1 << bits))
    else:
        result = SIGNED[mode](a, b)
    return np.array(result % (1 << bits), f"u{kind.itemsize}").view(kind)[()]


def _operands(mode: str, element: Type, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Elements whose additions are exact in any order."""
    if mode == "addf":
        return rng.integers(-8, 8, shape).astype(dtype(element))
    return some_tile(element, shape, rng)


@deferred
def _rmw(
    effort: Effort, mode: str, element: Type, ordering: str, masked: bool, token: bool,
    crowded: bool,
) -> Case:  # fmt: skip
    rng = effort.rng("atomic_rmw_tko", mode, element, ordering, masked, crowded)
    kernel = Kernel("atomic_rmw_tko")
    before = _operands(mode, element, (COUNT,), rng)
    memory, values = stored(before, element), _operands(mode, element, SHAPE, rng)
    indices = rng.permutation(COUNT)[: values.size].reshape(SHAPE)
    if crowded:
        indices = rng.integers(0, 4, SHAPE)
    selected = rng.random(SHAPE) < 0.7 if masked else np.ones(SHAPE, np.bool_)
    pointers = pointers_to(kernel, kernel.pointer(memory, element), indices, element)
    operands, types = [kernel.load(values, element)], [tile(SHAPE, element)]
    if masked:
        operands.append(kernel.load(selected, I1))
        types.append(tile(SHAPE, I1))
    end = f" token={kernel.emit('make_token : token')}" if token else ""
    kernel.add(
        f"%old, %done = atomic_rmw_tko {ordering} {pointers}, {mode}, {', '.join(operands)}{end} : "
        f"{tile(SHAPE, PtrType(element))}, {', '.join(types)} -> {tile(SHAPE, element)}, token"
    )
    after = before.copy()
    for offset, value, chosen in zip(indices.flat, values.flat, selected.flat, strict=True):
        if chosen:
            after[offset] = updated(mode, after[offset], value)
    kernel.expect(memory, element, after)
    if not crowded:  # else what was there before depends on the order
        _check_old(kernel, before[indices], selected, element)
    return kernel.case()


def _check_old(kernel: Kernel, old: Array, selected: Array, element: Type) -> None:
    """Check the old values, which are unspecified for masked-off elements."""
    mask = kernel.load(selected, I1)
    other = kernel.load(np.zeros(SHAPE, old.dtype), element)
    types = f"{tile(SHAPE, I1)}, {tile(SHAPE, element)}"
    value = kernel.emit(f"select {mask}, %old, {other} : {types}")
    kernel.store(value, np.where(selected, old, np.zeros_like(old)), element)


def updates(effort: Effort) -> Iterator[Case]:
    """`atomic_rmw_tko`: modes, elements, orderings, scopes, masks; many updates of one element."""
    for element in (I32, I64, F16, BF16, F32, F64):
        known = [mode for mode, type in modes() if type is element]
        for turn, ordering in enumerate(ORDERINGS):
            masked, token = turn % 3 == 1, turn % 2 == 1
            mode = known[turn % len(known)]
            yield _rmw(effort, mode, element, ordering, masked, token, False)
        for mode in known:
            if mode != "xchg":
                yield _rmw(effort, mode, element, "relaxed device", True, False, True)


def exchanges(effort: Effort) -> Iterator[Case]:
    """`atomic_cas_tko`: elements are compared by their bits."""
    for element in (I32, I64, F32, F64):
        for turn, ordering in enumerate(ORDERINGS):
            yield _cas(effort, element, ordering, turn % 2 == 1, turn % 3 == 1)


@deferred
def _cas(effort: Effort, element: Type, ordering: str, masked: bool, token: bool) -> Case:
    rng = effort.rng("atomic_cas_tko", element, ordering, masked)
    kernel = Kernel("atomic_cas_tko")
    before = some_tile(element, (COUNT,), rng)
    if element in (F32, F64):
        before[: COUNT // 4] = -0.0
    bits = np.dtype(f"u{before.dtype.itemsize}")
    memory = stored(before, element)
    indices = rng.permutation(COUNT)[: np.prod(SHAPE)].reshape(SHAPE)
    compared, values = some_tile(element, SHAPE, rng), some_tile(element, SHAPE, rng)
    chosen = rng.random(SHAPE)
    compared = np.where(chosen < 0.5, before[indices], compared)
    compared = np.where(chosen > 0.8, np.zeros_like(compared), compared)  # +0 is not -0
    selected = rng.random(SHAPE) < 0.7 if masked else np.ones(SHAPE, np.bool_)
    pointers = pointers_to(kernel, kernel.pointer(memory, element), indices, element)
    operands = [kernel.load(compared, element), kernel.load(values, element)]
    types = [tile(SHAPE, element)]
    if masked:
        operands.append(kernel.load(selected, I1))
        types.append(tile(SHAPE, I1))
    end = f" token={kernel.emit('make_token : token')}" if token else ""
    kernel.add(
        f"%old, %done = atomic_cas_tko {ordering} {pointers}, {', '.join(operands)}{end} : "
        f"{tile(SHAPE, PtrType(element))}, {', '.join(types)} -> {tile(SHAPE, element)}, token"
    )
    old = before[indices]
    swaps = (old.view(bits) == compared.view(bits)) & selected
    after = before.copy()
    after[indices[swaps]] = values[swaps]
    kernel.expect(memory, element, after)
    kernel.store("%old", np.where(selected, old, compared), element)
    return kernel.case()


def views(effort: Effort) -> Iterator[Case]:
    """`atomic_red_view_tko`: elements out of bounds are unchanged."""
    for kind in KINDS[:2]:
        for mode, element in modes():
            if mode == "xchg":
                continue
            for turn, index in enumerate(INTEGERS):
                scope = ("tl_blk", "device", "cluster")[turn % 3]
                ordering = f"relaxed {scope}"
                yield reduction_case(
                    effort, kind, mode, element, ordering=ordering, index=index,
                    token=turn % 2 == 1, inbounds=turn % 4 == 3,
                )  # fmt: skip


@deferred
def reduction_case(
    effort: Effort, kind: str, mode: str, element: Type, *, ordering: str, index: Any = I32,
    token: bool = False, inbounds: bool = False, padding: PaddingValue | None = None,
    op: str = "atomic_red_view_tko", reduction: str = "",
) -> Case:  # fmt: skip
    """Reduce into a tile of a view, and compare memory with a walk over its elements."""
    about: tuple[object, ...] = (mode, ordering)
    layout = layouts(effort, kind, element, *about, index=index, unique=True)
    while inbounds and any(offset is None for _, offset in layout.offsets()):
        about = (*about, "again")
        layout = layouts(effort, kind, element, *about, index=index, unique=True)
    rng = effort.rng(op, kind, mode, element, ordering)
    before = _operands(mode, element, (layout.size,), rng)
    memory, values = stored(before, element), _operands(mode, element, layout.tile_shape, rng)
    kernel = Kernel(op)
    value = kernel.load(values, element)
    view, type = layout.write_view(kernel, memory, padding)
    names, types = layout.write_index(kernel, index)
    end = f" token = {kernel.emit('make_token : token')}" if token else ""
    if inbounds:
        end += " inbounds = [true, true]"
    kernel.emit(
        f"{op} {ordering} {view}[{names}], {reduction or mode}, {value}{end} : "
        f"{tile(layout.tile_shape, element)}, {type}, {types} -> token"
    )
    after = before.copy()
    for position, offset in layout.offsets():
        if offset is not None:
            after[offset] = updated(mode, after[offset], values[position])
    kernel.expect(memory, element, after)
    return kernel.case()


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (updates, exchanges, views):
        yield from group(effort)
