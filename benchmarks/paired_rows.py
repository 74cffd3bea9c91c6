"""A pytest plugin that times the rows of cuTile's benchmarks alternately with another process."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import torch
from alternation import Alternation
from cuda_graphs import cold_launch, eager_launch
from cutile_rows import row_of


class PairedRows:
    """Replaces pytest-benchmark's loop by samples that the other side asks for."""

    def __init__(self) -> None:
        self.alternation = Alternation()

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Generator[None, Any, Any]:
        benchmark = pyfuncitem.funcargs["benchmark"]
        row = row_of(pyfuncitem.name)[0]

        def offer(
            function: Any, arguments: tuple[Any, ...] = (), *, cudagraph: bool = False, **_: object
        ) -> None:
            capture = cold_launch if cudagraph else eager_launch
            self.alternation.offer(row, capture(torch, lambda: function(*arguments)))

        benchmark.pedantic = offer
        return (yield)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self.alternation.end(row_of(report.nodeid.split("::")[-1])[0], report.outcome)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin."""
    config.pluginmanager.register(PairedRows(), "paired-rows")
