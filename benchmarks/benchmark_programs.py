"""Write the bytecode of all rows and variants anew into `benchmarks/programs/programs.tar.xz`.

    python benchmarks/benchmark_programs.py FOLDER

Needs cuTile Python, but neither a GPU nor torch. FOLDER is the folder `.gpu` with which
`cutile_rows.py` runs: it holds cuTile's tests and the tiles that NVIDIA's compiler prefers. Prints
how many programs differ from the archive before. Locations are removed, so that the bytes do not
depend on the folder; of equal programs the first is stored, and the others are links to it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from attention_cases import VARIANTS as ATTENTION
from program_archive import ARCHIVE, Program, packed, unpacked
from row_cases import all_rows
from validation_cases import VARIANTS as VALIDATION
from variant_cases import VARIANTS as GEMM
from variant_resources import bytecode, codes_of
from variant_sizes import Variant
from variant_timing import cases

import tilewright
from tilewright.driver.reduction.attributes import RemoveLocations
from tilewright.support.diagnostics import UserError

VARIANTS: Final = {"gemm": GEMM, "attention": ATTENTION, "validation": VALIDATION}
"""The variants by the folder of the archive that holds them."""


def all_programs(folder: Path) -> Iterator[Program]:
    """All rows and variants, without locations."""
    for row in all_rows(folder):
        yield Program(f"rows/{row.name}", located_nowhere(bytecode(row.kernel, row.arguments)))
    for group, variants in VARIANTS.items():
        yield from variant_programs(group, variants)


def variant_programs(group: str, variants: Iterable[Variant]) -> Iterator[Program]:
    """The kernels of each case of some variants."""
    for case, variant, size in cases(list(variants)):
        codes = codes_of(variant, size)
        for kernel, code in codes:
            parts = [*case.split(), kernel] if len(codes) > 1 else case.split()
            yield Program(f"{group}/{'-'.join(parts)}", located_nowhere(code))


def located_nowhere(code: bytes) -> bytes:
    """Bytecode without debug info, which names files of this machine."""
    module = tilewright.read(code)
    RemoveLocations().edit(module, module)
    return tilewright.write_bytecode(module)


def main() -> int:
    """Write the archive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds `cutile/test` and `h200-tuning.json`")
    options = parser.parse_args()
    if not (options.folder / "cutile" / "test").is_dir():
        parser.error(f"expected cuTile's tests in {options.folder / 'cutile' / 'test'}")
    before = unpacked(ARCHIVE.read_bytes()) if ARCHIVE.exists() else {}
    try:
        programs = list(all_programs(options.folder.resolve()))
        data = packed(programs)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    ARCHIVE.parent.mkdir(exist_ok=True)
    ARCHIVE.write_bytes(data)
    after = {program.name: program.code for program in programs}
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    distinct = len(set(after.values()))
    print(f"{len(after)} programs, {distinct} of them distinct, in {len(data)} bytes;")
    print(f"{len(changed)} differ from before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
