"""Statements with approximate results: each is stored, and not used otherwise."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile import floating as d
from tilewright.ir.operation import Operation
from tilewright.testing.compare import Tolerance
from tilewright.testing.documented import ULPS
from tilewright.testing.generate.arithmetic import positive
from tilewright.testing.generate.conversions import bounded
from tilewright.testing.generate.elements import BASE_FLOATS
from tilewright.testing.generate.kernel import Kernel
from tilewright.testing.generate.values import UNKNOWN, Tile, Value

FUNCTIONS: Final[dict[str, tuple[type[Operation], float, float]]] = {
    "exp": (d.ExpOp, -8.0, 8.0),
    "exp2": (d.Exp2Op, -8.0, 8.0),
    "log": (d.LogOp, 0.5, 64.0),
    "log2": (d.Log2Op, 0.5, 64.0),
    "sin": (d.SinOp, -8.0, 8.0),
    "cos": (d.CosOp, -8.0, 8.0),
    "tan": (d.TanOp, -1.25, 1.25),
    "sinh": (d.SinHOp, -4.0, 4.0),
    "cosh": (d.CosHOp, -4.0, 4.0),
    "tanh": (d.TanHOp, -4.0, 4.0),
    "rsqrt": (d.RsqrtOp, 0.25, 64.0),
}
"""Unary functions, and the ranges of their operands."""


def tolerance(kind: type[Operation], element: str) -> Tolerance:
    """The tolerance of a function."""
    single, double = ULPS[kind]
    ulps = {"f32": single, "f64": double}.get(element, 1)
    # The reference result may itself be off by one ulp.
    return Tolerance(ulps=ulps + 1)


def keep(k: Kernel, text: str, tile: Tile, allowed: Tolerance) -> None:
    """Store a result, perhaps transposed; no other statement may use it."""
    value = Value(k.emit(text)[0], tile, UNKNOWN)
    if len(tile.shape) == 2 and k.chance(0.3):
        transposed = tile.shaped(tile.shape[1], tile.shape[0])
        (name,) = k.emit(f"permute {value.name} [1, 0] : {tile} -> {transposed}")
        value = Value(name, transposed, UNKNOWN)
    k.output(value, allowed)


def function(k: Kernel) -> None:
    """A unary function."""
    if not k.scope.runs_once:
        return
    op = k.random.choice(tuple(FUNCTIONS))
    kind, low, high = FUNCTIONS[op]
    a = bounded(k, k.any_of(*BASE_FLOATS), low, high)
    flush = op in ("exp2", "rsqrt") and a.tile.element == "f32" and k.chance(0.3)
    text = f"{op} {a.name}{' flush_to_zero' if flush else ''} : {a.tile}"
    keep(k, text, a.tile, tolerance(kind, a.tile.element))


def function_of_two(k: Kernel) -> None:
    """`atan2`, `fpowf` and `fpowi`."""
    if not k.scope.runs_once:
        return
    a = k.any_of(*BASE_FLOATS)
    match k.random.choice(("atan2", "fpowf", "fpowi")):
        case "atan2":
            # Away from zero: next to the branch cut the sign of a tiny number decides.
            a = bounded(k, a, 0.5, 8.0)
            b = bounded(k, k.operand(a.tile), -8.0, 8.0)
            text, kind = f"atan2 {a.name}, {b.name} : {a.tile}", d.Atan2Op
        case "fpowf":
            a = bounded(k, a, 0.5, 4.0)
            b = bounded(k, k.operand(a.tile), -2.0, 2.0)
            text, kind = f"fpowf {a.name}, {b.name} : {a.tile}", d.FPowFOp
        case _:
            a = bounded(k, a, 0.5, 2.0)
            b = _exponent(k, a.tile)
            text, kind = f"fpowi {a.name}, {b.name} : {a.tile}, {b.tile}", d.FPowIOp
    keep(k, text, a.tile, tolerance(kind, a.tile.element))


def _exponent(k: Kernel, tile: Tile) -> Value:
    element = k.element("i1", "i8", "i16", "i32")
    if element == "i1":
        return k.operand(tile.of("i1"))
    return positive(k, tile.of(element))


FAST: Final[dict[str, tuple[float, float, Tolerance]]] = {
    "exp": (-8.0, 8.0, Tolerance(ulps=2 + 9 + 1)),
    "tanh": (-4.0, 4.0, Tolerance(relative=2.0**-11 + 2.0**-24)),
    "sqrt": (0.0, 64.0, Tolerance(relative=2.0**-23 + 2.0**-24)),
}
"""Approximate forms in f32: the ranges of their operands, and their tolerances.

The bounds are the documented ones, plus half a unit for the reference result.
"""


def fast_form(k: Kernel) -> None:
    """An approximate form that is a single hardware instruction."""
    if not k.scope.runs_once:
        return
    a = k.operand(Tile("f32", k.shape()))
    if k.chance(0.4):
        b = bounded(k, k.operand(a.tile), 0.5, 64.0)
        a = bounded(k, a, -64.0, 64.0)
        mode = k.random.choice(("approx", "full"))
        flush = " flush_to_zero" if k.chance(0.3) else ""
        text = f"divf {a.name}, {b.name} rounding<{mode}>{flush} : {a.tile}"
        keep(k, text, a.tile, Tolerance(ulps=3, absolute=2.0**-126))
        return
    op = k.random.choice(tuple(FAST))
    low, high, allowed = FAST[op]
    a = bounded(k, a, low, high)
    flush = " flush_to_zero" if op == "sqrt" and k.chance(0.3) else ""
    if flush:
        # Flushed results are below the square root of the smallest normal number.
        allowed = Tolerance(relative=allowed.relative, absolute=2.0**-63)
    keep(k, f"{op} {a.name} rounding<approx>{flush} : {a.tile}", a.tile, allowed)


def inexact_reduction(k: Kernel) -> None:
    """A reduction of non-integer floats, within its error bound."""
    if not k.scope.runs_once:
        return
    a = k.fresh(Tile(k.element(*BASE_FLOATS), _ranked(k)))
    a = bounded(k, a, -8.0, 8.0)
    dim = k.random.randrange(len(a.tile.shape))
    count = a.tile.shape[dim]
    bound = count * 2.0**-a.tile.kind.precision * count * 8.0
    tile = a.tile.shaped(*a.tile.shape[:dim], *a.tile.shape[dim + 1 :])
    scalar = Tile(a.tile.element)
    text = (
        f"reduce {a.name} dim={dim} identities=[0.0 : {scalar.element}] : {a.tile} -> {tile} "
        f"(%a: {scalar}, %b: {scalar}) {{ %s = addf %a, %b : {scalar} yield %s : {scalar} }}"
    )
    # Both the result and the reference may be off by the bound.
    keep(k, text, tile, Tolerance(absolute=2 * bound))


def _ranked(k: Kernel) -> tuple[int, ...]:
    return k.shape() or (8,)


STATEMENTS: Final = (function, function, function_of_two, fast_form, inexact_reduction)
