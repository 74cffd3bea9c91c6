"""Choose a small part of the corpus that has every feature of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from corpus_checks import Module

from tilewright.bytecode.reader import read_bytecode
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.tile_types import TileType
from tilewright.ir.attributes import Attribute, EnumAttr, IntegerAttr, Parametric, Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import FunctionType
from tilewright.support.location import Location

SIZE: Final = 300
LARGEST: Final = 10
FLAG_LIMIT: Final = 4
"""Integers below this are features (flags, axes, small choices); others are just numbers."""


def choose(modules: Iterable[Module]) -> list[str]:
    """The names of a sample: the largest modules and tiles, a cover of all features, and some more.

    The rest of the sample is spread evenly over the names, so that it is not only rarities.
    """
    read = {module.name: read_bytecode(module.data, module.name) for module in modules}
    chosen = dict.fromkeys([*_largest(read, _operations), *_largest(read, _elements)])
    chosen.update(dict.fromkeys(_cover({name: features(read[name]) for name in read}, chosen)))
    others = [name for name in read if name not in chosen]
    missing = max(SIZE - len(chosen), 0)
    if missing:
        chosen.update(dict.fromkeys(others[:: max(len(others) // missing, 1)][:missing]))
    return sorted(chosen)


def _largest(modules: dict[str, ModuleOp], size: Callable[[ModuleOp], int]) -> list[str]:
    return sorted(modules, key=lambda name: (-size(modules[name]), name))[:LARGEST]


def _operations(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def _elements(module: ModuleOp) -> int:
    types = [value.type for op in module.walk() for value in op.results]
    return max([type.count for type in types if isinstance(type, TileType)], default=0)


def _cover(wanted: dict[str, frozenset[str]], chosen: Iterable[str]) -> Iterator[str]:
    """Names that together have every feature; each adds the most that is still missing."""
    missing = frozenset[str]().union(*wanted.values())
    missing = missing.difference(*(wanted[name] for name in chosen))
    while missing:
        best = max(wanted, key=lambda name: len(wanted[name] & missing))
        missing -= wanted[best]
        yield best


def features(module: ModuleOp) -> frozenset[str]:
    """Return the features of a module: operations, their attributes and types, control flow."""
    names: set[str] = set()
    for op in module.walk():
        names.add(_path(op))
        names.update(f"{op.name} {name} {text}" for name, text in _attributes(op))
        types = [value.type for value in (*op.operands, *op.results)]
        names.update(_type(type) for type in types)
        names.update(f"{op.name} {type.element}" for type in types if isinstance(type, TileType))
        names.add(f"{op.name} {len(op.regions)} regions, {min(len(op.results), 4)} results")
        names.add(f"location {type(op.location).__name__}")
    return frozenset(names)


def _path(op: Operation) -> str:
    """The operations around one, from the outside in."""
    outside = [each.name.removeprefix("cuda_tile.") for each in op.ancestors()]
    return " > ".join([*reversed(outside), op.name if op.regions else "..."])


def _attributes(op: Operation) -> Iterator[tuple[str, str]]:
    for name, value in op.attributes.items():
        for text in _contents(value):
            yield name, text


def _contents(value: object) -> Iterator[str]:
    match value:
        case EnumAttr():
            yield str(value)
        case IntegerAttr(value=number):
            yield f"integer {number if 0 <= number < FLAG_LIMIT else 'large'}"
        case Type():
            yield _type(value)
        case Parametric():
            yield type(value).__name__
            for parameter in value.parameters:
                yield from _contents(parameter)
        case Attribute() | Location():
            yield type(value).__name__
        case tuple():
            for each in value:
                yield from _contents(each)
        case _:
            return


def _type(kind: Type) -> str:
    """The kind of a type, its rank and element; extents are left out."""
    if isinstance(kind, FunctionType):
        return "function"
    parts = [kind.mnemonic or str(kind)]
    for parameter in kind.parameters:
        match parameter:
            case Type():
                parts.append(_type(parameter))
            case EnumAttr() | None:
                parts.append(str(parameter))
            case tuple():
                parts.append(f"rank {len(parameter)}")
            case _:
                pass
    return " ".join(parts)
