"""Pass instrumentation and diagnostics on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tilewright.driver.cli.options import Command
from tilewright.driver.pipelines import DEPRECATED_PASSES, PASSES
from tilewright.ir.bisect import BisectLimit
from tilewright.ir.instruments import EVERY, PrintChanged, PrintEach, Timing, VerifyEach
from tilewright.ir.pipeline_text import load_pass
from tilewright.ir.statistics import PassStatistics
from tilewright.support.diagnostics import Severity
from tilewright.text.printer import print_op

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from tilewright.driver.cli.options import Arguments
    from tilewright.ir.passes import Instrument
    from tilewright.support.diagnostics import Sink


class PassWatch:
    """The instruments that a command line asks for, and what they report."""

    __slots__ = ("_arguments", "_statistics", "clock", "instruments")

    def __init__(self, command: Command, arguments: Arguments) -> None:
        self._arguments = arguments
        self._statistics = PassStatistics()
        self.clock = Timing()
        self.instruments = _chosen(command, arguments)
        """All but the clock, which has to be the last."""
        if arguments.flag("statistics"):
            self.instruments.append(self._statistics)

    def show_pipeline(self, text: Callable[[], str]) -> None:
        """Print the text of the pipeline, if that is asked for: to parse one loads its passes."""
        if self._arguments.flag("dump-pass-pipeline"):
            print(text(), file=sys.stderr)

    def report(self, sink: Sink) -> None:
        """Print the statistics and the timing that are asked for."""
        if self._arguments.flag("statistics"):
            print(self._statistics.report(sink.counts), file=sys.stderr)
        if self._arguments.flag("timing"):
            print(self.clock.report(), file=sys.stderr)


def _chosen(command: Command, arguments: Arguments) -> list[Instrument]:
    chosen: list[Instrument] = []
    limit = arguments["opt-bisect-limit"]
    if limit:
        chosen.append(BisectLimit(_bisect_limit(command, limit), sys.stderr.write))
    before = _printed_passes(command, arguments, "print-before")
    after = _printed_passes(command, arguments, "print-after")
    if before or after:
        chosen.append(PrintEach(print_op, sys.stderr.write, before, after))
    if arguments.flag("print-changed"):
        as_diff = arguments["print-changed"] == "diff"
        chosen.append(PrintChanged(print_op, sys.stderr.write, as_diff=as_diff))
    if arguments.flag("verify-each"):
        chosen.append(VerifyEach())
    return chosen


def _bisect_limit(command: Command, text: str) -> int:
    try:
        limit = int(text)
    except ValueError:
        limit = -2
    if limit < -1:
        command.fail(f"option '--opt-bisect-limit': expected a number from -1 on, found '{text}'")
    return limit


def _printed_passes(command: Command, arguments: Arguments, key: str) -> Container[str]:
    """The passes of `--print-before` or `--print-after`, or every pass."""
    if arguments.flag(f"{key}-all"):
        return EVERY
    names = [name for value in arguments.all(key) for name in value.split(",")]
    current = {DEPRECATED_PASSES.get(name, name) for name in names}
    unknown = sorted(current - PASSES.keys())
    if unknown:
        command.fail(
            f"option '--{key}': expected passes that `tilewright opt --help` lists, "
            f"found '{unknown[0]}'"
        )
    # A pass with two names prints under the one of its class.
    return frozenset(load_pass(PASSES[name]).name for name in current)


def report(sink: Sink) -> None:
    """Print warnings and remarks; errors are raised."""
    for diagnostic in sink.diagnostics:
        if diagnostic.severity is not Severity.ERROR:
            print(diagnostic.render(), file=sys.stderr)
