"""Print the access widths of the corpus, and the facts that keep accesses narrow."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator

from corpus_checks import Module, load_modules
from stage1 import lowered

from tilewright.analysis.axis import AxisFacts
from tilewright.conversion.nv_tileaa_to_nv_tileas.coalescing import coalesced, vectorize
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileAccessOp, TiledAtomicRmwOp
from tilewright.driver.progress import progress
from tilewright.ir.operation import Operation
from tilewright.ir.types import TensorType
from tilewright.plans.accesses import accessed
from tilewright.schedule.launch_shape import choose_launch
from tilewright.support.diagnostics import Error
from tilewright.target.arch import MAX_ACCESS_BYTES, WARP_SIZE

Row = tuple[str, int, str]
"""The kind of an access, its width in bytes, and the reason why it is not wider."""


def rows(function: FuncOp) -> Iterator[Row]:
    """Yield a row for each load and store of a tile."""
    warps = choose_launch(function).warps
    facts = AxisFacts(function)
    for op in function.walk():
        tile = accessed(op)
        if tile is None or not isinstance(tile.type, TensorType):
            continue
        if isinstance(op, AtomicOp | TiledAtomicRmwOp):
            continue
        size = pointee_bytes(element_of(tile.type))
        chosen = coalesced(op, tile, warps, facts).vector
        yield _through(op), size * chosen, _reason(op, size, chosen, warps, facts)


def _through(op: Operation) -> str:
    if not isinstance(op, TileAccessOp):
        return "pointers"
    return "rows" if "gather" in op.name or "scatter" in op.name else "view"


def _reason(op: Operation, size: int, chosen: int, warps: int, facts: AxisFacts) -> str:
    tile = accessed(op)
    assert tile is not None
    allowed = vectorize(op, tile, facts).width
    if chosen * size == MAX_ACCESS_BYTES:
        return "widest"
    if count(tile.type) < 2 * warps * WARP_SIZE:
        return "tile of less than two elements a thread"
    if chosen < allowed:
        return "small tile"
    return "facts"


def accesses(module: Module) -> list[Row]:
    """The accesses of a module."""
    try:
        root = lowered(module)
    except Error:
        return []
    functions = [op for op in root.walk() if isinstance(op, FuncOp) and op.is_kernel]
    return [row for function in functions for row in rows(function)]


def main() -> int:
    """Print the distribution of widths and reasons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--every", type=int, default=1, help="only one corpus module in N")
    options = parser.parse_args()
    modules = load_modules()[:: options.every]
    if options.names:
        modules = [m for m in modules if any(name in m.name for name in options.names)]
    with multiprocessing.Pool(options.jobs) as pool:
        results = pool.imap_unordered(accesses, modules, chunksize=8)
        all_rows = [row for rows in progress(results, len(modules)) for row in rows]
    for through in sorted({row[0] for row in all_rows}):
        _print(through, [row for row in all_rows if row[0] == through])
    return 0


def _print(through: str, rows: list[Row]) -> None:
    print(f"{len(rows):6} accesses through {through}")
    for (width, reason), number in sorted(Counter(row[1:] for row in rows).items()):
        share = 100 * number / len(rows)
        print(f"{number:14} {share:5.1f} %  {width:2} bytes  {reason}")


if __name__ == "__main__":
    sys.exit(main())
