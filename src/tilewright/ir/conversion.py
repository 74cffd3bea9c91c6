"""Dialect conversion: patterns, and the driver that makes a program legal or leaves it alone.

    @converts(cuda_tile.AddFOp)
    def addf(op: cuda_tile.AddFOp, new: cuda_tile.AddFOp, build: ConversionBuilder) -> Result:
        return build.create(nv_tileaa.AddFOp, lhs=new.lhs, rhs=new.rhs, rounding=op.rounding)

A conversion builds the new program beside the old one and puts it in place at the very end. So a
pattern sees the whole old program, with its types and definitions, as it was; a pattern that gives
up has no effect; and a conversion that fails leaves the input untouched. Legal operations are
cloned into the new program: a reference to one held from before the conversion is stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from tilewright.ir.conversion_builder import ConversionBuilder
from tilewright.ir.conversion_pattern import (
    ConversionPattern,
    Made,
    PatternFinder,
    Result,
    Transfer,
)
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation, Region
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.values import Value
from tilewright.support.collector import CollectorPause
from tilewright.support.diagnostics import Diagnostic, Sink
from tilewright.support.stack import DeepRecursion

OpT = TypeVar("OpT", bound=Operation)

Check = Callable[[Sequence[Region]], Iterable[Diagnostic]]
"""Reports the errors of converted regions."""

Patterns = tuple[ConversionPattern, ...]
"""Patterns in the order in which they are tried."""


def converts(
    *roots: type[OpT],
) -> Callable[[Callable[[OpT, OpT, ConversionBuilder], Result]], ConversionPattern]:
    """Make a pattern of a function `(op, new, build)`.

    `op` is the operation of the old program. `new` looks the same but has the operands of the new
    program, in converted types; it only serves to be read. The function gives what stands for the
    results (see `Result`), or `None` if the pattern does not apply.
    """

    def declare(apply: Callable[[OpT, OpT, ConversionBuilder], Result]) -> ConversionPattern:
        return ConversionPattern(roots, apply, apply.__name__)

    return declare


def transfers(
    *roots: type[OpT],
) -> Callable[[Callable[[OpT, Sequence[Value], TypeConverter], Made]], ConversionPattern]:
    """Make a pattern of a function `(op, operands, types)`, for what needs no builder.

    `operands` are those of the new program, one for each of the old. The function gives the new
    operation, or several of which the last has the results; they must be legal, and have the
    location of the old one. `None`: it does not apply. This is half the work of `converts`.
    """

    def declare(
        make: Callable[[OpT, Sequence[Value], TypeConverter], Made],
    ) -> ConversionPattern:
        return transfer_pattern(roots, make, make.__name__)

    return declare


def transfer_pattern(
    roots: tuple[type[Operation], ...],
    make: Transfer,
    name: str,
    problem: Callable[[Any], str | None] | None = None,
) -> ConversionPattern:
    """The pattern that a function makes; see `transfers`.

    `problem` says why it does not apply to an operation.
    """

    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        made = make(op, new.operands, build.types)
        if made is None:
            reason = None if problem is None else problem(op)
            return None if reason is None else build.reject(reason)
        if isinstance(made, Operation):
            return build.insert(made)
        return [build.insert(each) for each in made][-1]

    return ConversionPattern(roots, apply, name, make)


def mirror(pairs: Mapping[type[Operation], type[Operation]]) -> Patterns:
    """Patterns that change only the class of an operation and its types.

    Operands, attributes, successors and regions carry over. With a class paired to itself this is
    how an operation whose types alone are illegal, such as a loop, gets converted ones.
    """
    return tuple(_mirror(old, new) for old, new in pairs.items())


def _mirror(old: type[Operation], kind: type[Operation]) -> ConversionPattern:
    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        return retyped(op, new, build, kind)

    return ConversionPattern((old,), apply, f"{old.name} to {kind.name}")


def retyped(
    op: Operation, new: Operation, build: ConversionBuilder, kind: type[Operation] | None = None
) -> Result:
    """The same operation, or one of another class, with all types converted."""
    made_as = type(op) if kind is None else kind
    types = build.types.convert_values(op.results)
    if types is None:
        return build.reject("expected result types that can be converted")
    made = made_as(
        new.operands,
        types,
        op.attributes.copy(),
        [Region() for _ in op.regions],
        op.location,
        new.successors,
        new.schema.group_sizes(new) if made_as.schema.has_segments else None,
    )
    build.insert(made)
    for inside, target in zip(op.regions, made.regions, strict=True):
        build.convert_region(inside, target)
    return made


class Conversion(NamedTuple):
    """The contents of an operation, and how they are converted; see `convert`."""

    root: Operation
    target: ConversionTarget
    patterns: Iterable[ConversionPattern] | PatternFinder
    types: TypeConverter | None = None
    partial: bool = False
    check: Check | None = None
    """Looks for errors in the new contents before they replace the old ones."""


def convert(
    root: Operation,
    target: ConversionTarget,
    patterns: Iterable[ConversionPattern] | PatternFinder,
    types: TypeConverter | None = None,
    *,
    partial: bool = False,
    sink: Sink | None = None,
) -> bool:
    """Make all inside `root` legal; `root` itself stays.

    A full conversion leaves only what `target` calls legal. A partial one also leaves what the
    target does not mention and no pattern takes. Where the types of a value and of its users
    differ, and `types` has no materialisation between them, that is an error.

    If it fails, `root` is exactly as it was, and a `UserError` names every operation that could
    not be made legal; with a `sink` the errors go there, and the answer is false.
    """
    return convert_all([Conversion(root, target, patterns, types, partial)], sink)


def convert_all(conversions: Sequence[Conversion], sink: Sink | None = None) -> bool:
    """Convert the contents of several operations, all or none of them; see `convert`."""
    errors = Sink()
    builders = [_builder(conversion, errors) for conversion in conversions]
    try:
        with CollectorPause(), DeepRecursion():
            for build, conversion in zip(builders, conversions, strict=True):
                build.run()
                if conversion.check is not None and not errors.diagnostics:
                    errors.diagnostics.extend(conversion.check(build.regions))
    except BaseException:
        for build in builders:
            build.discard()
        raise
    for build in builders:
        if errors.diagnostics:
            build.discard()
        else:
            build.commit()
    if sink is None:
        errors.raise_errors()
        return True
    for diagnostic in errors.diagnostics:
        sink.add(diagnostic)
    return not errors.diagnostics


def _builder(conversion: Conversion, errors: Sink) -> ConversionBuilder:
    root, target, patterns, types, partial, _ = conversion
    finder = patterns if isinstance(patterns, PatternFinder) else PatternFinder(patterns)
    return ConversionBuilder(root, target, finder, types, partial, errors)
