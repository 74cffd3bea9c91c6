"""`mma.sync`: warp-level mma of fragments in registers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.matrix import accumulate, fragments
from tilewright.ptxsim.matrix.elements import ELEMENTS, Element
from tilewright.ptxsim.matrix.operands import (
    ReadMatrix,
    read_accumulators,
    read_numbers,
    write_accumulators,
)
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.warps import whole_warps

_SHAPE: Final = re.compile(r"m(\d+)n(\d+)k(\d+)")

# Shapes by the type of A; B has the same type, or another one of its family.
SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "f16": ("m8n8k4", "m16n8k8", "m16n8k16"),
    "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"),
    "f64": ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
    "e4m3": ("m16n8k16", "m16n8k32"),
    "e5m2": ("m16n8k16", "m16n8k32"),
    "s8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "u8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "s4": ("m8n8k32", "m16n8k32", "m16n8k64"),
    "u4": ("m8n8k32", "m16n8k32", "m16n8k64"),
    "b1": ("m8n8k128", "m16n8k128", "m16n8k256"),
}
_FAMILIES: Final = ({"e4m3", "e5m2"}, {"s8", "u8"}, {"s4", "u4"})
_RESULTS: Final = {
    "f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "f64": ("f64",),
    "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32"),
    "s8": ("s32",), "u8": ("s32",), "s4": ("s32",), "u4": ("s32",), "b1": ("s32",),
}  # fmt: skip

Multiply = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Form:
    """The modifiers of an mma: shape, types, saturation, majorness."""

    m: int
    n: int
    k: int
    d: Element
    a: Element
    b: Element
    c: Element
    saturate: bool
    bit_operation: str | None
    majors: tuple[str, str]

    def multiply(self, instruction: str) -> Multiply:
        """The function from A, transposed B and C to D."""
        if self.a.name == "f64":
            return accumulate.multiply_add_f64
        if self.bit_operation is not None:
            operation = self.bit_operation
            return lambda a, b, c: accumulate.multiply_add_bits(a, b, c, operation)
        if not self.a.is_float:
            saturate = self.saturate
            return lambda a, b, c: accumulate.multiply_add_integers(a, b, c, saturate)
        elements, result = (self.a, self.b), self.d.name
        return lambda a, b, c: accumulate.multiply_add(
            a, b, c, elements, result, accumulate.adder_for(instruction, self.a)
        )


def take_form(op: Operation, shapes: dict[str, tuple[str, ...]]) -> Form:
    """Decode the modifiers of an `mma`, or of a variant with other shapes."""
    saturate, operation = op.flag("satfinite"), op.choice("and", "xor")
    op.ignore("popc", "aligned")
    shape, *rest = op.rest()
    majors = tuple(each for each in rest if each in ("row", "col"))
    types = [each for each in rest if each in ELEMENTS]
    unknown = [each for each in rest if each not in ELEMENTS and each not in ("row", "col")]
    matched = _SHAPE.fullmatch(shape)
    if unknown or matched is None or len(types) != 4 or len(majors) != 2:
        op.unsupported(f".{unknown[0]}" if unknown else "")
    d, a, b, c = (ELEMENTS[name] for name in types)
    same_family = a == b or any({a.name, b.name} <= family for family in _FAMILIES)
    if shape not in shapes.get(a.name, ()) or not same_family:
        op.unsupported(f"no .{shape} of .{a.name} and .{b.name}")
    if d.name not in _RESULTS[a.name] or c.name not in _RESULTS[a.name]:
        op.unsupported(f"results of .{d.name} from .{a.name}")
    m, n, k = map(int, matched.groups())
    if (operation is not None) != (a.name == "b1"):
        op.unsupported("a bit operation on numbers, or none on bits")
    return Form(m, n, k, d, a, b, c, saturate, operation, (majors[0], majors[1]))


@instruction("mma.sync", blocks=True)
def multiply(op: Operation) -> Run:
    """`mma.sync d, a, b, c`: D = A * B + C per warp."""
    form = take_form(op, SHAPES)
    if (form.m, form.k, form.a.name) == (8, 4, "f16"):
        return _multiply_quarters(op, form)
    if form.majors != ("row", "col"):
        op.unsupported(f".{form.majors[0]}.{form.majors[1]}")
    a = read_numbers(op, 1, fragments.multiplicand_a(form.m, form.k, form.a.bits), form.a)
    b = read_numbers(op, 2, fragments.multiplicand_b(form.k, form.n, form.b.bits), form.b)
    fragment = fragments.accumulator(form.m, form.n)
    c = read_accumulators(op, 3, fragment, form.c)
    d = write_accumulators(op, 0, fragment, form.d)
    multiply_add, site = form.multiply("mma"), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if lanes.count:
            d(lanes, multiply_add(a(lanes), b(lanes), c(lanes)))

    return run


def _multiply_quarters(op: Operation, form: Form) -> Run:
    """m8n8k4 of f16: four 8×8×4 mmas, each by eight lanes of the warp."""
    a_fragment = fragments.quarter_multiplicand(form.majors[0] == "col")
    b_fragment = fragments.quarter_multiplicand(form.majors[1] == "row")
    a = _quarters(read_numbers(op, 1, a_fragment, form.a))
    b = _quarters(read_numbers(op, 2, b_fragment, form.b))
    c_fragment = fragments.quarter_accumulator(form.c.bits)
    d_fragment = fragments.quarter_accumulator(form.d.bits)
    c = _quarters(read_accumulators(op, 3, c_fragment, form.c))
    d = write_accumulators(op, 0, d_fragment, form.d)
    multiply_add, site = form.multiply("mma"), op.site

    def run(lanes: Lanes) -> None:
        lanes = whole_warps(lanes, site)
        if lanes.count:
            d(lanes, multiply_add(a(lanes), b(lanes), c(lanes)).reshape(-1, 32, 8))

    return run


def _quarters(read: ReadMatrix) -> ReadMatrix:
    """Split matrices of 32 rows into four of eight."""

    def split(lanes: Lanes) -> Array:
        matrices = read(lanes)
        return matrices.reshape(-1, 8, matrices.shape[2])

    return split
