"""A part of the corpus runs on the reference executor, on generated arguments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from corpus_arguments import satisfying_value
from corpus_checks import Module, load_modules
from corpus_extents import extents
from corpus_run import Runner
from repeats import keep_every
from stage1_run import problems

import tilewright
from tilewright.bytecode.reader import read_bytecode
from tilewright.reference.evaluators import EVALUATORS

NAMES = tuple((Path(__file__).parent / "run_sample.txt").read_text().split())
LEAST_SHARE = 0.9


@cache
def corpus() -> dict[str, Module]:
    return {module.name: module for module in load_modules()}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    before = dict(EVALUATORS)
    yield Runner()
    EVALUATORS.update(before)


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES, 4))
@pytest.mark.sampled(6)
def test_module_runs(runner: Runner, name: str) -> None:
    outcome = runner.run(corpus()[name])
    assert outcome.problem is None
    assert outcome.share >= LEAST_SHARE


@pytest.mark.corpus
@pytest.mark.parametrize("name", keep_every(NAMES[::4], 4))
def test_module_does_the_same_at_the_level_of_nv_tileaa(name: str) -> None:
    module = corpus()[name]
    assert list(problems(read_bytecode(module.data, name), 1)) == []


def test_arguments_satisfy_assumptions() -> None:
    module = tilewright.read("""
      cuda_tile.module @m {
        entry @k(%n: tile<i32>, %free: tile<i32>) {
          %m = assume div_by<16>, %n : tile<i32>
          %o = assume bounded<20, 100>, %m : tile<i32>
          return
        }
      }
    """)
    (entry,) = module.entries()
    assumed, free = entry.arguments
    assert satisfying_value(assumed, 1) == 32
    assert satisfying_value(assumed, 50) == 64
    assert satisfying_value(free, 7) == 7


def test_tensors_are_large_enough_for_their_tiles() -> None:
    module = tilewright.read("""
      cuda_tile.module @m {
        entry @k(%p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {
          %rows = assume div_by<16>, %m : tile<i32>
          %t = make_tensor_view %p, shape = [%rows, %n], strides = [%stride, 1]
            : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
          %v = make_partition_view %t
            : partition_view<tile=(32x4), tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>
          return
        }
      }
    """)
    (entry,) = module.entries()
    sizes = extents(entry)
    # Tiles lie across: 4 rows and 32 columns each, two of them, and multiples of 16.
    assert [sizes[parameter] for parameter in entry.arguments] == [16 * 64, 16, 64, 64]
