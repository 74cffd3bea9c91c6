"""Interpret small integer programs of nv_tileaa, and check analysis facts against the tiles.

Tiles are NumPy arrays of Python integers, which are bit patterns; arithmetic is plain Python. Every
tile that a value ever takes is recorded, so that facts are checked against each.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from tilewright.analysis.intervals import Interval
from tilewright.analysis.runs import Axes
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import IntegerType
from tilewright.ir.values import Value

Array = Any


class UndefinedError(Exception):
    """The program has undefined behavior for these inputs."""


def width(value: Value) -> int:
    """The bits of an element."""
    element = element_of(value.type)
    return element.width if isinstance(element, IntegerType) else 64


def signed(pattern: int, bits: int) -> int:
    """Two's complement."""
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern


class Run:
    """One run of a function, up to undefined behavior; `seen` has all tiles of each value."""

    def __init__(self, function: Operation, arguments: list[int]) -> None:
        self.now: dict[Value, Array] = {}
        self.seen: dict[Value, list[Array]] = {}
        block = function.regions[0].blocks[0]
        for argument, number in zip(block.args, arguments, strict=True):
            self.bind(argument, np.array(number, dtype=object))
        with suppress(UndefinedError):
            self.block(block)

    def bind(self, value: Value, tile: Array) -> None:
        bits = width(value)
        patterns = np.vectorize(lambda n: int(n) & ((1 << bits) - 1), otypes=[object])(tile)
        self.now[value] = patterns
        self.seen.setdefault(value, []).append(patterns)

    def block(self, block: Block) -> list[Array]:
        """Run a block and return the operands of its terminator."""
        for op in block:
            if op.is_terminator:
                return [self.now[value] for value in op.operands]
            self.operation(op)
        raise AssertionError("a block without an end")

    def operation(self, op: Operation) -> None:
        name = op.name.split(".")[1]
        special = getattr(self, f"_{op.name.replace('.', '_')}", None)
        if special is not None:
            special(op)
            return
        operands = [self.now[value] for value in op.operands]
        bits = width(op.operands[0]) if op.operands else 0
        function = ELEMENTS[name]
        compute = np.frompyfunc(lambda *a: function(op, bits, *a), len(operands), 1)
        self.bind(op.results[0], np.asarray(compute(*operands), dtype=object))

    def _arith_constant(self, op: Any) -> None:
        value = op.value
        if hasattr(value, "elements"):
            patterns = value.elements()
            extents = shape(op.result.type)
            whole = np.empty(int(np.prod(extents)), dtype=object)
            whole[:] = patterns * (len(whole) // len(patterns))
            self.bind(op.result, whole.reshape(extents))
        else:
            self.bind(op.result, np.array(int(value.value), dtype=object))

    def _nv_tileaa_make_range(self, op: Any) -> None:
        (count,) = shape(op.result.type)
        self.bind(op.result, np.arange(op.start, op.start + count).astype(object))

    def _nv_tileaa_splat(self, op: Any) -> None:
        self.bind(op.result, np.full(shape(op.result.type), self.now[op.source], dtype=object))

    def _nv_tileaa_broadcast(self, op: Any) -> None:
        self.bind(op.result, np.broadcast_to(self.now[op.source], shape(op.result.type)))

    def _nv_tileaa_view(self, op: Any) -> None:
        self.bind(op.result, self.now[op.source].reshape(shape(op.result.type)))

    _nv_tileaa_expand_dims = _nv_tileaa_view

    def _nv_tileaa_permute(self, op: Any) -> None:
        self.bind(op.result, self.now[op.source].transpose(op.order))

    def _nv_tileaa_cat(self, op: Any) -> None:
        parts = [self.now[op.lhs], self.now[op.rhs]]
        self.bind(op.result, np.concatenate(parts, axis=op.axis))

    def _nv_tileaa_extract_slice(self, op: Any) -> None:
        extents = shape(op.result.type)
        starts = [int(self.now[i]) * e for i, e in zip(op.indices, extents, strict=True)]
        part = self.now[op.source][
            tuple(slice(s, s + e) for s, e in zip(starts, extents, strict=True))
        ]
        if part.shape != extents:
            raise UndefinedError
        self.bind(op.result, part)

    def _nv_tileaa_assume(self, op: Any) -> None:
        self.bind(op.result, self.now[op.value])

    def _scf_if(self, op: Any) -> None:
        region = op.then_region if int(self.now[op.condition]) else op.else_region
        for result, tile in zip(op.results, self.block(region.block), strict=True):
            self.bind(result, tile)

    def _scf_for(self, op: Any) -> None:
        bits = width(op.step)
        lower, upper, step = (signed(int(self.now[v]), bits) for v in op.operands[:3])
        carried = [self.now[value] for value in op.init_args]
        if step <= 0 or (upper - lower) // step > 12:
            raise UndefinedError
        for index in range(lower, upper, step):
            if index + step >= 1 << (bits - 1):
                raise UndefinedError
            self.bind(op.induction_variable, np.array(index, dtype=object))
            for argument, tile in zip(op.carried, carried, strict=True):
                self.bind(argument, tile)
            carried = self.block(op.body.block)
        for result, tile in zip(op.results, carried, strict=True):
            self.bind(result, tile)

    def _scf_while(self, op: Any) -> None:
        carried = [self.now[value] for value in op.init_args]
        for _ in range(12):
            for argument, tile in zip(op.before.block.args, carried, strict=True):
                self.bind(argument, tile)
            going, *passed = self.block(op.before.block)
            targets = op.after.block.args if int(going) else op.results
            for target, tile in zip(targets, passed, strict=True):
                self.bind(target, tile)
            if not int(going):
                return
            carried = self.block(op.after.block)
        raise UndefinedError


def _read(op: Any, bits: int, *numbers: int) -> list[int]:
    if op.signedness.name == "SIGNED":
        return [signed(number, bits) for number in numbers]
    return [*numbers]


def _quotient(a: int, b: int, rounding: str) -> int:
    if b == 0:
        raise UndefinedError
    if rounding == "NEGATIVE_INF":
        return a // b
    if rounding == "POSITIVE_INF":
        return -(-a // b)
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _divi(op: Any, bits: int, a: int, b: int) -> int:
    x, y = _read(op, bits, a, b)
    if op.signedness.name == "SIGNED" and x == -(1 << (bits - 1)) and y == -1:
        raise UndefinedError
    return _quotient(x, y, op.rounding_mode.name)


def _remi(op: Any, bits: int, a: int, b: int) -> int:
    x, y = _read(op, bits, a, b)
    return x - y * _quotient(x, y, "ZERO")


def _shift(bits: int, amount: int) -> int:
    if amount >= bits:
        raise UndefinedError
    return amount


def _cmpi(op: Any, bits: int, a: int, b: int) -> int:
    name = op.predicate.name
    if name.startswith("S"):
        a, b = signed(a, bits), signed(b, bits)
    kind = name.lstrip("SU") if name not in ("EQ", "NE") else name
    return int(
        {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b}[kind]
    )


def _addptr(op: Any, bits: int, pointer: int, offset: int) -> int:
    element = element_of(op.pointers.type)
    assert isinstance(element, PtrType)
    size = 1 if op.in_bytes else (element.pointee.width + 7) // 8  # pyrefly: ignore[missing-attribute]
    return pointer + signed(offset, width(op.offsets)) * size


ELEMENTS: dict[str, Any] = {
    "addi": lambda op, bits, a, b: a + b,
    "subi": lambda op, bits, a, b: a - b,
    "muli": lambda op, bits, a, b: a * b,
    "divi": _divi,
    "remi": _remi,
    "andi": lambda op, bits, a, b: a & b,
    "ori": lambda op, bits, a, b: a | b,
    "xori": lambda op, bits, a, b: a ^ b,
    "shli": lambda op, bits, a, b: a << _shift(bits, b),
    "shri": lambda op, bits, a, b: _read(op, bits, a)[0] >> _shift(bits, b),
    "maxsi": lambda op, bits, a, b: max(a, b, key=lambda n: signed(n, bits)),
    "minsi": lambda op, bits, a, b: min(a, b, key=lambda n: signed(n, bits)),
    "maxui": lambda op, bits, a, b: max(a, b),
    "minui": lambda op, bits, a, b: min(a, b),
    "negi": lambda op, bits, a: -a,
    "absi": lambda op, bits, a: abs(signed(a, bits)),
    "cmpi": _cmpi,
    "select": lambda op, bits, c, a, b: a if c else b,
    "exti": lambda op, bits, a: _read(op, bits, a)[0],
    "trunci": lambda op, bits, a: a,
    "bitcast": lambda op, bits, a: a,
    "addptr": _addptr,
    "int_to_ptr": lambda op, bits, a: a,
    "ptr_to_int": lambda op, bits, a: a,
}


def contradiction(facts: Axes, tile: Array, bits: int) -> str | None:
    """Return how a tile contradicts its facts, or `None`."""
    for run in facts.dims:
        for length in (run.contiguity, run.constancy):
            if length & (length - 1) or length < 1:
                return f"{length} is no length of a run"
    for index, number in np.ndenumerate(tile):
        if number % facts.divisor:
            return f"{facts.divisor} does not divide {number} at {index}"
        for dim, run in enumerate(facts.dims):
            at = index[dim]
            if at % run.contiguity == 0 and number % run.divisibility:
                return f"{run.divisibility} does not divide {number} at {index} along {dim}"
            before = tile[(*index[:dim], at - 1, *index[dim + 1 :])]
            if at % run.contiguity and (number - before - facts.unit) % (1 << bits):
                return f"{before}, {number} at {index} is no run along {dim}"
            if at % run.constancy and number != before:
                return f"{before} is not {number} at {index} along {dim}"
    return None


def outside(interval: Interval, tile: Array) -> str | None:
    """Return an element of a tile that is outside of its interval, or `None`."""
    for number in tile.flat:
        if not interval.ulow <= number <= interval.uhigh:
            return f"{number} is not in {interval}"
        if not interval.low <= signed(number, interval.width) <= interval.high:
            return f"{signed(number, interval.width)} is not in {interval}"
    return None
