"""Texts of standard dialects: parsed, verified, printed, and checked with xDSL."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context as XContext
from xdsl.dialects import get_all_dialects
from xdsl.parser import Parser as XParser
from xdsl.printer import Printer as XPrinter

from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op


def read(text: str) -> Operation:
    """Parse and verify a program of our dialects alone."""
    op = parse_text(text, context())
    verify(op)
    return op


def check_round_trip(text: str) -> None:
    """Check that the text round-trips, also through the generic form."""
    op = read(text)
    assert print_op(op) == text
    generic = print_op(op, generic=True)
    assert print_op(read(generic)) == text
    assert print_op(read(generic), generic=True) == generic


def xdsl_prints(text: str, *, custom: bool = False) -> str:
    """Return xDSL's text of a program, in the generic or in its custom form."""
    xcontext = XContext(allow_unregistered=True)
    for name, dialect in get_all_dialects().items():
        xcontext.register_dialect(name, dialect)
    module = XParser(xcontext, text).parse_module()
    module.verify()
    out = StringIO()
    XPrinter(stream=out, print_generic_format=not custom).print_op(module)
    return out.getvalue()


def check_with_xdsl(text: str) -> None:
    """Check that xDSL accepts our generic form, and that we read both forms that it prints."""
    generic = print_op(read(text), generic=True)
    assert print_op(read(xdsl_prints(generic))) == text
    assert print_op(read(xdsl_prints(generic, custom=True))) == text


def errors(text: str) -> list[str]:
    """Return the diagnostics of the parser or of the verifier, without locations."""
    try:
        op = parse_text(text, context())
    except UserError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    sink = Sink()
    verify(op, sink)
    return [diagnostic.message for diagnostic in sink.diagnostics]
