"""The candidates of a kernel: how its loops may copy tiles.

A candidate says for all pipelined loops of a kernel what copies, with how many stages at most, and
for how many blocks on an SM registers are limited. What resources or preconditions forbid is no
candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.schedule.registers import SHARING_BLOCKS
from tilewright.schedule.row_kernels import BYTES_IN_FLIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_STAGES: Final = 2
"""Of a pipeline whose tiles several threads read: one that they use, one that is copied."""
SHARED_STAGES: Final = 3
"""Of loops with dots by wgmma in each of two blocks of an SM: one that is multiplied, and two that
are copied, as many as one block would copy with six."""
MOST_CANDIDATES: Final = 24
"""Of a kernel. To score one takes 0.04 to 0.1 ms."""


class Candidate(NamedTuple):
    """How all pipelined loops of a kernel run."""

    stages: int = 0
    """Of each pipeline, at most: where fewer fit, it has these."""
    by_tma: bool = False
    """Whether a producer copies by TMA; otherwise each thread copies a part."""
    blocks: int = 1
    """Blocks on an SM for which the registers of threads are limited."""

    def __str__(self) -> str:
        """The candidate as remarks spell it."""
        engine = "a producer" if self.by_tma else "copies by threads"
        text = f"{engine}, {self.stages} stages" if self.stages else engine
        return text + (f", {self.blocks} blocks on an SM" if self.blocks > 1 else "")


class Choices(NamedTuple):
    """What a kernel may choose from: stages, most first."""

    by_threads: Sequence[int] = ()
    """If threads copy."""
    shared: Sequence[int] = ()
    """If they do, and registers are limited so that two blocks share an SM."""
    by_tma: Sequence[int] = ()
    """If a producer copies by TMA."""
    prefers_tma: bool = False
    """Whether a producer is preferred where the model sees no difference."""


def candidates_of(choices: Choices) -> list[Candidate]:
    """The candidates of a kernel, a preferred one before others that are predicted alike.

    Two blocks on an SM come first: while threads of one wait, those of the other multiply, for
    which a block alone needs the stages of both.

    >>> candidates_of(Choices(by_threads=[3, 2], by_tma=[4]))
    [Candidate(stages=3, by_tma=False, blocks=1), Candidate(stages=2, by_tma=False, blocks=1), \
Candidate(stages=4, by_tma=True, blocks=1)]
    """
    threads = [Candidate(n, blocks=SHARING_BLOCKS) for n in choices.shared]
    threads += [Candidate(n) for n in choices.by_threads]
    tma = [Candidate(n, by_tma=True) for n in choices.by_tma]
    ordered = [*tma, *threads] if choices.prefers_tma else [*threads, *tma]
    return ordered[:MOST_CANDIDATES]


def stage_counts(most: int, bytes: int) -> list[int]:
    """The numbers of stages of some bytes that are worth a candidate, most first.

    More hide more of a latency that varies, and fewer leave memory to other blocks of an SM. The
    grid is unknown, so one block alone must have as many bytes in flight as memory asks for.

    >>> stage_counts(6, 16 * 1024), stage_counts(4, 64 * 1024), stage_counts(2, 16 * 1024)
    ([6, 5, 4], [4, 3], [2])
    """
    fewer = range(most - 1, SHARED_STAGES - 1, -1)
    return [most, *[n for n in fewer if (n - 1) * bytes >= BYTES_IN_FLIGHT]]
