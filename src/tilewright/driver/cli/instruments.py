"""Pass instrumentation and diagnostics on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tilewright.ir.instruments import EVERY, PrintEach, VerifyEach
from tilewright.support.diagnostics import Severity
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from tilewright.driver.cli.options import Arguments
    from tilewright.ir.passes import Instrument
    from tilewright.support.diagnostics import Sink


def chosen_instruments(arguments: Arguments) -> list[Instrument]:
    """Build the instruments of `--print-after-all` and `--verify-each`."""
    chosen: list[Instrument] = []
    if arguments.flag("print-after-all"):
        chosen.append(PrintEach(print_op, sys.stderr.write, after=EVERY))
    if arguments.flag("verify-each"):
        chosen.append(VerifyEach())
    return chosen


def report(sink: Sink) -> None:
    """Print warnings and remarks; errors are raised."""
    for diagnostic in sink.diagnostics:
        if diagnostic.severity is not Severity.ERROR:
            print(diagnostic.render(), file=sys.stderr)
