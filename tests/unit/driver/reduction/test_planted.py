"""Planted failures, at all levels and in both forms, are reduced to at most 20 operations.

Two more are in `tests/cli/test_reduce.py`: of ptxas, and of a command.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tilewright
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.api import read_level
from tilewright.driver.assembly import tile_module, wrap_in_module
from tilewright.driver.compile import Compilation, target
from tilewright.driver.files import is_bytecode
from tilewright.driver.pipelines import level_of, parse_pipeline
from tilewright.driver.reduction.engine import Candidate, Reducer, count_operations
from tilewright.driver.reduction.programs import reducer_of
from tilewright.driver.settings import Settings
from tilewright.emit.llvm.module import emit_llvm
from tilewright.ir.operation import Operation
from tilewright.ir.values import Value
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op

KERNELS = Path(__file__).parents[3] / "run" / "kernels"
MOST_OPERATIONS = 20
SETTINGS = Settings(target("sm_90"))

Predicate = Callable[[Operation], bool]


class Planted(Exception):
    """The failure that a test plants."""


class Failure(NamedTuple):
    """A failure: the program, the level and form it is reduced at, and what fails."""

    kernel: str
    level: str
    fails: Predicate
    bytecode: bool = False
    entry: str = ""
    """The only kernel that is kept, of a program that would be large at the level."""


@cache
def program(kernel: str, level: str, entry: str = "") -> str:
    """A program of the tests, with all of its kernels or one, lowered to a level."""
    module = tile_module(read_level((KERNELS / f"{kernel}.mlir").read_text(), kernel), kernel)
    for each in module.entries():
        if entry not in ("", each.sym_name):
            each.erase()
    compilation = Compilation(module, SETTINGS)
    compilation.lower(level)
    return print_op(compilation.module)


def inside(op: Operation, loop: str) -> bool:
    return any(outer.name == loop for outer in op.ancestors())


def after(passes: str, planted: Predicate) -> Predicate:
    """A pass that fails on programs for which `planted` holds, after passes before it."""

    def fails(module: Operation) -> bool:
        lowered = wrap_in_module(module)
        try:
            parse_pipeline(passes).run(lowered)
            if any(planted(op) for op in lowered.walk()):
                raise Planted
        except Planted:
            return True
        except Exception:
            return False
        return False

    return fails


def exp_of_difference(op: Operation) -> bool:
    """An exponential of a difference with a reduction, as in softmax."""
    if op.name != "cuda_tile.exp":
        return False
    difference = op.operands[0].defining_op()
    return (
        difference is not None
        and difference.name == "cuda_tile.subf"
        and any(chain_has(value, "cuda_tile.reduce") for value in difference.operands)
    )


def chain_has(value: Value, name: str) -> bool:
    """Whether an operation of a name computes a value, or what it is computed from."""
    seen: set[Operation] = set()
    pending = [value.defining_op()]
    while pending:
        op = pending.pop()
        if op is None or op in seen:
            continue
        if op.name == name:
            return True
        seen.add(op)
        pending += [each.defining_op() for each in op.operands]
    return False


def accumulating_dot(op: Operation) -> bool:
    """A dot in a loop with two carried values of which one is a row."""
    if op.name != "cuda_tile.mmaf" or op.parent is None or not inside(op, "cuda_tile.for"):
        return False
    carried = [argument.type for argument in op.parent.args[1:]]
    return len(carried) >= 2 and any(len(each.shape) == 1 for each in carried)  # pyrefly: ignore[missing-attribute]


def converted_dot(op: Operation) -> bool:
    """A dot of nv_tileaa that uses a dot in the same loop."""
    return (
        op.name == "nv_tileaa.dot"
        and inside(op, "scf.for")
        and any(chain_has(value, "nv_tileaa.dot") for value in op.operands[:2])
    )


def read_and_multiplied(op: Operation) -> bool:
    """A dot in a loop that reads an operand from a stage of a pipeline."""
    return (
        op.name == "nv_tileas.dot"
        and inside(op, "scf.for")
        and any(chain_has(value, "nv_tileas.async.pipeline.consumer_read") for value in op.operands)
    )


def shuffled_maximum(module: Operation) -> bool:
    """A conversion that fails on a maximum of a shuffled value in a loop, and on nothing else."""
    parse_pipeline("cse").run(module)
    planted = any(
        op.name == "arith.maxnumf"
        and inside(op, "scf.for")
        and any(chain_has(value, "gpu.shuffle") for value in op.operands)
        for op in module.walk()
    )
    if planted:
        try:
            parse_pipeline("convert-gpu-nvgpu-to-nvvm").run(module)
        except Exception:
            return False
    return planted


def loaded_fragment(op: Operation) -> bool:
    """An mma of fragments that are loaded."""
    return op.name == "nvvm.mma.sync" and all(
        chain_has(value, "llvm.load") for value in op.operands[:1]
    )


def emission_fails(planted: Predicate) -> Predicate:
    """The emission of LLVM IR fails on an operation."""

    def fails(module: Operation) -> bool:
        try:
            emit_llvm(module, SETTINGS.arch)
        except Exception:
            return False
        return any(planted(op) for op in module.walk())

    return fails


def back_edge(op: Operation) -> bool:
    """A branch to a block that carries a vector around a loop."""
    parent = op.parent
    return (
        op.name == "llvm.cond_br"
        and parent is not None
        and any(
            argument.type is value.type and "vector" in str(value.type)
            for block in (*op.successors, parent)
            for argument in block.args
            for value in op.operands
        )
    )


def cluster_hint(op: Operation) -> bool:
    """A kernel with a hint of two CTAs in a cluster, and a dot."""
    return (
        op.name == "cuda_tile.entry"
        and "num_cta_in_cga = 2" in print_op(op)
        and any(inner.name == "cuda_tile.mmaf" for inner in op.walk())
    )


def swapped(module: Operation) -> bool:
    """A miscompilation: canonicalization is followed by a swap of the operands of `subf`."""
    wrong = module.clone()
    try:
        parse_pipeline("canonicalize").run(wrong)
        for op in wrong.walk():
            if op.name == "cuda_tile.subf":
                op.set_operands(op.operands[::-1])
        expected, actual = executed(module), executed(wrong)
    except Exception:
        return False
    return bool(np.isfinite(expected).all()) and not np.array_equal(expected, actual)


def executed(module: Operation) -> np.ndarray:
    x = np.random.default_rng(1).random((8, 128), np.float32)
    out = np.zeros((8, 128), np.float32)
    tilewright.execute(module, "softmax", 8, [x, out], max_steps=100_000)
    return out


FAILURES = {
    "pass on Tile IR": Failure(
        "attention", "cuda_tile", after("canonicalize,cse", exp_of_difference)
    ),
    "pass on bytecode": Failure(
        "attention", "cuda_tile", after("canonicalize", accumulating_dot), bytecode=True
    ),
    "hint": Failure("clusters", "cuda_tile", after("canonicalize", cluster_hint)),
    "miscompilation": Failure("softmax", "cuda_tile", swapped),
    "pass on nv_tileaa": Failure(
        "attention", "nv_tileaa", after("canonicalize,cse", converted_dot)
    ),
    "pass on nv_tileas": Failure("gemm", "nv_tileas", after("cse", read_and_multiplied)),
    "conversion from nvgpu": Failure("attention", "nvgpu", shuffled_maximum, entry="full"),
    "emission of mma": Failure("gemm", "nvvm", emission_fails(loaded_fragment)),
    "emission of loops": Failure("gemm", "nvvm", emission_fails(back_edge)),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.sampled(5)
def test_planted_failure(name: str) -> None:
    failure = FAILURES[name]
    text = program(failure.kernel, failure.level, failure.entry)
    data = text.encode()
    if failure.bytecode:
        data = write_bytecode(tile_module(read_level(text, name), name), (13, 4))
    check_reduced(data, name, failure.fails)


def check_reduced(data: bytes, name: str, fails: Predicate) -> None:
    """Reduce a program, and check the result."""
    original = read_level(data, name)
    level = level_of(original)

    def test(candidate: Candidate) -> bool:
        return fails(candidate.module.clone())

    sizes: list[int] = []

    def accepted(reducer: Reducer) -> None:
        sizes.append(reducer.size.operations)

    reducer = reducer_of(data, name, test, accepted)
    assert reducer is not None
    best = reducer.run()
    reduced = read_level(best.data, name)
    verify(reduced)
    assert fails(reduced.clone())
    assert level_of(reduced) == level
    assert is_bytecode(best.data) == is_bytecode(data)
    assert sizes == sorted(sizes, reverse=True)
    assert 3 <= count_operations(reduced) <= MOST_OPERATIONS
    assert count_operations(original) > count_operations(reduced)
