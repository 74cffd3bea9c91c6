"""Cases of copies and barriers on the emulator."""

from __future__ import annotations

import numpy as np
from copy_cases import Case, Map
from ptx_probes import Array

from tilewright.ptxsim import Module
from tilewright.ptxsim.tensor_map import TensorMap

SWIZZLES = (0, 32, 64, 128)
TYPES = {"ftz": "f32.ftz", "tf32ftz": "tf32.ftz"}


def tensor_map(said: Map, address: int) -> TensorMap:
    """A map of a case, for a tensor at an address."""
    return TensorMap(
        address, TYPES.get(said.type, said.type), said.dims, said.strides, said.box,
        said.element_strides, SWIZZLES[said.swizzle], 16 * said.interleave, bool(said.fill),
    )  # fmt: skip


def emulate(case: Case, seed: int = 0) -> list[Array]:
    """Run a case on the emulator; return its output and the tensor."""
    module = Module(case.ptx, "probe.ptx")
    tensor, given = module.upload(case.tensor, "tensor"), module.upload(case.input, "input")
    output = module.upload(np.zeros(case.output_size, np.uint8), "output")
    map = bytes(128) if case.map is None else bytes(tensor_map(case.map, int(tensor)))
    args = [map, tensor, output, given]
    module.launch("probe", case.ctas, 128, args, cluster=case.ctas, seed=seed)
    return [output.download(), tensor.download()]
