"""Kernels of a checkout of cuTile Python as bytecode: one launch of each decides the types."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Final

from corpus_checks import Module
from cuda.tile.compilation import export_kernel
from cutile_cases import launches
from cutile_samples import UNUSED, kernels, load

from tilewright.cutile.signatures import Arguments

VERSION: Final = "13.4"


def kernel_modules(checkout: Path, names: Collection[str]) -> Iterator[Module]:
    """The kernels of these names of cuTile's tests, each with the first launch that fits."""
    sys.path += [str(checkout / "test")]
    for name in UNUSED:
        sys.modules.setdefault(name, ModuleType(name))
    for number, path in enumerate(sorted((checkout / "test" / "kernels").glob("*.py"))):
        for name, kernel in kernels(load(path, number), path):
            fitting = launches(name, len(kernel._annotated_function.parameter_annotations))
            build = next(iter(fitting), None) if name in names else None
            if build is None:
                continue
            code = BytesIO()
            signature = Arguments(kernel, build().arguments).signature
            export_kernel(
                kernel, [signature], code, output_format="tileir_bytecode", bytecode_version=VERSION
            )
            yield Module(f"{path.stem}/{name}", code.getvalue())
