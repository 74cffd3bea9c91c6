"""Run probes of PTX instructions on a GPU and keep what it answered.

    python3 tools/ptx_hardware.py matrix_probes:all_probes answers.npz answers.json

takes the probes that a function of a module in tests/shared gives, runs each with the same inputs
that the emulator gets, and writes `<name>|<result>` arrays of bytes to the first file, and to the
second one line for each probe: a number for its inputs, and a digest of all results. It needs a
GPU, NumPy and cuda.bindings; PTX is compiled by the driver.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from ptx_probes import Array, Probe, digest  # noqa: E402


class Gpu:
    """The first device, through the driver's interface."""

    def __init__(self) -> None:
        self.driver = importlib.import_module("cuda.bindings.driver")
        self.call("cuInit", 0)
        device = self.call("cuDeviceGet", 0)
        context = self.call("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the driver; failures are errors."""
        status, *results = getattr(self.driver, name)(*args)
        if int(status):
            text = self.driver.cuGetErrorName(status)[1]
            raise RuntimeError(f"{name}: {text.decode()}")
        return results[0] if len(results) == 1 else results

    def upload(self, data: Array) -> Any:
        """A copy of an array on the device."""
        address = self.call("cuMemAlloc", max(16, data.nbytes))
        self.call("cuMemcpyHtoD", address, data.ctypes.data, data.nbytes)
        return address

    def run(self, probe: Probe) -> list[Array]:
        """What a probe answers."""
        module = self.call("cuModuleLoadData", probe.ptx().encode() + b"\0")
        kernel = self.call("cuModuleGetFunction", module, b"probe")
        if probe.image_size > 48 * 1024:
            attribute = self.driver.CUfunction_attribute
            limit = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call("cuFuncSetAttribute", kernel, limit, probe.image_size)
        sources, results = probe.buffers()
        there = [self.upload(array) for array in (*sources, *results)]
        params = probe.order(there[: len(sources)], there[len(sources) :])
        values = [np.array([int(address)], np.uint64) for address in params]
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        grid, block = (probe.blocks, 1, 1), (probe.threads, 1, 1)
        self.call(
            "cuLaunchKernel", kernel, *grid, *block, probe.image_size, 0, pointers.ctypes.data, 0
        )
        self.call("cuCtxSynchronize")
        for array, address in zip(results, there[len(sources) :], strict=True):
            self.call("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)
        for address in there:
            self.call("cuMemFree", address)
        self.call("cuModuleUnload", module)
        return results


def main() -> int:
    """Run the probes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probes", help="module:function")
    parser.add_argument("output", type=Path)
    parser.add_argument("digests", type=Path, nargs="?")
    options = parser.parse_args()
    module, _, function = options.probes.partition(":")
    gpu = Gpu()
    answers: dict[str, Array] = {}
    digests: dict[str, list[int | str]] = {}
    failures = 0
    for probe in getattr(importlib.import_module(module), function)():
        try:
            results = gpu.run(probe)
        except RuntimeError as error:
            failures += 1
            print(f"{probe.name}: {error}")
            continue
        digests[probe.name] = [probe.fingerprint(), digest(results)]
        answers[f"{probe.name}|inputs"] = np.array([probe.fingerprint()], np.uint32)
        for at, array in enumerate(results):
            answers[f"{probe.name}|{at}"] = array
    np.savez_compressed(options.output, **answers)  # pyright: ignore[reportArgumentType]
    if options.digests is not None:
        lines = (f"{json.dumps(name)}: {json.dumps(pair)}" for name, pair in digests.items())
        options.digests.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(answers)} results, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
