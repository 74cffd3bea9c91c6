"""`wmma`: warp-level load, mma and store of matrices.

PTX leaves the fragment layout open. Here it is that of `mma.sync`; fragments that fill only a part
of the registers, such as f16, are replicated.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from tilewright.ptxsim.instructions.data_movement import take_space
from tilewright.ptxsim.instructions.mma_sync import Form
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.matrix import fragments
from tilewright.ptxsim.matrix.elements import ELEMENTS, Element
from tilewright.ptxsim.matrix.fragments import Fragment
from tilewright.ptxsim.matrix.operands import (
    ReadMatrix,
    patterns_from,
    read_accumulators,
    register_type,
    write_accumulators,
)
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, UNSIGNED, Array
from tilewright.ptxsim.warps import whole_warps

_SHAPE: Final = re.compile(r"m(\d+)n(\d+)k(\d+)")
_LARGE: Final = ("m16n16k16", "m8n32k16", "m32n8k16")
_SHAPES: Final = {
    "f16": _LARGE, "bf16": _LARGE, "s8": _LARGE, "u8": _LARGE, "tf32": ("m16n16k8",),
    "f64": ("m8n8k4",), "s4": ("m8n8k32",), "u4": ("m8n8k32",), "b1": ("m8n8k128",),
}  # fmt: skip
_RESULTS: Final = {"bf16": "f32", "tf32": "f32", "f64": "f64"}
# A and B of f16 have eight registers in every shape.
_F16_REGISTERS: Final = 8


def _take_shape(op: Operation) -> tuple[str, tuple[int, int, int]]:
    shape = op.choice(*{shape for shapes in _SHAPES.values() for shape in shapes})
    matched = _SHAPE.fullmatch(shape or "")
    if shape is None or matched is None:
        op.unsupported("shape")
    m, n, k = map(int, matched.groups())
    return shape, (m, n, k)


def _check(op: Operation, shape: str, element: Element) -> None:
    if shape not in _SHAPES.get(element.name, ()):
        op.unsupported(f"no .{shape} of .{element.name}")


def _copies(fragment: Fragment, element: Element) -> int:
    """How often the registers of A or B replicate the fragment."""
    if element.name != "f16":
        return 1
    return _F16_REGISTERS * 2 // fragment.per_lane


class _Transfer:
    """A matrix in memory and in registers: `[p], stride`, in rows or in columns."""

    def __init__(self, op: Operation, address: int, registers: int) -> None:
        self.op = op
        self.by_row = op.choice("row", "col") == "row"
        shape, (m, n, k) = _take_shape(op)
        self.space = take_space(op)
        name = op.choice(*ELEMENTS) or op.fail("expected a type")
        element = ELEMENTS[name]
        part = op.name.split(".")[2]
        rows, columns = {"a": (m, k), "b": (n, k)}.get(part, (m, n))
        # B is stored as its transpose.
        along_rows = self.by_row != (part == "b")
        self.per_word = 1
        if part in ("a", "b"):
            _check(op, shape, element)
            if element.bits < 8:
                # Sub-byte elements along K, as whole words.
                self.per_word = 32 // element.bits
                if not along_rows:
                    op.fail("expected A in rows and B in columns")
                element, columns = ELEMENTS["tf32"], columns // self.per_word
            fragment = fragments.multiplicand_a(rows, columns, element.bits)
            self.copies = _copies(fragment, element)
        else:
            fragment, self.copies = fragments.accumulator(rows, columns), 1
        self.line = columns if along_rows else rows
        order = (fragment.row, fragment.column)
        self.outer, self.inner = order if along_rows else order[::-1]
        self.width = element.bits // 8
        self.words = self.copies * fragment.per_lane * self.width // (8 if self.width == 8 else 4)
        self.type = SCALAR_TYPES[register_type(element)]
        count = len(op.elements(registers))
        if count != self.words:
            op.fail(f"expected {self.words} registers, got {count}")
        self.address = op.address(address)
        given = op.operand_count > 2
        self.stride: Read | None = op.read(2, SCALAR_TYPES["u32"]) if given else None

    def addresses(self, lanes: Lanes) -> list[Array]:
        """For each element of a lane, one address per lane."""
        start = lanes.spread(self.address(lanes))
        stride: Array | int = self.line
        if self.stride is not None:
            stride = lanes.spread(self.stride(lanes)).astype(np.int64)[:, None] // self.per_word
        lane = lanes.lane_ids
        offsets = (self.outer[lane] * stride + self.inner[lane]) * self.width
        return list(np.ascontiguousarray((start[:, None] + offsets).T))


@instruction("wmma.load.a", "wmma.load.b", "wmma.load.c", blocks=True)
def load(op: Operation) -> Run:
    """`wmma.load.a {d, …}, [p], stride`."""
    op.ignore("sync", "aligned")
    form = _Transfer(op, address=1, registers=0)
    writes = op.writes(0, form.type)
    site, width = op.site, form.width

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        memory = lanes.wave.memory
        columns = [
            memory.load(lanes, form.space, address, width, 1, site)[:, 0]
            for address in form.addresses(lanes)
        ]
        elements = np.tile(np.stack(columns, axis=1), (1, form.copies))
        words = np.ascontiguousarray(elements).view(form.type.dtype)
        for write, word in zip(writes, words.T, strict=True):
            write(lanes, word)

    return run


@instruction("wmma.store.d", blocks=True)
def store(op: Operation) -> Run:
    """`wmma.store.d [p], {a, …}, stride`."""
    op.ignore("sync", "aligned")
    form = _Transfer(op, address=0, registers=1)
    reads = op.reads(1, form.type)
    site, width = op.site, form.width

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if not lanes.count:
            return
        words = np.stack([lanes.spread(read(lanes)) for read in reads], axis=1)
        elements = words.view(UNSIGNED[8 * width])
        for at, address in enumerate(form.addresses(lanes)):
            values = elements[:, at : at + 1]
            lanes.wave.memory.store(lanes, form.space, address, values, width, 1, site)

    return run


@instruction("wmma.mma", blocks=True)
def multiply(op: Operation) -> Run:
    """`wmma.mma d, a, b, c`: D = A * B + C."""
    form = _take_form(op)
    a = _multiplicand(op, 1, form.m, form.k, form.a)
    b = _multiplicand(op, 2, form.n, form.k, form.b)
    fragment = fragments.accumulator(form.m, form.n)
    c, d = read_accumulators(op, 3, fragment, form.c), write_accumulators(op, 0, fragment, form.d)
    multiply_add, site = form.multiply("wmma"), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if lanes.count:
            d(lanes, multiply_add(a(lanes), b(lanes), c(lanes)))

    return run


def _take_form(op: Operation) -> Form:
    op.ignore("sync", "aligned", "popc", "rn")
    saturate, operation = op.flag("satfinite"), op.choice("and", "xor")
    majors = (op.choice("row", "col") or "", op.choice("row", "col") or "")
    shape, (m, n, k) = _take_shape(op)
    names = op.rest()
    if len(names) == 2:
        # For f16 only the types of D and C are given.
        names = (names[0], "f16", "f16", names[1])
    if len(names) != 4 or any(name not in ELEMENTS for name in names):
        op.unsupported("types")
    d, a, b, c = (ELEMENTS[name] for name in names)
    _check(op, shape, a)
    results = ("f16", "f32") if a.name == "f16" else (_RESULTS.get(a.name, "s32"),)
    if a != b or d.name not in results or c.name not in results:
        op.unsupported(f".{d.name} from .{a.name} and .{b.name}")
    if (operation is not None) != (a.name == "b1") or (saturate and a.is_float):
        op.unsupported("a bit operation or saturation")
    return Form(m, n, k, d, a, b, c, saturate, operation, majors)


def _multiplicand(op: Operation, operand: int, rows: int, k: int, element: Element) -> ReadMatrix:
    fragment = fragments.multiplicand_a(rows, k, element.bits)
    count = max(1, fragment.per_lane * element.bits // (64 if element.bits == 64 else 32))
    expected, actual = count * _copies(fragment, element), len(op.elements(operand))
    if actual != expected:
        op.fail(f"expected {expected} registers as operand {operand + 1}, got {actual}")
    reads = op.reads(operand, SCALAR_TYPES[register_type(element)])[:count]
    read = patterns_from(reads, fragment, element)
    return lambda lanes: element.decode(read(lanes))
