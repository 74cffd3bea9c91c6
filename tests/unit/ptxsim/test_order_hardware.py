"""Fences, barriers, special registers and `wmma` as an H200 answered them, and as NumPy does."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from each_case import each_case
from matrix_values import DTYPES, TYPES, numbers
from order_probes import order_probes
from ptx_probes import Array, Probe, digest, emulate
from repeats import keep_every
from wmma_probes import Case, D, cases, probe_of, wmma_probes

from tilewright.support.diagnostics import UserError
from tilewright.testing.bounds import dot_tolerance
from tilewright.testing.compare import EXACT, difference

# Written by tools/ptx_hardware.py on an H200: inputs and results of every probe, as digests.
FOLDER = Path(__file__).parent / "answers"
ANSWERS = {
    **json.loads((FOLDER / "order_h200.json").read_text()),
    **json.loads((FOLDER / "wmma_h200.json").read_text()),
}


@cache
def probes() -> dict[str, Probe]:
    """The probes by name; collection does without their operands."""
    return {probe.name: probe for probe in (*order_probes(), *wmma_probes())}


def test_every_probe_was_answered() -> None:
    assert probes().keys() == ANSWERS.keys()


@pytest.mark.parametrize("name", keep_every(list(ANSWERS), 3))
def test_the_emulator_answers_as_an_h200_does(name: str) -> None:
    inputs, results = ANSWERS[name]
    probe = probes()[name]
    assert probe.fingerprint() == inputs, "the probe has changed since it was run on the GPU"
    assert digest(emulate(probe)) == results


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_interleavings_change_nothing(seed: int) -> None:
    for probe in list(probes().values())[seed::7]:
        assert digest(emulate(probe, seed=seed)) == ANSWERS[probe.name][1], probe.name


def stored(case: Case, image: Array, shape: tuple[int, int]) -> Array:
    """Return the matrix that `wmma.store` wrote to shared memory."""
    by_row = case.layouts[3] == "r"
    lines, length = shape if by_row else shape[::-1]
    dtype = np.dtype(DTYPES[case.d])
    size = lines * (length + case.padding) * dtype.itemsize
    table = image[D : D + size].view(dtype).reshape(lines, -1)[:, :length]
    return np.ascontiguousarray(table if by_row else table.T)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_wmma_results_agree_with_numpy(case: Case) -> None:
    probe = probe_of(case)
    a, b = numbers(case.a, probe.notes["a"]), numbers(case.a, probe.notes["b"])
    c = numbers(case.d, probe.notes["c"])
    actual = stored(case, emulate(probe, check=True)[-1], c.shape)
    if case.operation == "xor":
        expected = (a[:, :, None] != b[None, :, :]).sum(axis=1) + c
    else:
        expected = a @ b + c
    if case.d == "s32":
        assert np.array_equal(actual, expected)
        return
    tolerance = EXACT if case.kind == "exact" else dot_tolerance(a, b, c, TYPES[case.d])
    wanted = expected.astype(actual.dtype) if tolerance is EXACT else expected
    assert difference(actual, wanted, TYPES[case.d], tolerance) is None


@each_case(
    ("instruction", "text"),
    [
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2}, [%r3], 16",
         "expected 8 registers, got 2"),
        ("wmma.load.b.sync.aligned.row.m8n8k32.shared.s4 {%r1}, [%r3], 32",
         "expected A in rows and B in columns"),
        ("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 "
         "{%fd1, %fd2}, {%fd3, %fd4}, {%fd5}, {%fd6, %fd7}",
         "expected 1 registers as operand 2, got 2"),
    ],
)  # fmt: skip
def test_misuse_of_wmma(run, instruction: str, text: str) -> None:
    with pytest.raises(UserError, match=text):
        run(f"{instruction}; ret;", [], "")
