"""Modules of the corpus become the same bytes in every process and in any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from corpus_checks import SAMPLE, load_modules
from determinism import digests, stage_texts
from repeats import keep_first

TOOL = Path(__file__).parents[2] / "tools" / "determinism.py"


@pytest.mark.corpus
@pytest.mark.parametrize("every", keep_first([3000, 250]))
def test_hash_seeds_do_not_matter(every: int) -> None:
    command = [sys.executable, str(TOOL), "--every", str(every), "--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ.copy())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 differences\n")


@pytest.mark.corpus
@pytest.mark.parametrize("every", keep_first([64, 8]))
def test_eight_threads_do_as_one(every: int) -> None:
    names = set(SAMPLE.read_text().split()[::every])
    modules = [module for module in load_modules() if module.name in names]
    alone = [digests(module, "sm_90") for module in modules]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda module: digests(module, "sm_90"), modules * 2))
    assert together == alone * 2
    assert all("ptx" in stages for stages in alone)


@pytest.mark.corpus
def test_every_stage_is_compared() -> None:
    module = min(load_modules(), key=lambda each: len(each.data))
    texts = dict(stage_texts(module, "sm_90"))
    assert list(texts) == [
        "cuda_tile", "nv_tileaa", "plan", "nv_tileas", "nvgpu", "nvvm", "llvm", "ptx",
    ]  # fmt: skip
    assert len(set(texts.values())) == len(texts)
