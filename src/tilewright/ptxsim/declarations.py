"""Parsing of variable declarations: space, alignment, type, dimensions, initialiser."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Final

from tilewright.ptxsim.cursor import Cursor
from tilewright.ptxsim.operands import MalformedOperand, parse_integer, parse_operand
from tilewright.ptxsim.scalar_types import SCALAR_TYPES
from tilewright.ptxsim.syntax import (
    Float,
    Integer,
    Name,
    Operand,
    Relocation,
    SymbolOffset,
    Variable,
)

SPACES: Final = frozenset({"param", "global", "shared", "local", "const", "reg"})
_WORD: Final = re.compile(r"\.([a-zA-Z]\w*)(?:::\w+)?")
_ATTRIBUTE: Final = re.compile(r"\([^)]*\)")
_DIMENSION: Final = re.compile(r"\[\s*(0[xX][0-9a-fA-F]+|[0-9]*)\s*\]")
_ELEMENT: Final = re.compile(r"[^,{}]+")
_MASKED: Final = re.compile(r"(?:generic\s*\(\s*([\w$%]+)\s*\))\s*(.*)")


class _Prefix:
    """The directives before a variable's name: `.align 8 .b8`."""

    def __init__(self) -> None:
        self.alignment = 0
        self.lanes = 1
        self.type = ""
        self.is_pointer = False


def parse_variables(cursor: Cursor, space: str, external: bool = False) -> list[Variable]:
    """Parse the declarations after `.space` up to and including the semicolon."""
    prefix = _prefix(cursor)
    variables = [_declarator(cursor, space, prefix, external)]
    while cursor.accept(","):
        variables.append(_declarator(cursor, space, prefix, external))
    cursor.expect(";")
    return variables


def parse_parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """Parse `(.param .b32 a, .reg .b32 b)`; return () if there is no parenthesis."""
    if not cursor.accept("("):
        return ()
    parameters: list[Variable] = []
    while not cursor.accept(")"):
        at, match = cursor.at, cursor.match(_WORD)
        if match is None or match[1] not in ("param", "reg"):
            cursor.fail("expected '.param'", at)
        parameters.append(_declarator(cursor, match[1], _prefix(cursor), external=False))
        cursor.accept(",")
    return tuple(parameters)


def _prefix(cursor: Cursor) -> _Prefix:
    prefix = _Prefix()
    while (match := cursor.match(_WORD)) is not None:
        word = match[1]
        if word == "align":
            alignment = cursor.number()
            # After `.ptr` it is the alignment of the pointee.
            prefix.alignment = prefix.alignment if prefix.is_pointer else alignment
        elif word in ("attribute", "ptr", *SPACES):
            prefix.is_pointer |= word == "ptr"
            cursor.match(_ATTRIBUTE)
        elif word in ("v2", "v4", "v8"):
            prefix.lanes = int(word[1:])
        elif word in SCALAR_TYPES:
            prefix.type = word
        else:
            cursor.unsupported(f"type .{word}", match.start())
    if not prefix.type:
        cursor.fail("expected a type")
    return prefix


def _declarator(cursor: Cursor, space: str, prefix: _Prefix, external: bool) -> Variable:
    location = cursor.location()
    name = cursor.name()
    element = SCALAR_TYPES[prefix.type].bytes
    count, open_ended = prefix.lanes, False
    while (match := cursor.match(_DIMENSION)) is not None:
        open_ended |= not match[1]
        count *= (parse_integer(match[1]) or 0) if match[1] else 1
    contents, relocations = b"", ()
    if cursor.accept("="):
        contents, relocations = _initialiser(cursor, prefix.type, count // prefix.lanes)
    size = len(contents) if open_ended else element * count
    alignment = prefix.alignment or element * prefix.lanes
    return Variable(
        space, name, prefix.type, alignment, size, location, external, contents, relocations
    )


def _initialiser(cursor: Cursor, type: str, limit: int) -> tuple[bytes, tuple[Relocation, ...]]:
    data = bytearray()
    relocations: list[Relocation] = []
    nesting = 0
    width = SCALAR_TYPES[type].bytes
    while True:
        if cursor.accept("{"):
            nesting += 1
        elif cursor.accept("}"):
            nesting -= 1
        else:
            data += _element(cursor, type, len(data), width, relocations)
        if nesting == 0:
            return bytes(data), tuple(relocations)
        cursor.accept(",")


def _element(
    cursor: Cursor, type: str, offset: int, width: int, relocations: list[Relocation]
) -> bytes:
    at = cursor.at
    if cursor.peek() == ";":
        cursor.fail("expected a value")
    text = _ELEMENT_UNTIL_END.match(cursor.text, at)
    if text is None:
        cursor.fail("expected a value")
    cursor.at = text.end()
    cursor.skip()
    masked = _MASKED.fullmatch(text[0].strip())
    source = "".join(masked.groups()) if masked else text[0].strip()
    try:
        value = parse_operand(source)
    except MalformedOperand:
        cursor.fail("expected a value", at)
    if isinstance(value, Name | SymbolOffset):
        name, addend = (value.text, 0) if isinstance(value, Name) else (value.name, value.offset)
        relocations.append(Relocation(offset, name, addend, width))
        return bytes(width)
    packed = constant_bytes(value, type)
    if packed is None:
        cursor.fail("expected a value", at)
    return packed


_ELEMENT_UNTIL_END: Final = re.compile(r"[^,{};]+")


def constant_bytes(value: Operand, type: str) -> bytes | None:
    """Encode a literal as the type's bytes in memory."""
    scalar = SCALAR_TYPES[type]
    width = scalar.bytes
    if isinstance(value, Integer) and scalar.is_float:
        return _float_bytes(float(value.value), width)
    if isinstance(value, Integer):
        return (value.value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    if isinstance(value, Float) and value.width == 8 * width:
        return value.bits.to_bytes(width, "little")
    if isinstance(value, Float) and value.width == 64:
        return _float_bytes(struct.unpack("<d", value.bits.to_bytes(8, "little"))[0], width)
    return None


_FLOAT_CODES: Final = {2: "<e", 4: "<f", 8: "<d"}


def _float_bytes(value: float, width: int) -> bytes | None:
    code = _FLOAT_CODES.get(width)
    if code is None or (width == 2 and abs(value) >= 65520):
        return None
    return struct.pack(code, value)


def block_size(parameters: Sequence[Variable]) -> tuple[list[int], int]:
    """The offset of each parameter in a parameter block, and the size of the block."""
    offsets: list[int] = []
    end = 0
    for parameter in parameters:
        start = -(-end // parameter.alignment) * parameter.alignment
        offsets.append(start)
        end = start + parameter.size
    return offsets, end
