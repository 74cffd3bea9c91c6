"""Removal of attributes, optional operands, locations and arguments of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.reduction.control_flow import remove_argument, remove_operands
from tilewright.driver.reduction.strategy import Strategy
from tilewright.driver.reduction.values import is_inside, value_or_constant, zero_attribute
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    Parametric,
    Type,
    TypeAttr,
)
from tilewright.ir.declare import Arity
from tilewright.ir.symbol_table import NAME
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.support.location import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.operation import Operation

SIGNATURE: Final = "function_type"
ARGUMENT_ATTRIBUTES: Final = "arg_attrs"


class RemoveAttributes(Strategy[tuple["Operation", str]]):
    """Remove attributes that operations need not have: hints, flags, what has a default."""

    name = "remove attributes"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, str]]:
        """The attributes that are not required."""
        return [
            (op, name)
            for op in module.walk()
            for name in op.attributes
            if name not in (NAME, SIGNATURE) and not _is_required(op, name)
        ]

    def edit(self, target: tuple[Operation, str], module: Operation) -> None:
        """Remove the attribute."""
        op, name = target
        op.attributes.pop(name, None)


def _is_required(op: Operation, name: str) -> bool:
    field = op.schema.inherent.get(name)
    return field is not None and field.is_required


class RemoveEntries(Strategy[tuple["Operation", str, int]]):
    """Remove entries of attributes that are dictionaries, or of the dictionaries in arrays."""

    name = "remove entries of attributes"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, str, int]]:
        """The entries of dictionaries, numbered within their attribute."""
        return [
            (op, name, index)
            for op in module.walk()
            for name, attribute in op.attributes.items()
            for index in range(_entry_count(attribute))
        ]

    def edit(self, target: tuple[Operation, str, int], module: Operation) -> None:
        """Remove the entry."""
        op, name, index = target
        stored = op.attributes.get(name)
        if stored is not None and index < _entry_count(stored):
            op.attributes[name] = _without_entry(stored, index)


def _entry_count(attribute: object) -> int:
    """The entries of all dictionaries in an attribute, each with those inside it."""
    if isinstance(attribute, DictionaryAttr):
        return sum(1 + _entry_count(value) for _, value in attribute.entries)
    return sum(map(_entry_count, _parts(attribute)))


def _parts(attribute: object) -> tuple[object, ...]:
    if isinstance(attribute, Type):
        return ()
    if isinstance(attribute, Parametric):
        return attribute.parameters
    return attribute if isinstance(attribute, tuple) else ()


def _without_entry(attribute: Any, index: int) -> Any:
    if isinstance(attribute, DictionaryAttr):
        entries: list[tuple[str, Attribute]] = []
        for name, value in attribute.entries:
            count = 1 + _entry_count(value)
            if index == 0:
                pass
            elif 0 < index < count:
                entries.append((name, _without_entry(value, index - 1)))
            else:
                entries.append((name, value))
            index -= count
        return DictionaryAttr(tuple(entries))
    parts: list[object] = []
    for part in _parts(attribute):
        count = _entry_count(part)
        parts.append(_without_entry(part, index) if 0 <= index < count else part)
        index -= count
    if isinstance(attribute, Parametric):
        return attribute.unique(*parts)
    return tuple(parts)


class RemoveOptionalOperands(Strategy[tuple["Operation", int]]):
    """Remove operands that operations need not have: masks, paddings, tokens."""

    name = "remove optional operands"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The optional operands, and those of groups of any size."""
        return [(op, index) for op in module.walk() for index in _optional_operands(op)]

    def edit(self, target: tuple[Operation, int], module: Operation) -> None:
        """Remove the operand."""
        op, index = target
        if is_inside(op, module):
            remove_operands(op, {index})


def _optional_operands(op: Operation) -> Iterator[int]:
    position = 0
    if not op.operands or op.regions or op.successors:
        return
    for field, size in zip(op.schema.operands, op.schema.group_sizes(op), strict=True):
        if field.arity is not Arity.ONE:
            yield from range(position, position + size)
        position += size


class ZeroConstants(Strategy["Operation"]):
    """Replace constants by zero."""

    name = "zero constants"

    def targets(self, module: Operation) -> Sequence[Operation]:
        """The constants of numbers that are not zero."""
        return [
            op
            for op in module.walk()
            if CONSTANT_LIKE in op.traits
            and isinstance(op.attributes.get("value"), IntegerAttr | FloatAttr | DenseElementsAttr)
            and zero_attribute(op.results[0].type) is not op.attributes["value"]
        ]

    def edit(self, target: Operation, module: Operation) -> None:
        """Replace the value."""
        number = zero_attribute(target.results[0].type)
        if number is not None:
            target.attributes["value"] = number


class RemoveArguments(Strategy[tuple["Operation", int]]):
    """Remove arguments of functions and kernels."""

    name = "remove arguments"

    def targets(self, module: Operation) -> Sequence[tuple[Operation, int]]:
        """The arguments of operations that have a signature and a body."""
        return [
            (op, argument.index)
            for op in module.walk()
            if isinstance(op.attributes.get(SIGNATURE), TypeAttr)
            for region in op.regions[:1]
            for block in region.blocks[:1]
            for argument in block.args
        ]

    def edit(self, target: tuple[Operation, int], module: Operation) -> None:
        """Remove the argument from the body, the signature and the attributes of arguments."""
        op, index = target
        signature = op.attributes[SIGNATURE]
        assert isinstance(signature, TypeAttr)
        type: Any = signature.type
        block = op.regions[0].blocks[0]
        # gpu.func has arguments for its memory, which are no inputs.
        if not hasattr(type, "inputs") or index >= len(type.inputs):
            return
        argument = block.args[index]
        if argument.users:
            first = block.first
            other = None if first is None else value_or_constant(argument, first)
            if other is None or other is argument:
                return
            argument.replace_all_uses_with(other)
        remove_argument(block, index)
        inputs = (*type.inputs[:index], *type.inputs[index + 1 :])
        slots = dict(zip(type.__slots__, type.parameters, strict=True)) | {"inputs": inputs}
        op.attributes[SIGNATURE] = TypeAttr(type.unique(*slots.values()))
        _drop_argument_attributes(op, index)


def _drop_argument_attributes(op: Operation, index: int) -> None:
    each = op.attributes.get(ARGUMENT_ATTRIBUTES)
    if isinstance(each, ArrayAttr):
        kept = (*each.elements[:index], *each.elements[index + 1 :])
        op.attributes[ARGUMENT_ATTRIBUTES] = ArrayAttr(kept)


class RemoveLocations(Strategy["Operation"]):
    """Remove the locations of all operations."""

    name = "remove locations"

    def targets(self, module: Operation) -> Sequence[Operation]:
        """The module: all locations, or none."""
        return [module] if any(op.location is not UNKNOWN for op in module.walk()) else []

    def edit(self, target: Operation, module: Operation) -> None:
        """Set all locations to unknown."""
        for op in module.walk():
            op.location = UNKNOWN
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        argument.location = UNKNOWN
