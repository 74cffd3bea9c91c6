"""Run the CUDA C++ programs of tests/ptx on a GPU, as the emulator runs them.

    python3 tools/ptx_hardware_programs.py answers.npz answers.json

compares every program with NumPy and keeps its arrays as `<program>|<argument>`, and digests of
them. It needs a GPU, NumPy and cuda.bindings; PTX is compiled by the driver.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT / "tools"), str(_ROOT / "tests" / "shared"), str(_ROOT / "src")]

from cuda_programs import all_programs  # noqa: E402
from program_table import Program, check  # noqa: E402
from ptx_probes import Array, digest  # noqa: E402

from tilewright.runtime.device import Gpu, gpu  # noqa: E402


def _triple(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*((size,) if isinstance(size, int) else size), 1, 1)[:3]
    return x, y, z


def _value(arg: Any) -> bytes:
    """A number as the kernels of these programs take it."""
    return np.array([arg], np.float32 if isinstance(arg, float) else np.int32).tobytes()


def run(device: Gpu, program: Program) -> list[Any]:
    """Run a program; its arguments, with the arrays as the kernel has left them."""
    args, _ = program.case()
    kernel = device.kernel(device.use(), program.text().encode() + b"\0", program.kernel)
    arrays = {at: arg for at, arg in enumerate(args) if isinstance(arg, np.ndarray)}
    there = {at: device.upload(np.ascontiguousarray(result)) for at, result in arrays.items()}
    passed = [
        there[at].to_bytes(8, "little") if at in there else _value(arg)
        for at, arg in enumerate(args)
    ]
    grid, block = _triple(program.grid), _triple(program.block)
    device.launch(kernel.function, grid, block, passed, shared=program.shared)
    device.synchronize()
    for at, address in there.items():
        result = np.empty_like(np.ascontiguousarray(arrays[at]))
        device.download(address, result)
        args[at] = result
        device.free(address)
    return args


def raw(array: Array) -> Array:
    """An array as bytes."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def main() -> int:
    """Run all programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("digests", type=Path)
    options = parser.parse_args()
    device = gpu(0)
    answers: dict[str, Any] = {}
    digests: dict[str, str] = {}
    failures = 0
    for program in all_programs():
        args = run(device, program)
        try:
            check(args, program.case()[1])
        except AssertionError as error:
            failures += 1
            print(f"{program.name}: {str(error).strip().splitlines()[:4]}")
        digests[program.name] = digest([raw(arg) for arg in args if isinstance(arg, np.ndarray)])
        for at, arg in enumerate(args):
            if isinstance(arg, np.ndarray):
                answers[f"{program.name}|{at}"] = arg
    np.savez_compressed(options.output, **answers)
    options.digests.write_text(json.dumps(digests, indent=0) + "\n")
    print(f"{len(all_programs())} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
