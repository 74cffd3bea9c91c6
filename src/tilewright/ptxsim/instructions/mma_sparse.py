"""`mma.sp`: mma with a 2:4 structured-sparse A."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from tilewright.ptxsim.instructions.mma_sync import Form, take_form
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import WARP, Lanes
from tilewright.ptxsim.matrix import fragments
from tilewright.ptxsim.matrix.operands import (
    read_accumulators,
    read_numbers,
    write_accumulators,
)
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, Array
from tilewright.ptxsim.syntax import Instruction
from tilewright.ptxsim.warps import whole_warps

SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "f16": ("m16n8k16", "m16n8k32"),
    "bf16": ("m16n8k16", "m16n8k32"),
    "tf32": ("m16n8k8", "m16n8k16"),
    "e4m3": ("m16n8k64",),
    "e5m2": ("m16n8k64",),
    "s8": ("m16n8k32", "m16n8k64"),
    "u8": ("m16n8k32", "m16n8k64"),
    "s4": ("m16n8k64", "m16n8k128"),
    "u4": ("m16n8k64", "m16n8k128"),
}


def chunk_size(form: Form) -> int:
    """The number of elements of a row per four bits of metadata: 2 for tf32, 8 for s4, else 4."""
    return {32: 2, 4: 8}.get(form.a.bits, 4)


@cache
def metadata_positions(bits_per_row: int, by_rows: bool, selector: int) -> tuple[Array, Array]:
    """The lane, and the first bit of its register, with the metadata of each chunk of each row.

    16 bits per row: the selected lane of each group of four has rows g and g + 8. 32 bits: a pair
    of lanes has them. 64 bits: all four lanes. By rows, the first lane of a pair has row g and the
    second row g + 8; otherwise each lane has 16 bits of each.
    """
    row, chunk = np.arange(16)[:, None], np.arange(bits_per_row // 4)
    group, second = 4 * (row % 8), row // 8
    if bits_per_row == 16:
        lane, bit = group + selector, 16 * second + 4 * chunk
    elif by_rows:
        lane, bit = group + 2 * selector + second + 2 * (chunk // 8), 4 * (chunk % 8)
    else:
        lane, bit = group + 2 * selector + chunk // 4, 16 * second + 4 * (chunk % 4)
    lane, bit = np.broadcast_arrays(lane, bit)
    return lane, bit.astype(np.uint32)


def _positions(form: Form, metadata: Array, selector: int) -> Array:
    """The column of each stored element of A, as (warps, rows, stored elements)."""
    size = chunk_size(form)
    bits_per_row = form.k // size * 4
    lane, bit = metadata_positions(bits_per_row, form.a.bits < 16, selector)
    codes = (metadata[:, lane] >> bit) & np.uint32(15)
    first, second = (codes & 3).astype(np.int64), (codes >> 2).astype(np.int64)
    start = np.arange(form.k // size) * size
    if size == 2:
        return start + first // 2
    pairs = np.stack((first, second), axis=-1)
    if size == 8:
        pairs = (2 * pairs[..., None] + np.arange(2)).reshape(*pairs.shape[:-1], 4)
    return (start[:, None] + pairs).reshape(*codes.shape[:2], -1)


def _expand(form: Form, stored: Array, positions: Array) -> Array:
    dense = np.zeros((len(stored), 16, form.k))
    np.put_along_axis(dense, positions, stored, axis=2)
    return dense


def _check(lanes: Lanes, positions: Array, site: Instruction) -> None:
    """Report metadata that selects an element of a chunk twice."""
    if not lanes.wave.checks_for("uninitialised"):
        return
    ordered = np.sort(positions, axis=2)
    duplicate = (np.diff(ordered, axis=2) == 0).any(axis=(1, 2))
    if duplicate.any():
        thread = int(lanes.threads[WARP * int(np.argmax(duplicate))])
        lanes.wave.violation("the metadata selects an element twice", site, thread)


@instruction("mma.sp.sync", "mma.sp::ordered_metadata.sync", blocks=True)
def multiply(op: Operation) -> Run:
    """`mma.sp d, a, b, c, metadata, selector`: D = A * B + C with a sparse A."""
    form = take_form(op, SHAPES)
    if form.majors != ("row", "col"):
        op.unsupported(f".{form.majors[0]}.{form.majors[1]}")
    selector = op.constant(5)
    limit = {16: 4, 32: 2, 64: 1}[form.k // chunk_size(form) * 4]
    if not 0 <= selector < limit:
        op.fail(f"expected a selector below {limit}, got {selector}")
    stored = read_numbers(op, 1, fragments.multiplicand_a(16, form.k // 2, form.a.bits), form.a)
    b = read_numbers(op, 2, fragments.multiplicand_b(form.k, 8, form.b.bits), form.b)
    fragment = fragments.accumulator(16, 8)
    c = read_accumulators(op, 3, fragment, form.c)
    d = write_accumulators(op, 0, fragment, form.d)
    metadata, multiply_add, site = op.read(4, SCALAR_TYPES["b32"]), form.multiply("mma.sp"), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        words = lanes.spread(metadata(lanes)).reshape(-1, WARP)
        positions = _positions(form, words, selector)
        _check(lanes, positions, site)
        a = _expand(form, stored(lanes), positions)
        d(lanes, multiply_add(a, b(lanes), c(lanes)))

    return run
