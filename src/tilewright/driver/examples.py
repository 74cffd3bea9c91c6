"""The example kernels: in the folder `examples` of a checkout, and inside an installed package."""

from __future__ import annotations

import os
from typing import Final

from tilewright.driver.files import FileError

EXAMPLES: Final = {
    "add.mlir": "sum of two vectors, in Tile IR",
    "gemm.mlir": "f16 GEMM with f32 accumulation, in Tile IR",
    "add.cu": "sum of two vectors, in CUDA Tile C++",
}
"""The files and what each has."""

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CHECKOUT: Final = os.path.dirname(os.path.dirname(_PACKAGE))


def read_example(name: str) -> bytes:
    """Return the contents of an example; raises `FileError`."""
    path = os.path.join(_folder(), name)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"cannot read the example '{path}': {error.strerror}") from error


def _folder() -> str:
    installed = os.path.join(_PACKAGE, "examples")
    # An editable installation uses the sources of a checkout.
    return installed if os.path.isdir(installed) else os.path.join(_CHECKOUT, "examples")
