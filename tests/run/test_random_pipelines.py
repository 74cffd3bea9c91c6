"""Random loops with dots compute the same under every schedule, on the emulator with its checks."""

from __future__ import annotations

import pytest
from random_pipelines import problem, random_loop, text_of
from repeats import keep_first

from tilewright.driver.api import read_runnable
from tilewright.driver.compile import Compilation, target
from tilewright.driver.settings import Settings


@pytest.mark.parametrize("seed", keep_first(range(60), 6))
def test_results_do_not_depend_on_the_schedule(seed: int) -> None:
    assert problem(seed) is None


def test_the_programs_have_pipelines_of_all_kinds() -> None:
    """Private ones, those that dots and fragments read, and those with dots in flight."""
    texts: list[str] = []
    for seed in range(40):
        loop = random_loop(seed)
        module = read_runnable(text_of(loop), f"seed{seed}.mlir")
        settings = Settings(target(loop.arch), schedule=loop.schedule.replace(",", " "))
        texts.append(str(Compilation(module, settings).to("nv_tileas")))
    for part in ("create_pipeline {private", "create_pipeline {scratch", "asynchronous"):
        assert any(part in text for text in texts)
