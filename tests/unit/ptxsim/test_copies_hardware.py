from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from copy_cases import Case, cases
from ptx_probes import Array, digest

from tilewright.ptxsim import Module
from tilewright.ptxsim.tensor_map import TensorMap

# Written by tools/copies_hardware.py on an H200: inputs and results of every case, as digests.
ANSWERS = json.loads((Path(__file__).parent / "answers" / "copies_h200.json").read_text())
CASES = cases()
SWIZZLES = (0, 32, 64, 128)
TYPES = {"ftz": "f32.ftz", "tf32ftz": "tf32.ftz"}


def emulate(case: Case, seed: int = 0) -> list[Array]:
    module = Module(case.ptx, "probe.ptx")
    tensor, given = module.upload(case.tensor, "tensor"), module.upload(case.input, "input")
    output = module.upload(np.zeros(case.output_size, np.uint8), "output")
    map = bytes(128)
    if case.map is not None:
        said = case.map
        map = bytes(
            TensorMap(
                int(tensor), TYPES.get(said.type, said.type), said.dims, said.strides, said.box,
                said.element_strides, SWIZZLES[said.swizzle], 16 * said.interleave,
                bool(said.fill),
            )
        )  # fmt: skip
    args = [map, tensor, output, given]
    module.launch("probe", case.ctas, 128, args, cluster=case.ctas, seed=seed)
    return [output.download(), tensor.download()]


def test_every_case_was_answered() -> None:
    assert {case.name for case in CASES} == ANSWERS.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_emulator_answers_as_an_h200_does(case: Case) -> None:
    inputs, results = ANSWERS[case.name]
    assert case.fingerprint() == inputs, "the case has changed since it was run on the GPU"
    assert digest(emulate(case)) == results


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_other_interleavings_change_nothing(seed: int) -> None:
    for case in CASES[seed::12]:
        assert digest(emulate(case, seed)) == ANSWERS[case.name][1], case.name
