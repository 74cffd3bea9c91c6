"""A small dialect of its own, so that the reader is tested apart from the dialects it serves."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Self

import pytest

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, EnumKind
from tilewright.ir.attributes import EnumAttr, Parametric, Type
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Context, Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import ISOLATED, TERMINATOR
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.support.location import FileLoc, Location, TextLoc
from tilewright.text.parser import Parser, parse_text


class BoxType(Type):
    __slots__ = ("element", "shape")
    mnemonic = "toy.box"
    element: Type
    shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...], element: Type) -> Self:
        return cls.unique(element, shape)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        return "boxes must not be empty" if 0 in parameters[1] else None  # pyrefly: ignore[not-iterable]

    def spell(self) -> str:
        return f"box<{'x'.join(map(str, (*self.shape, self.element)))}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.expect("<")
        shape, element = parser.shaped("toy")
        parser.expect(">")
        return cls(shape, element)


class Mood(EnumAttr, mnemonic="toy.mood"):
    GLAD = 0
    SO_SO = 1


class PairAttr(Parametric):
    __slots__ = ("first", "second")
    mnemonic = "toy.pair"
    first: int
    second: int

    def __new__(cls, first: int, second: int) -> Self:
        return cls.unique(first, second)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        first, second = parser.listed(parser.integer, "<", ">")
        return cls(first, second)


class FuncOp(Operation):
    name = "toy.func"
    traits = (ISOLATED,)
    default_dialect = "toy"
    body = d.region(min_blocks=1, max_blocks=None, terminator="toy.end")

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        arguments = parser.listed(lambda: parser.argument("toy"), "(", ")")
        body = parser.region(arguments, owner=cls, field=cls.body)
        return cls(regions=[body], location=location)


class ScopeOp(Operation):
    name = "toy.scope"
    default_dialect = "toy"
    body = d.region(terminator="toy.end")

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        return cls(regions=[parser.region(owner=cls, field=cls.body)], location=location)


class EndOp(Operation):
    name = "toy.end"
    traits = (TERMINATOR,)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        return cls(location=location)


class MixOp(Operation):
    name = "toy.mix"
    left = d.operands(ANY_TYPE)
    right = d.operands(ANY_TYPE)
    mood = d.attribute(EnumKind(Mood), default=Mood.GLAD)
    size = d.optional_attribute(I32_ATTR)
    outputs = d.results(ANY_TYPE)


@pytest.fixture(scope="session")
def toy() -> Context:
    """A context that knows the toy dialect and takes others as text."""
    module = ModuleType("toy_dialect")
    for member in (BoxType, Mood, PairAttr, FuncOp, ScopeOp, EndOp, MixOp):
        setattr(module, member.__name__, member)
    module.TOY = Dialect("toy", module)  # pyrefly: ignore[missing-attribute]
    sys.modules["toy_dialect"] = module
    dialects = {"toy": "toy_dialect:TOY", "builtin": "tilewright.dialects.builtin:BUILTIN"}
    return Context(dialects, allow_unregistered=True)


@pytest.fixture(scope="session")
def strict(toy: Context) -> Context:
    """The same, but what is unknown is an error."""
    dialects = {"toy": "toy_dialect:TOY", "builtin": "tilewright.dialects.builtin:BUILTIN"}
    return Context(dialects)


class Reading:
    """Reads texts, and collects the error of those that are wrong."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def __call__(self, text: str) -> Operation:
        return parse_text(text, self.context, "in.mlir")

    def ops(self, text: str) -> list[Operation]:
        """Everything inside the module."""
        return list(self(text).walk())[1:]

    def error(self, text: str) -> tuple[int, int, str]:
        """Line, column and message of the only error."""
        diagnostic = self.diagnostic(text)
        assert isinstance(diagnostic.location, TextLoc)
        source: FileLoc = diagnostic.location.resolve()
        return source.line, source.column, diagnostic.message

    def diagnostic(self, text: str) -> Diagnostic:
        """The only error."""
        with pytest.raises(UserError) as raised:
            self(text)
        (diagnostic,) = raised.value.diagnostics
        return diagnostic


@pytest.fixture(scope="session")
def read(toy: Context) -> Reading:
    return Reading(toy)
