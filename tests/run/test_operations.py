"""Every operation is in a program whose results are checked, and wrong results fail."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from math import prod
from pathlib import Path
from types import GeneratorType
from typing import Any, NamedTuple

import numpy as np
import pytest
from programs import Run, parse_runs, problems

import tilewright
from tilewright.bytecode.opcodes import OPCODES
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.operation import Operation
from tilewright.reference.errors import ExecutionError
from tilewright.reference.evaluators import EVALUATORS, Evaluator
from tilewright.reference.launch import launch
from tilewright.reference.tile import is_array
from tilewright.reference.walk import Passage
from tilewright.support.run_limits import RunLimits

MAX_STEPS = 20_000


class Program(NamedTuple):
    """A successful run with expected results, and the operations of its kernel."""

    module: ModuleOp
    run: Run
    operations: frozenset[type[Operation]]


@cache
def programs() -> list[Program]:
    paths = sorted(Path(__file__).parent.rglob("*.mlir"))
    tile_programs = (path for path in paths if not {"low", "nv_tileaa"} & {*path.parts})
    made = [program for path in tile_programs for program in checked_runs(path)]
    # The quickest first: one that notices a wrong result suffices.
    return sorted(made, key=lambda each: prod(each.run.grid) * len(each.operations))


def checked_runs(path: Path) -> Iterator[Program]:
    text = path.read_text()
    module = tilewright.read(text, name=path.name)
    around = {type(module), *map(type, module.body.block)}
    for run in parse_runs(text):
        if run.only == "checked" or not (run.expected or run.prints):
            continue
        for entry in module.entries():
            if run.entry in (None, entry.sym_name):
                yield Program(module, run, frozenset({*around, *map(type, entry.walk())}))


def test_every_operation_is_in_a_checked_program() -> None:
    kinds = frozenset[type[Operation]]().union(*(program.operations for program in programs()))
    assert set(OPCODES) - {kind.name for kind in kinds} == set()


def holds(program: Program) -> bool:
    """Return whether a run has its expected outcome."""
    before = program.run.values()
    after = copy.deepcopy(before)
    arguments, printed, run = list(after.values()), [], program.run
    try:
        launch(
            program.module,
            run.entry,
            run.grid,
            arguments,
            write=printed.append,
            limits=RunLimits(MAX_STEPS),
        )
    except ExecutionError:
        return False
    lines = "".join(printed).splitlines()
    return sorted(lines) == sorted(run.prints) and not list(problems(run, before, after))


def spoiled(evaluator: Evaluator) -> Evaluator:
    """Return an evaluator whose results are wrong."""

    def run(op: Any, at: Any) -> Any:
        outcome = evaluator(op, at)
        if isinstance(outcome, GeneratorType):
            return through(outcome)
        return tuple(map(off, outcome)) if type(outcome) is tuple else off(outcome)

    def through(crossing: Any) -> Any:
        passage: Passage = yield from crossing
        return passage._replace(results=[off(value) for value in passage.results])

    return run


def off(value: Any) -> Any:
    if not is_array(value):
        return value
    if value.dtype == np.bool_:
        return ~value
    one = np.ones(1, value.dtype)
    # Large floats do not change by one; integers stay close, so that loops terminate.
    return value + one if value.dtype.kind in "iu" else value + value + one


def kinds_with_tiles() -> set[type[Operation]]:
    """Return the operations with a tile result; `off` changes nothing else."""
    ops = (op for program in programs() for op in program.module.walk())
    return {type(op) for op in ops if any(isinstance(r.type, TileType) for r in op.results)}


def test_a_wrong_result_of_any_operation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    unnoticed: list[str] = []
    for kind in sorted(kinds_with_tiles(), key=lambda kind: kind.name):
        with monkeypatch.context() as patch:
            patch.setitem(EVALUATORS, kind, spoiled(EVALUATORS[kind]))
            if all(holds(program) for program in programs() if kind in program.operations):
                unnoticed.append(kind.name)
    assert unnoticed == []
