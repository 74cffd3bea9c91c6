"""Kernels of a checkout of cuTile Python as bytecode: the types of one launch are those of each.

    python tools/cutile_kernels.py FOLDER INTO

FOLDER is the folder `test` of a cuTile Python checkout; the GEMM kernels are written to INTO.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import ml_dtypes
import numpy as np
from corpus_checks import Module
from cuda.tile.compilation import export_kernel
from cutile_cases import launches
from cutile_samples import UNUSED, kernels, load

from tilewright.cutile.signatures import Arguments

VERSION: Final = "13.4"
GEMMS: Final = (
    ("matmul", "f16", (128, 128, 64)),
    ("matmul", "f32", (128, 128, 64)),
    ("batch_matmul", "f16", (128, 128, 64)),
    ("batch_matmul", "e4m3", (128, 128, 128)),
    ("persistent_matmul", "f16", (128, 128, 64)),
    ("persistent_matmul", "f32", (128, 128, 64)),
    ("matmul_split_k", "f16", (32, 64, 256)),
    ("matmul_split_k", "f32", (32, 64, 256)),
)
"""Kernels of cuTile's `kernels/matmul.py`, the elements of A and B, and tiles of M×N×K."""
ELEMENTS: Final = {"f16": np.float16, "f32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn}


def kernel_modules(checkout: Path, names: Collection[str]) -> Iterator[Module]:
    """The kernels of these names of cuTile's tests, each with the first launch that fits."""
    sys.path += [str(checkout / "test")]
    for name in UNUSED:
        sys.modules.setdefault(name, ModuleType(name))
    for number, path in enumerate(sorted((checkout / "test" / "kernels").glob("*.py"))):
        for name, kernel in kernels(load(path, number), path):
            fitting = launches(name, len(kernel._annotated_function.parameter_annotations))
            build = next(iter(fitting), None) if name in names else None
            if build is not None:
                yield Module(f"{path.stem}/{name}", exported(kernel, build().arguments))


def gemm_modules(test: Path) -> Iterator[Module]:
    """The GEMM kernels of cuTile's tests with large tiles; torch is not needed."""
    path = test.resolve() / "kernels" / "matmul.py"
    by_name = dict(kernels(load(path, 0), path))
    for name, element, tile in GEMMS:
        arguments = gemm_arguments(name, ELEMENTS[element], tile)
        label = f"{name}-{element}-{'x'.join(map(str, tile))}"
        yield Module(label, exported(by_name[f"{name}_kernel"], arguments))


def gemm_arguments(name: str, element: Any, tile: Sequence[int]) -> tuple[Any, ...]:
    """The arguments of a launch; only types, alignments and constants matter."""
    if name == "matmul_split_k":
        a, b, c = (np.empty(shape, element) for shape in ((128, 8192), (8192, 128), (128, 128)))
        locks = np.empty(64, np.int32)
        return a, b, c, locks, locks, *tile, 4
    shape = (4, 4096, 4096) if name == "batch_matmul" else (4096, 4096)
    result = np.float32 if element is ELEMENTS["e4m3"] else element
    return np.empty(shape, element), np.empty(shape, element), np.empty(shape, result), *tile


def exported(kernel: Any, arguments: Sequence[Any]) -> bytes:
    """The bytecode of a kernel for the types of some arguments."""
    code = BytesIO()
    signature = Arguments(kernel, arguments).signature
    export_kernel(
        kernel, [signature], code, output_format="tileir_bytecode", bytecode_version=VERSION
    )
    return code.getvalue()


def write_gemms(test: Path, into: Path) -> list[Path]:
    """Write the GEMM kernels of cuTile's tests to a folder."""
    paths: list[Path] = []
    for module in gemm_modules(test):
        paths.append(into / f"{module.name}.tileirbc")
        paths[-1].write_bytes(module.data)
    return paths


if __name__ == "__main__":
    write_gemms(Path(sys.argv[1]), Path(sys.argv[2]))
