"""Parsing of operands; kernels share those of equal text."""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from typing import Final

from tilewright.ptxsim.syntax import (
    Address,
    Arguments,
    Float,
    Integer,
    Name,
    Not,
    Operand,
    Pair,
    SymbolOffset,
    Vector,
)

_NAME: Final = re.compile(r"[%$_a-zA-Z][\w$%.]*")
_INTEGER: Final = re.compile(r"([-+~]?)\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)[uU]?")
_FLOAT: Final = re.compile(r"(-?)0([fFdD])([0-9a-fA-F]+)")
_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_OFFSET: Final = re.compile(r"([%$_a-zA-Z][\w$%.]*|0[xX][0-9a-fA-F]+|[0-9]+)\s*([-+].*)")
_TERM: Final = re.compile(r"([-+])\s*([-+]?)\s*(0[xX][0-9a-fA-F]+|[0-9]+)[uU]?\s*")
_DIGITS_OF_FLOAT: Final = {"f": 8, "d": 16}
_OPEN: Final = "([{"
_CLOSE: Final = ")]}"


class MalformedOperand(ValueError):
    """Not an operand; the parser adds the location."""


def split_operands(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    if not any(bracket in text for bracket in _OPEN):
        return [part.strip() for part in text.split(",")]
    parts: list[str] = []
    nesting = start = 0
    for at, char in enumerate(text):
        if char in _OPEN:
            nesting += 1
        elif char in _CLOSE:
            nesting -= 1
        elif char == "," and nesting == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    if nesting:
        raise MalformedOperand(f"expected balanced brackets, got '{text}'")
    parts.append(text[start:].strip())
    return parts


@lru_cache(1 << 15)
def parse_operand(text: str) -> Operand:
    """Parse one operand.

    >>> parse_operand("[%rd1+-4]")
    Address(base=Name(text='%rd1'), offset=-4, rest=())
    """
    if _NAME.fullmatch(text):
        return Integer(32) if text == "WARP_SZ" else Name(text)
    bracketed = _BRACKETED.get(text[:1])
    if bracketed is not None:
        return bracketed(text)
    if text.startswith("!"):
        return Not(parse_operand(text[1:].strip()))
    if "|" in text:
        first, _, second = text.partition("|")
        return Pair(parse_operand(first.strip()), parse_operand(second.strip()))
    return _literal(text)


def parse_integer(text: str) -> int | None:
    """Parse an integer literal; None if it is none.

    >>> parse_integer("-0x10"), parse_integer("017"), parse_integer("12U"), parse_integer("%r1")
    (-16, 15, 12, None)
    """
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, digits = match.groups()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    if sign == "~":
        return ~value
    return -value if sign == "-" else value


def _inner(text: str, close: str) -> str:
    if not text.endswith(close):
        raise MalformedOperand(f"expected '{close}' at the end of '{text}'")
    return text[1:-1].strip()


def _elements(text: str) -> tuple[Operand, ...]:
    return tuple(parse_operand(part) for part in split_operands(text)) if text else ()


def _address(text: str) -> Address:
    first, *rest = split_operands(_inner(text, "]"))
    others = tuple(parse_operand(part) for part in rest)
    base = parse_operand(first)
    if isinstance(base, SymbolOffset):
        return Address(Name(base.name), base.offset, others)
    if isinstance(base, Name | Integer):
        return Address(base, 0, others)
    raise MalformedOperand(f"expected an address, got '{text}'")


def _vector(text: str) -> Vector:
    return Vector(_elements(_inner(text, "}")))


def _parenthesised(text: str) -> Operand:
    return Arguments(_elements(_inner(text, ")")))


_BRACKETED: Final = {"[": _address, "{": _vector, "(": _parenthesised}


def _literal(text: str) -> Operand:
    value = parse_integer(text)
    if value is not None:
        return Integer(value)
    match = _FLOAT.fullmatch(text)
    if match is not None:
        return _hexadecimal_float(*match.groups())
    match = _OFFSET.fullmatch(text)
    if match is not None:
        return _symbol_offset(match[1], match[2])
    if _DECIMAL.fullmatch(text):
        return Float(int.from_bytes(struct.pack("<d", float(text)), "little"), 64)
    raise MalformedOperand(f"expected an operand, got '{text}'")


def _hexadecimal_float(sign: str, kind: str, digits: str) -> Float:
    if len(digits) != _DIGITS_OF_FLOAT[kind.lower()]:
        raise MalformedOperand(f"expected a float with {_DIGITS_OF_FLOAT[kind.lower()]} digits")
    width = 4 * len(digits)
    return Float(int(digits, 16) ^ (bool(sign) << (width - 1)), width)


def _symbol_offset(base: str, terms: str) -> Operand:
    offset = at = 0
    while at < len(terms):
        match = _TERM.match(terms, at)
        if match is None:
            raise MalformedOperand(f"expected a name and an offset, got '{base}{terms}'")
        magnitude = parse_integer(match[3]) or 0
        offset += -magnitude if (match[1] == "-") != (match[2] == "-") else magnitude
        at = match.end()
    number = parse_integer(base)
    return SymbolOffset(base, offset) if number is None else Integer(number + offset)
