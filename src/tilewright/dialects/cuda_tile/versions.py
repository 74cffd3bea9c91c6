"""Tile IR versions: the operations of each, and checks of a module against one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import ENUM_SINCE
from tilewright.dialects.cuda_tile.types import (
    ELEMENT_SINCE,
    TYPE_SINCE,
    PtrType,
    TensorViewType,
    TileType,
    ViewType,
)
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    Type,
    TypeAttr,
)
from tilewright.ir.declare import TEXT_ONLY, AttributeField, Field, Version
from tilewright.ir.types import FunctionType
from tilewright.support.diagnostics import Diagnostic

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation

FIRST: Final[Version] = (13, 1)
LAST: Final[Version] = (13, 5)
"""The newest version."""

RENAMED: Final[dict[str, tuple[str, Version]]] = {
    "cuda_tile.print_tko": ("cuda_tile.print", (13, 2)),
    "cuda_tile.fpowf": ("cuda_tile.pow", (13, 4)),
}
"""The operations that were renamed in a version."""


def op_name(op: type[Operation], version: Version) -> str:
    """The name of an operation in a version."""
    old, until = RENAMED.get(op.name, (op.name, FIRST))
    return old if version < until else op.name


def roster(ops: Iterable[type[Operation]], version: Version) -> list[str]:
    """The names of the operations of a version, in order."""
    return sorted({op_name(op, version) for op in ops if (op.since or FIRST) <= version})


def version_problems(module: Operation, version: Version) -> Iterator[Diagnostic]:
    """Report the features of a module that are newer than a version, or in text alone."""
    types: dict[Type, str | None] = {}
    for op in module.walk():
        is_newest = version >= LAST
        problems = _field_problems(op, version) if is_newest else _op_problems(op, version, types)
        for problem in problems:
            yield op.error(problem)


def _op_problems(op: Operation, version: Version, types: dict[Type, str | None]) -> Iterator[str]:
    if (op.since or FIRST) > version:
        yield _needs("", op.since or FIRST, version)
        return
    yield from _field_problems(op, version)
    problems: dict[str, None] = {}
    for type in _types(op):
        if type not in types:
            types[type] = _type_problem(type, version)
        problems.update({problem: None for problem in (types[type],) if problem})
    for name, attribute in op.attributes.items():
        if not _is_default(op, name):
            problems.update({problem: None for problem in _attribute_problems(attribute, version)})
    yield from problems


def _field_problems(op: Operation, version: Version) -> Iterator[str]:
    """Report newer attributes that are not the default, newer operands, and newer results
    that have uses."""
    schema = op.schema
    for field, since in _newer_fields(type(op), version):
        name = field.name
        if isinstance(field, AttributeField):
            name = field.spelling
            is_used = name in op.attributes and not _is_default(op, name)
        else:
            values = schema.values(op, name)
            is_used = any(value.users for value in values) if field in schema.results else values
        if is_used:
            yield _needs(f"'{name}' ", since, version)


@cache
def _newer_fields(kind: type[Operation], version: Version) -> tuple[tuple[Field, Version], ...]:
    dated = ((field, field.since or FIRST) for field in kind.schema.by_name.values())
    return tuple((field, since) for field, since in dated if since > version)


def _is_default(op: Operation, name: str) -> bool:
    """Whether an attribute is the default, or an array of flags of which none is set."""
    stored = op.attributes[name]
    is_unset = isinstance(stored, DenseArrayAttr) and not any(stored.values)
    return is_unset or op.schema.is_default(op, name)


def _types(op: Operation) -> Iterator[Type]:
    for value in (*op.operands, *op.results):
        yield value.type
    for region in op.regions:
        for block in region.blocks:
            yield from (argument.type for argument in block.args)


def _type_problem(type: Type, version: Version) -> str | None:
    """Check a type against a version; returns an error message or `None`."""
    since = TYPE_SINCE.get(type.__class__, FIRST)
    if since > version:
        return _needs(f"'{type.mnemonic.partition('.')[2]}' ", since, version)
    match type:
        case TileType() | TensorViewType():
            inner, attr = type.element, getattr(type, "attr", None)
        case PtrType():
            inner, attr = type.pointee, type.attr
        case ViewType():
            return _type_problem(type.tensor_view, version)
        case FunctionType():
            problems = (_type_problem(part, version) for part in (*type.inputs, *type.results))
            return next(filter(None, problems), None)
        case _:
            since = ELEMENT_SINCE.get(type, FIRST)
            return _needs(f"'{type}' ", since, version) if since > version else None
    if attr is not None and ENUM_SINCE[attr.__class__] > version:
        return _needs("'ptr_attr' ", ENUM_SINCE[attr.__class__], version)
    return _type_problem(inner, version)


def _attribute_problems(attribute: Attribute, version: Version) -> Iterator[str]:
    """Check an attribute against a version."""
    match attribute:
        case EnumAttr():
            since = max(ENUM_SINCE.get(key, FIRST) for key in (attribute, attribute.__class__))
            if since > version:
                yield _needs(f"'{attribute.keyword}' ", since, version)
        case TypeAttr() | DenseElementsAttr() | IntegerAttr() | FloatAttr():
            problem = _type_problem(attribute.type, version)
            if problem is not None:
                yield problem
        case ArrayAttr():
            for element in attribute.elements:
                yield from _attribute_problems(element, version)
        case DictionaryAttr():
            for _, value in attribute.entries:
                yield from _attribute_problems(value, version)
        case _:
            return


def _needs(feature: str, since: Version, version: Version) -> str:
    if since == TEXT_ONLY:
        return f"{feature}has no form in the bytecode"
    return f"{feature}needs version {since[0]}.{since[1]}, got {version[0]}.{version[1]}"
