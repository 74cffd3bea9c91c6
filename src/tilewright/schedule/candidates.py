"""The candidates of pipelining, for `schedule-loops`: how the loops of a kernel may copy tiles.

A candidate says for all pipelined loops of a kernel what copies, with how many stages at most, and
for how many blocks on an SM registers are limited. What resources or preconditions forbid is no
candidate. The order of candidates matters: the first one is chosen, unless a later one is predicted
to be faster by more than its margin (`choose`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.schedule.limits import FEWER_STAGES_MARGIN, MARGIN, OVERLAPPED_STAGES
from tilewright.schedule.registers import SHARING_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence


class Candidate(NamedTuple):
    """How all pipelined loops of a kernel run."""

    stages: int = 0
    """Of each pipeline, at most: where fewer fit, it has these."""
    by_tma: bool = False
    """Whether a producer copies by TMA; otherwise each thread copies a part."""
    blocks: int = 1
    """Blocks on an SM for which the registers of threads are limited."""
    margin: float = MARGIN
    """How much faster it has to be predicted than the best of the candidates before it."""

    def __str__(self) -> str:
        """The candidate as remarks spell it."""
        engine = "a producer" if self.by_tma else "copies by threads"
        text = f"{engine}, {self.stages} stages" if self.stages else engine
        return text + (f", {self.blocks} blocks on an SM" if self.blocks > 1 else "")


class Choices(NamedTuple):
    """What a kernel may choose from: stages, most first."""

    by_threads: Sequence[int] = ()
    """If threads copy: fewer than the first number leave memory to more blocks on an SM."""
    coresident: Sequence[int] = ()
    """If they do, and registers are limited so that two blocks share an SM."""
    by_tma: Sequence[int] = ()
    """If a producer copies by TMA."""
    waits_for_dots: bool = False
    """Whether threads that copy wait for dots meanwhile, so that only other blocks multiply."""
    prefers_tma: bool = False
    """Whether a producer is the first candidate; otherwise it is the last."""


def candidates_of(choices: Choices) -> list[Candidate]:
    """The candidates of a kernel, a preferred one before others that are predicted alike.

    If a producer is preferred, it is the first; otherwise it is the last. Of copies by threads, two
    blocks on an SM are before one: while threads of one wait, those of the other multiply, for
    which a block alone needs the stages of both. The most stages are before fewer.

    >>> for each in candidates_of(Choices(by_threads=[3, 2], by_tma=[4])):
    ...     print(each)
    copies by threads, 3 stages
    copies by threads, 2 stages
    a producer, 4 stages
    """
    threads = [Candidate(n, blocks=SHARING_BLOCKS) for n in choices.coresident]
    threads += [Candidate(n) for n in choices.by_threads[:1]]
    for n in choices.by_threads[1:]:
        are_many = choices.waits_for_dots and n > OVERLAPPED_STAGES
        threads.append(Candidate(n, margin=0.0 if are_many else FEWER_STAGES_MARGIN))
    tma = [Candidate(n, by_tma=True) for n in choices.by_tma]
    return [*tma, *threads] if choices.prefers_tma else [*threads, *tma]
