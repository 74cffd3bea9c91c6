"""Run probes of PTX instructions on a GPU and record the results.

    python3 tools/ptx_hardware.py matrix_probes:all_probes answers.npz answers.json

takes the probes that a function of a module in tests/shared gives, runs each with the same inputs
that the emulator gets, and writes `<name>|<result>` arrays of bytes to the first file, and to the
second one line for each probe: a fingerprint of its inputs, and a digest of all results. It needs a
GPU, NumPy and cuda.bindings; PTX is compiled by the driver.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from ptx_probes import Array, Probe, digest  # noqa: E402

from tilewright.runtime.device import Gpu, gpu  # noqa: E402
from tilewright.runtime.errors import GpuError  # noqa: E402


def answers_of(device: Gpu, probe: Probe) -> list[Array]:
    """Run a probe and return its results."""
    kernel = device.kernel(device.use(), probe.ptx().encode() + b"\0", "probe")
    sources, results = probe.buffers()
    there = [device.upload(array) for array in (*sources, *results)]
    params = probe.order(there[: len(sources)], there[len(sources) :])
    passed = [int(address).to_bytes(8, "little") for address in params]
    grid, block = (probe.blocks, 1, 1), (probe.threads, 1, 1)
    device.launch(kernel.function, grid, block, passed, shared=probe.image_size)
    device.synchronize()
    for array, address in zip(results, there[len(sources) :], strict=True):
        device.download(address, array)
    for address in there:
        device.free(address)
    return results


def main() -> int:
    """Run the probes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probes", help="module:function")
    parser.add_argument("output", type=Path)
    parser.add_argument("digests", type=Path, nargs="?")
    options = parser.parse_args()
    module, _, function = options.probes.partition(":")
    device = gpu(0)
    answers: dict[str, Array] = {}
    digests: dict[str, list[int | str]] = {}
    failures = 0
    for probe in getattr(importlib.import_module(module), function)():
        try:
            results = answers_of(device, probe)
        except GpuError as error:
            failures += 1
            print(f"{probe.name}: {error}")
            continue
        digests[probe.name] = [probe.fingerprint(), digest(results)]
        answers[f"{probe.name}|inputs"] = np.array([probe.fingerprint()], np.uint32)
        for at, array in enumerate(results):
            answers[f"{probe.name}|{at}"] = array
    np.savez_compressed(options.output, **answers)  # pyrefly: ignore[bad-argument-type]
    if options.digests is not None:
        lines = (f"{json.dumps(name)}: {json.dumps(pair)}" for name, pair in digests.items())
        options.digests.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(answers)} results, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
