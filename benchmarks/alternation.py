"""Times of one launch in two processes that use a GPU alternately.

`version_pairs.py` starts both processes and asks one after the other for a sample, so that clocks,
temperature and other load are the same for both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing.connection import Client, Connection
from typing import Final, Literal, NamedTuple

ADDRESS: Final = "TILEWRIGHT_BENCHMARK_ALTERNATION"
"""The variable that holds the address of the process that asks for samples."""
SAMPLE_US: Final = 20_000
"""About how long a sample takes."""


class Offer(NamedTuple):
    """A process has a row to time."""

    row: str


class End(NamedTuple):
    """A process is through with a row."""

    row: str
    outcome: str


Answer = Literal["time", "next"]


class Alternation:
    """A process that offers its rows and times one sample whenever it is asked."""

    def __init__(self) -> None:
        self.connection: Connection = Client(os.environ[ADDRESS])

    def offer(self, row: str, launch_once: Callable[[], float]) -> None:
        """Take samples of a launch as often as the other side asks."""
        self.connection.send(Offer(row))
        while self.connection.recv() == "time":
            self.connection.send(sample_us(launch_once))

    def end(self, row: str, outcome: str) -> None:
        """Say that a row is over, timed or not."""
        self.connection.send(End(row, outcome))


def sample_us(launch_once: Callable[[], float]) -> float:
    """The median time of some launches."""
    # The first launches follow those of the other process.
    estimate = [launch_once() for _ in range(3)][-1]
    count = min(max(int(SAMPLE_US / estimate), 5), 101)
    return sorted(launch_once() for _ in range(count))[count // 2]
