"""Aliases: which attributes get one, what it is called, and where it is defined."""

from __future__ import annotations

import sys
from typing import Self

from tilewright.ir import declare as d
from tilewright.ir.attributes import ArrayAttr, Attribute, Parametric, StringAttr
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Block, Operation, Region
from tilewright.support.location import UNKNOWN, CallSiteLoc, FileLoc, Location, NameLoc
from tilewright.text.attribute_printer import AttributePrinter
from tilewright.text.printer import Printer, print_op


class FileAttr(Parametric):
    __slots__ = ("name",)
    mnemonic = "notes.file"
    name: str

    def __new__(cls, name: str) -> Self:
        return cls.unique(name)

    def print(self, printer: AttributePrinter) -> str:
        return f"<{printer.attribute(StringAttr(self.name))}>"


class ScopeAttr(Parametric):
    __slots__ = ("file", "outer")
    mnemonic = "notes.scope"
    file: FileAttr
    outer: Attribute | None

    def __new__(cls, file: FileAttr, outer: Attribute | None = None) -> Self:
        return cls.unique(file, outer)

    def print(self, printer: AttributePrinter) -> str:
        file = printer.attribute(self.file)
        return f"<{file}>" if self.outer is None else f"<{file} in {printer.attribute(self.outer)}>"


class ScopedLoc(Location):
    __slots__ = ("child", "scope")

    def __init__(self, child: Location, scope: ScopeAttr) -> None:
        self.child = child
        self.scope = scope

    def _contents(self) -> tuple[object, ...]:
        return self.child, self.scope

    def print(self, printer: AttributePrinter) -> str:
        return f"#notes.at<{printer.location(self.child)} in {printer.attribute(self.scope)}>"


class NoteOp(Operation):
    name = "notes.note"
    syntax = "attr-dict"


class BookOp(Operation):
    name = "notes.book"
    body = d.region()

    def print(self, printer: Printer) -> None:
        printer.emit(" ")
        printer.region(self.body)


def _alias(attribute: Attribute) -> str | None:
    names: dict[type[Attribute], str] = {FileAttr: "file", ScopeAttr: "scope1"}
    return names.get(type(attribute))


NOTES = Dialect("notes", sys.modules[__name__], alias=_alias)


def note(location: Location = UNKNOWN, **attributes: Attribute) -> NoteOp:
    return NoteOp((), (), attributes, (), location)


def book(location: Location, *notes: NoteOp) -> BookOp:
    block = Block()
    for op in notes:
        block.append(op)
    return BookOp((), (), {}, [Region([block])], location)


A, B = FileLoc("a", 1, 2), FileLoc("b", 3, 4)


def test_locations_are_numbered_in_the_order_of_operations_outer_ones_first():
    assert print_op(book(A, note(B), note(A), note(UNKNOWN)), debug=True) == (
        "notes.book {\n"
        "  notes.note loc(#loc1)\n"
        "  notes.note loc(#loc)\n"
        "  notes.note loc(#loc2)\n"
        "} loc(#loc)\n"
        '#loc = loc("a":1:2)\n'
        '#loc1 = loc("b":3:4)\n'
        "#loc2 = loc(unknown)\n"
    )


def test_without_debug_there_are_no_locations():
    assert print_op(book(A, note(B))) == "notes.book {\n  notes.note\n}\n"


def test_equal_locations_share_an_alias():
    assert print_op(book(A, note(FileLoc("a", 1, 2))), debug=True).count("#loc =") == 1


def test_parts_are_defined_first_whatever_the_order_of_use():
    assert print_op(book(CallSiteLoc(A, B), note(NameLoc("n", A))), debug=True) == (
        "notes.book {\n"
        "  notes.note loc(#loc3)\n"
        "} loc(#loc2)\n"
        '#loc = loc("a":1:2)\n'
        '#loc1 = loc("b":3:4)\n'
        "#loc2 = loc(callsite(#loc at #loc1))\n"
        '#loc3 = loc("n"(#loc))\n'
    )


def test_attributes_of_operations_are_defined_in_front():
    op = note(x=FileAttr("f"), y=ArrayAttr((FileAttr("g"), FileAttr("f"))))
    assert print_op(op) == (
        '#file = #notes.file<"f">\n'
        '#file1 = #notes.file<"g">\n'
        "notes.note {x = #file, y = [#file1, #file]}\n"
    )


def test_definitions_are_sorted_by_nesting_and_then_by_name():
    inner = ScopeAttr(FileAttr("f"))
    op = note(s=ScopeAttr(FileAttr("g"), inner))
    assert print_op(op) == (
        '#file = #notes.file<"g">\n'
        '#file1 = #notes.file<"f">\n'
        "#scope1 = #notes.scope<#file1>\n"
        # A number after a digit would be part of the name.
        "#scope1_1 = #notes.scope<#file in #scope1>\n"
        "notes.note {s = #scope1_1}\n"
    )


def test_what_only_locations_need_is_defined_last():
    scope = ScopeAttr(FileAttr("f"))
    assert print_op(note(ScopedLoc(A, scope)), debug=True) == (
        "notes.note loc(#loc1)\n"
        '#file = #notes.file<"f">\n'
        '#loc = loc("a":1:2)\n'
        "#scope1 = #notes.scope<#file>\n"
        "#loc1 = #notes.at<#loc in #scope1>\n"
    )


def test_what_an_operation_needs_as_well_is_defined_in_front_with_its_parts():
    scope = ScopeAttr(FileAttr("f"))
    assert print_op(note(ScopedLoc(A, scope), s=scope), debug=True) == (
        '#file = #notes.file<"f">\n'
        "#scope1 = #notes.scope<#file>\n"
        "notes.note {s = #scope1} loc(#loc1)\n"
        '#loc = loc("a":1:2)\n'
        "#loc1 = #notes.at<#loc in #scope1>\n"
    )
