"""Run the cases of tests/shared/copy_cases.py on a GPU and record the results.

    python3 tools/copies_hardware.py answers.json

writes, for each case, a fingerprint of its inputs and a digest of the memory it wrote. It needs a
GPU of compute capability 9.0, NumPy and cuda.bindings; PTX is compiled by the driver.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from copy_cases import Case, cases  # noqa: E402
from copy_emulation import tensor_map  # noqa: E402
from gpu_launch import encoded  # noqa: E402
from ptx_probes import Array, digest  # noqa: E402

from tilewright.runtime.device import Gpu, gpu  # noqa: E402

_BEHIND = 1 << 16
"""Padding after every array, in bytes: bulk copies may exceed it."""


def uploaded(device: Gpu, data: Array) -> int:
    """Copy an array to the device, with padding after it."""
    return device.upload(np.concatenate([data.reshape(-1).view(np.uint8), np.zeros(_BEHIND, "u1")]))


def run(device: Gpu, case: Case) -> list[Array]:
    """Run a case and return the arrays that it wrote."""
    kernel = device.kernel(device.use(), case.ptx.encode() + b"\0", "probe")
    tensor, given = uploaded(device, case.tensor), uploaded(device, case.input)
    output = uploaded(device, np.zeros(case.output_size, np.uint8))
    map = bytes(128) if case.map is None else encoded(tensor_map(case.map, tensor))
    passed = [map, *(address.to_bytes(8, "little") for address in (tensor, output, given))]
    cluster = (case.ctas, 1, 1) if case.ctas > 1 else None
    device.launch(kernel.function, (case.ctas, 1, 1), (128, 1, 1), passed, cluster=cluster)
    device.synchronize()
    results = [np.empty(size, np.uint8) for size in (case.output_size, case.tensor.nbytes)]
    for address, result in zip((output, tensor), results, strict=True):
        device.download(address, result)
    for address in (tensor, given, output):
        device.free(address)
    return results


def main() -> None:
    """Run all cases."""
    device = gpu(0)
    lines = [
        f"{json.dumps(case.name)}: {json.dumps([case.fingerprint(), digest(run(device, case))])}"
        for case in cases()
    ]
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
