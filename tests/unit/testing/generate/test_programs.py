"""Random programs are well defined: they verify, run without a fault, and are deterministic."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from repeats import keep_every, keep_first

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.control_flow import BreakOp, ContinueOp, IfOp, ReturnOp
from tilewright.dialects.cuda_tile.integer import MulhiIOp
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.structured import is_structured
from tilewright.driver.pipelines import LEVELS, parse_pipeline
from tilewright.driver.reduction.programs import reduce_module
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.reference.tile import Array
from tilewright.testing.compare import EXACT
from tilewright.testing.generate.coverage import Coverage
from tilewright.testing.generate.elements import ELEMENTS
from tilewright.testing.generate.execution import execute_program
from tilewright.testing.generate.kernel import Options
from tilewright.testing.generate.program import Program, generate

SEEDS = range(16)
COMPILED = range(0, 240, 10)
ALL = Options(profile="all")


class Outcome:
    """The outcome of one run of a program."""

    def __init__(self, program: Program, module: ModuleOp, **how: Any) -> None:
        self.arrays, self.lines = execute_program(program, module, **how)


def differences(program: Program, actual: Outcome, expected: Outcome) -> list[str]:
    wrong = program.differences(actual.arrays, expected.arrays)
    return wrong if actual.lines == expected.lines else [*wrong, "prints differ"]


@cache
def programs() -> list[tuple[Program, ModuleOp, Outcome]]:
    made = [generate(seed, ALL) for seed in SEEDS]
    modules = [program.module() for program in made]
    return [(p, m, Outcome(p, m)) for p, m in zip(made, modules, strict=True)]


@pytest.mark.parametrize("seed", keep_first([1, 2]))
def test_every_schedule_gives_the_same_result_without_a_fault(seed: int) -> None:
    for program, module, expected in programs():
        actual = Outcome(program, module, check=True, seed=seed)
        assert differences(program, actual, expected) == [], program.seed


def test_constants_as_arguments_change_nothing() -> None:
    for program, module, expected in programs():
        twin = generate(program.seed, ALL._replace(unfolded=True))
        actual = Outcome(twin, other := twin.module())
        assert differences(twin, actual, expected) == [], program.seed
        counts = [sum(op.name == "cuda_tile.constant" for op in m.walk()) for m in (module, other)]
        assert counts[1] <= counts[0] // 10


def test_bytecode_round_trips() -> None:
    for program, module, _ in programs():
        again = read_bytecode(write_bytecode(module), "again")
        verify(again)
        again.attributes["sym_name"] = module.attributes["sym_name"]
        assert str(again) == str(module), program.seed


@pytest.mark.parametrize("passes", ["structure-early-exits", LEVELS[3]])
def test_passes_preserve_the_results(passes: str) -> None:
    for program, module, expected in programs():
        changed = module.clone()
        parse_pipeline(passes).run(changed)
        verify(changed)
        assert differences(program, Outcome(program, changed), expected) == [], program.seed
        if passes == "structure-early-exits":
            assert is_structured(changed)


def test_the_programs_reach_every_operation_and_type() -> None:
    coverage = Coverage()
    for first in range(0, 300, 20):
        for seed in range(first, first + 20):
            coverage.add(generate(seed, ALL).module())
        if not coverage.missing():
            break
    assert coverage.missing() == []
    everywhere = set[str]().union(*coverage.elements.values())
    assert set(ELEMENTS) <= everywhere
    orders = coverage.attributes["cuda_tile.atomic_rmw_tko.ordering"]
    assert orders == {"relaxed", "acquire", "release", "acq_rel"}


def test_every_early_exit_occurs() -> None:
    exits = {
        (type(op), type(op.parent_op))
        for _, module, _ in programs()
        for op in module.walk()
        if isinstance(op, BreakOp | ContinueOp | ReturnOp)
    }
    assert {(kind, IfOp) for kind in (BreakOp, ContinueOp, ReturnOp)} <= exits


def test_a_wrong_result_is_reported() -> None:
    noticed = 0
    for program, _, expected in programs():
        for at, result in enumerate(program.results):
            arrays = list(expected.arrays)
            arrays[at] = spoiled(arrays[at])
            if result.tolerance is EXACT:
                assert program.differences(arrays, expected.arrays), (program.seed, result.name)
                noticed += 1
    assert noticed > 50


def spoiled(array: Array) -> Array:
    """Return a copy with one bit of the first element flipped, such that it is no NaN."""
    copy = array.copy()
    raw = copy.view(np.uint8).reshape(-1)
    raw[: array.itemsize] = 0 if raw[: array.itemsize].any() else 1
    return copy


def test_a_seed_means_one_program_in_every_process() -> None:
    command = [sys.executable, "-m", "tilewright.testing.generate", "--seed", "7", "--size", "20"]
    texts = [
        subprocess.run(
            command, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert texts[0] == texts[1] == str(generate(7, Options(size=20)))


def test_the_size_is_the_number_of_statements() -> None:
    lengths = [
        sum(len(generate(seed, Options(size=size)).text.splitlines()) for seed in range(10))
        for size in (1, 8, 32)
    ]
    assert lengths[0] < lengths[1] < lengths[2]


def test_shrinking_keeps_the_failing_operation() -> None:
    def fails(module: Operation) -> bool:
        return any(isinstance(op, MulhiIOp) for op in module.walk())

    module = next(m for seed in range(200) if fails(m := generate(seed).module()))
    smallest = reduce_module(module, fails)
    verify(smallest)
    assert isinstance(smallest, ModuleOp)
    assert fails(smallest)
    (entry,) = smallest.entries()
    # The entry, its end, the operation and at most two constants.
    assert sum(1 for _ in entry.walk()) <= 5


@pytest.mark.peer
@pytest.mark.parametrize("seed", keep_every(COMPILED, 6))
def test_the_peer_compiles_a_program(seed: int, nvidia_tools: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.tileirbc"
    file.write_bytes(write_bytecode(generate(seed, Options(profile="sm_90")).module()))
    command = [nvidia_tools / "tileiras", "--gpu-name", "sm_90", file, "-o", tmp_path / "k.cubin"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
