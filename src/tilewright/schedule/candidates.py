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


def candidates_of(
    by_threads: Sequence[int],
    coresident: int | None = None,
    by_tma: int | None = None,
    *,
    waits_for_dots: bool = False,
    prefers_tma: bool = False,
) -> list[Candidate]:
    """The candidates of a kernel, by stages: a preferred one before others of equal clocks.

    If a producer is preferred, it is the first; otherwise it is the last. Of copies by threads, two
    `coresident` blocks on an SM are before one: while threads of one wait, those of the other
    multiply, for which a block alone needs the stages of both. The most stages are before fewer,
    which leave memory to more blocks. If a block `waits_for_dots`, only other blocks multiply
    meanwhile.

    >>> for each in candidates_of([3, 2], by_tma=4):
    ...     print(each)
    copies by threads, 3 stages
    copies by threads, 2 stages
    a producer, 4 stages
    """
    threads = [] if coresident is None else [Candidate(coresident, blocks=SHARING_BLOCKS)]
    threads.append(Candidate(by_threads[0]))
    for n in by_threads[1:]:
        are_many = waits_for_dots and n > OVERLAPPED_STAGES
        threads.append(Candidate(n, margin=0.0 if are_many else FEWER_STAGES_MARGIN))
    tma = [] if by_tma is None else [Candidate(by_tma, by_tma=True)]
    return [*tma, *threads] if prefers_tma else [*threads, *tma]


class Scored(NamedTuple):
    """A candidate with its predicted clocks."""

    candidate: Candidate
    clocks: float
    """Of one block, if as many as fit share an SM."""


class Choice(NamedTuple):
    """The candidate that was chosen, and the best of the others."""

    chosen: Scored
    other: Scored | None = None

    @property
    def reason(self) -> str:
        """What the model says of both."""
        if self.other is None:
            return "there is no other candidate"
        ratio = self.other.clocks / self.chosen.clocks
        return f"{self.other.candidate} would take {ratio:.2f} of its clocks"


def choose(scored: Sequence[Scored]) -> Choice:
    """The first of the candidates, or a later one that is faster by more than its margin.

    Each is compared with the one that was chosen among those before it.
    """
    chosen = scored[0]
    for each in scored[1:]:
        if each.clocks * (1 + each.candidate.margin) < chosen.clocks:
            chosen = each
    others = [each for each in scored if each is not chosen]
    # The nearest one of another kind says more than one with a stage less.
    differing = [each for each in others if each.clocks != chosen.clocks]
    return Choice(chosen, min(differing or others, key=lambda each: each.clocks, default=None))
