"""Forced schedules: what is asked of passes, in place of what they would choose.

`stages=3,in-flight=0` compiles every loop to a pipeline of three stages, without dots that run on
into the next iteration, as far as the loop allows it. `k-parts=2` splits each iteration of a loop
over K into two. `agents=1` lets a warp copy by TMA and the others compute; `tma-stores=1` lets
these store by TMA, and `multicast=0` lets each CTA of a cluster copy whole tiles. `evict-first=0`
gives tiles that are read once the same priority in L2 as other data. `rotate=1` puts the last dot
of an iteration, if it depends on another, into the next one. `kept-tiles=8` keeps at most eight
tiles of a loop in shared memory for later loops. `single-trip=0` builds no version of such loops
for one iteration, `single-trip=1` also one whose tiles take many registers. `prefetch=1` loads the
small tiles of the next iteration into registers in all loops without dots, `prefetch=0` in none.
`warps=8` sets the number of warps of a block, producers not counted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tilewright.support.diagnostics import fail
from tilewright.support.schedule_keys import CHOICES, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LEVEL: Final = 2
"""The lowest optimization level whose passes follow a schedule."""


def parse_schedule(text: str) -> str:
    """A schedule as settings have it, from `name=number` pairs separated by commas."""
    options: list[str] = []
    for pair in filter(None, text.replace(" ", ",").split(",")):
        name, _, number = pair.partition("=")
        allowed = CHOICES.get(name)
        if allowed is None or not number.isdecimal() or int(number) not in allowed:
            choices = " or ".join(f"{key}={_spell(each)}" for key, each in CHOICES.items())
            fail(f"expected a schedule of {choices}, got '{pair}'")
        options.append(f"{name}={int(number)}")
    return " ".join(options)


def _spell(values: Sequence[int]) -> str:
    """The values of an option in a diagnostic."""
    if isinstance(values, range):
        return f"{values[0]}..{values[-1]}"
    return "|".join(map(str, values))


def environment_schedule() -> str:
    """The schedule that the environment asks for."""
    return parse_schedule(os.environ.get(VARIABLE, ""))
