"""Every use of an operation that the verifier lets pass, found by trying all types and attributes.

`proposals` says which operands there may be; whether they may be so is the verifier's word alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from op_cases.features import Feature, features, short_name
from op_cases.proposals import BUILDERS, Choice, Kind, Proposal, by_fields, together
from tilewright.ir.attribute_kinds import BoolKind, EnumKind, UnitKind
from tilewright.ir.attributes import (
    UNIT,
    Attribute,
    IntegerAttr,
)
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import I1
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink

SAID_BY_DEFAULT: set[Feature] = {("scan", (), "inclusive", "True")}
"""What the reader of text leaves out, because it is so without being said."""


def accepted(kinds: Iterable[Kind]) -> set[Feature]:
    """The features of all uses of operations."""
    kinds = list(kinds)
    names = {short_name(kind) for kind in kinds}
    result = {feature for feature in together() if feature[0] in names}
    for kind in kinds:
        for proposal in BUILDERS.get(kind, by_fields)(kind):
            for op in _uses(kind, proposal):
                result.update(features(op))
    return result - SAID_BY_DEFAULT


def _uses(kind: Kind, proposal: Proposal) -> Iterator[Operation]:
    """The operations of some types that pass."""
    given, base = proposal.attributes, proposal.base
    if base is not None and not _passes(_build(kind, proposal, {**given, **base})):
        return
    for attributes in _all(kind, given) if base is None else _one_by_one(kind, given, base):
        op = _build(kind, proposal, attributes)
        if _passes(op):
            yield op


def _build(kind: Kind, proposal: Proposal, attributes: dict[str, Attribute]) -> Operation:
    block = Block()
    operands = [block.add_argument(type) for type in proposal.operands]
    return kind(
        operands, proposal.results, attributes, proposal.regions(), segments=proposal.segments
    )


def _passes(op: Operation) -> bool:
    sink = Sink()
    verify(op, sink)
    return next(sink.errors, None) is None


ORDER = {"memory_ordering_semantics", "memory_scope"}
"""Attributes that depend on each other."""


def _all(kind: Kind, given: Choice) -> Iterator[Choice]:
    """All values of all attributes that are not given."""
    options = _options_of_attributes(kind, given)
    for chosen in product(*options.values()):
        pairs = zip(options, chosen, strict=True)
        yield {**given, **{name: value for name, value in pairs if value is not None}}


def _one_by_one(kind: Kind, given: Choice, base: Choice) -> Iterator[Choice]:
    """All values of each attribute, while the others are as in the base."""
    options = _options_of_attributes(kind, given)
    for group in (ORDER, *({name} for name in options if name not in ORDER)):
        fixed = {**given, **{name: value for name, value in base.items() if name not in group}}
        names = [name for name in options if name in group]
        for chosen in product(*(options[name] for name in names)):
            pairs = zip(names, chosen, strict=True)
            yield {**fixed, **{name: value for name, value in pairs if value is not None}}


def _options_of_attributes(kind: Kind, given: Choice) -> dict[str, list[Attribute | None]]:
    options: dict[str, list[Attribute | None]] = {}
    for field in kind.schema.attributes:
        values = _values(field.kind)
        if field.spelling not in given and values is not None:
            options[field.spelling] = [None, *values] if field.optional else list(values)
    return options


def _values(kind: Any) -> Sequence[Attribute] | None:
    if isinstance(kind, EnumKind):
        return list(kind.enum)
    if isinstance(kind, UnitKind):
        return [UNIT]
    return [IntegerAttr(0, I1), IntegerAttr(1, I1)] if isinstance(kind, BoolKind) else None
