"""Comparisons and selections."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

import numpy as np

from tilewright.ptxsim import rounding
from tilewright.ptxsim.float_formats import FORMATS
from tilewright.ptxsim.instructions.floating import numbers
from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation, Read
from tilewright.ptxsim.scalar_types import SCALAR_TYPES, SIGNED, Array, ScalarType
from tilewright.ptxsim.syntax import Pair

_PREDICATE: Final = SCALAR_TYPES["pred"]
Compare = Callable[[Array, Array], Array]


def _or_nan(compare: Compare) -> Compare:
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def _ordered(compare: Compare) -> Compare:
    return lambda a, b: compare(a, b) & ~np.isnan(a) & ~np.isnan(b)


_PLAIN: Final[dict[str, Compare]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_INTEGER: Final[dict[str, Compare]] = {
    **_PLAIN, "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip
_FLOAT: Final[dict[str, Compare]] = {
    **_PLAIN,
    "ne": _ordered(operator.ne),
    **{f"{name}u": _or_nan(compare) for name, compare in _PLAIN.items()},
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
_COMBINE: Final[dict[str, Compare]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


class _Comparison:
    """A decoded comparison of `set` or `setp`; `test` returns one result per float of a pair."""

    def __init__(self, op: Operation, type: ScalarType, ftz: bool) -> None:
        format = FORMATS.get(type.name)
        names = _INTEGER if format is None else _FLOAT
        name = op.choice(*names)
        if name is None:
            op.fail("expected a comparison")
        self.compare = names[name]
        self.first, self.second = (self._reader(op, at, type, ftz) for at in (1, 2))

    def _reader(self, op: Operation, operand: int, type: ScalarType, ftz: bool) -> Read:
        read = op.read(operand, type)
        format = FORMATS.get(type.name)
        if format is None:
            return read
        decoded = numbers(read, format)
        if ftz:
            return lambda lanes: rounding.flush(decoded(lanes), format.tiny)
        return decoded

    def test(self, lanes: Lanes) -> Array:
        return self.compare(self.first(lanes), self.second(lanes))


@instruction("setp")
def set_predicate(op: Operation) -> Run:
    """`setp.cmp p|q, a, b`, optionally combined with another predicate; q is the complement."""
    ftz = op.flag("ftz")
    combine = op.choice(*_COMBINE)
    type = op.type()
    comparison = _Comparison(op, type, ftz)
    target = op.operand(0)
    first = op.write(target.first if isinstance(target, Pair) else target, _PREDICATE)
    second = op.write(target.second, _PREDICATE) if isinstance(target, Pair) else None
    other = op.predicate(3) if combine else None
    mix = _COMBINE[combine or "and"]
    format = FORMATS.get(type.name)
    if format is not None and format.lanes == 2:
        return _set_pair(comparison, first, second, other, mix)
    if second is None and other is None:
        test = comparison.test
        return lambda lanes: first(lanes, test(lanes))

    def run(lanes: Lanes) -> None:
        result = comparison.test(lanes)
        if other is None:
            first(lanes, result)
            if second is not None:
                second(lanes, ~result)
            return
        also = np.array(other(lanes))
        first(lanes, mix(result, also))
        if second is not None:
            second(lanes, mix(~result, also))

    return run


def _set_pair(
    comparison: _Comparison,
    first: Callable[[Lanes, Array], None],
    second: Callable[[Lanes, Array], None] | None,
    other: Read | None,
    mix: Compare,
) -> Run:
    """Compare packed floats: p is the result for the lower one and q for the upper one."""

    def run(lanes: Lanes) -> None:
        results = comparison.test(lanes).reshape(-1, 2)
        also = None if other is None else np.array(other(lanes))
        for at, write in enumerate((first, second)):
            if write is not None:
                result = results[:, at]
                write(lanes, result if also is None else mix(result, also))

    return run


@instruction("set")
def set_value(op: Operation) -> Run:
    """`set.cmp.d.s d, a, b`: all ones, or 1.0, if true."""
    ftz = op.flag("ftz")
    combine = op.choice(*_COMBINE)
    result, source = op.type(), op.type()
    comparison = _Comparison(op, source, ftz)
    other = op.predicate(3) if combine else None
    mix = _COMBINE[combine or "and"]
    write = op.write(0, result)
    format = FORMATS.get(result.name)
    compared = FORMATS.get(source.name)
    lanes_per_register = compared.lanes if compared else 1

    def run(lanes: Lanes) -> None:
        holds = comparison.test(lanes)
        if other is not None:
            also = lanes.spread(other(lanes))
            holds = mix(holds, np.repeat(also, lanes_per_register))
        if format is None:
            # A pair of floats yields a pair of words.
            width = SIGNED[result.bits // lanes_per_register]
            write(lanes, (-holds.astype(width)).view(result.dtype))
        elif format.element in ("f32", "f64"):
            write(lanes, holds.astype(result.dtype))
        else:
            write(lanes, format.encode(holds.astype(np.float64), "rn"))

    return run


@instruction("selp")
def select(op: Operation) -> Run:
    """`selp d, a, b, p`."""
    type = op.type()
    write, first, second = op.write(0, type), op.read(1, type), op.read(2, type)
    choose = op.predicate(3)
    if type.bits == 128:
        return lambda lanes: write(
            lanes, np.where(choose(lanes)[:, None], first(lanes), second(lanes))
        )
    return lambda lanes: write(lanes, np.where(choose(lanes), first(lanes), second(lanes)))


@instruction("slct")
def select_by_sign(op: Operation) -> Run:
    """`slct d, a, b, c`: a if c is not negative."""
    ftz = op.flag("ftz")
    type, selector = op.type(), op.type()
    write, first, second = op.write(0, type), op.read(1, type), op.read(2, type)
    read = op.read(3, selector)

    def run(lanes: Lanes) -> None:
        c = read(lanes)
        keep = (rounding.flush(c) if ftz else c) >= 0
        write(lanes, np.where(keep, first(lanes), second(lanes)))

    return run


_PROPERTIES: Final[dict[str, Callable[[Array], Array]]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    # Zeros are normal numbers.
    "normal": lambda a: np.isfinite(a) & ((abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
    "subnormal": lambda a: (a != 0) & (abs(a) < np.finfo(a.dtype).tiny),
}


@instruction("testp")
def test_property(op: Operation) -> Run:
    """`testp.finite p, a`, `.infinite`, ...."""
    name = op.choice(*_PROPERTIES)
    if name is None:
        op.fail("expected a property")
    test, type = _PROPERTIES[name], op.type()
    write, read = op.write(0, _PREDICATE), op.read(1, type)
    return lambda lanes: write(lanes, test(read(lanes)))


@instruction("copysign")
def copy_sign(op: Operation) -> Run:
    """`copysign d, a, b`: b with the sign of a."""
    type = op.type()
    write, sign, value = op.write(0, type), op.read(1, type), op.read(2, type)
    return lambda lanes: write(lanes, np.copysign(value(lanes), sign(lanes)))
