"""Every prefix of the pipeline compiles, and computes the same: what `--opt-bisect-limit` needs."""

from __future__ import annotations

import numpy as np
import pytest
from attention_programs import Attention

from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, Program
from tilewright.driver.emulate import run_ptx
from tilewright.driver.settings import Settings
from tilewright.ir.bisect import BisectLimit
from tilewright.ir.instruments import VerifyEach
from tilewright.target.arch import ARCHES

ATTENTION = Attention(persistent=True, keys=32, length=64)
"""A kernel that warp specialization, rotation and a pipeline apply to."""


def check_limits(limits: list[int]) -> set[str]:
    """Run the kernel of each limit that changes it, and return the texts."""
    program = Program(ATTENTION.program)
    texts: set[str] = set()
    for limit in limits:
        instruments = [BisectLimit(limit, lambda _: None), VerifyEach()]
        settings = Settings(ARCHES["sm_90"])
        lowered = Compilation(program.module.clone(), settings, Observers(instruments))
        text = lowered.to("nvvm")
        assert isinstance(text, str)
        if text in texts:
            continue
        texts.add(text)
        kernel = Compilation(lowered.module, settings)
        kernel.to("ptx")
        operands = ATTENTION.operands()
        expected = ATTENTION.expected(*operands[:3])
        run_ptx(kernel.ptx, program.module, None, ATTENTION.blocks, operands)
        np.testing.assert_allclose(operands[-1], expected, atol=1e-3, err_msg=str(limit))
    return texts


def count_passes() -> int:
    lines: list[str] = []
    program = Program(ATTENTION.program)
    observers = Observers([BisectLimit(-1, lines.append)])
    Compilation(program.module.clone(), Settings(ARCHES["sm_90"]), observers).lower("nvvm")
    return len(lines)


def test_the_passes_of_the_schedule() -> None:
    """The last passes depend on each other the most; every third of these limits."""
    most = count_passes()
    assert len(check_limits([0, *range(most - 10, most + 1, 3)])) > 2


@pytest.mark.exhaustive
def test_every_limit() -> None:
    assert len(check_limits(list(range(count_passes() + 1)))) > 5
