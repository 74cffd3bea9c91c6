"""Take every module of the corpus, and our own programs, down to nv_tileaa and check it there."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter

from corpus_checks import Module, load_modules, load_programs

from tilewright.bytecode.reader import read_bytecode
from tilewright.conversion.cuda_tile_to_nv_tileaa import leftovers
from tilewright.driver.assembly import parse_any, wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.driver.progress import progress
from tilewright.ir.instruments import VerifyEach
from tilewright.ir.operation import Operation
from tilewright.text.printer import print_op

CAST = "builtin.unrealized_conversion_cast"


def lowered(module: Module, arch: str = "sm_90") -> Operation:
    """A module at the level of nv_tileaa, verified after every pass."""
    root = wrap_in_module(read_bytecode(module.data, module.name))
    parse_pipeline(passes_to("nv_tileaa", arch)).run(root, None, [VerifyEach()])
    return root


def problem_of(module: Module) -> str | None:
    """Lower a module to nv_tileaa and check it; return the failure, or `None`."""
    try:
        root = lowered(module)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    rest = next(leftovers(root), None)
    if rest is not None:
        return str(rest)
    if any(op.name == CAST for op in root.walk()):
        return "a cast is left"
    again = parse_any(print_op(root, debug=True), module.name)
    if print_op(again) != print_op(root):
        return "does not print as it was read"
    # Bytecode offsets have no text, so the locations change in the first round trip.
    text = print_op(again, debug=True)
    if print_op(parse_any(text, module.name), debug=True) != text:
        return "does not print as it was read, with locations"
    return None


def check(module: Module) -> tuple[str, str | None]:
    """Return the name of a module, and its failure."""
    return module.name, problem_of(module)


def main() -> int:
    """Check all modules; the exit code says whether every one passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose names contain one of these")
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--show", type=int, default=20, help="number of failures to print in full")
    options = parser.parse_args()
    modules = [*load_programs(), *load_modules()]
    if options.names:
        modules = [m for m in modules if any(name in m.name for name in options.names)]
    with multiprocessing.Pool(options.jobs) as pool:
        results = pool.imap_unordered(check, modules, chunksize=8)
        failures = sorted((n, text) for n, text in progress(results, len(modules)) if text)
    for name, text in failures[: options.show]:
        print(f"{name}: {text}")
    for text, count in Counter(text for _, text in failures).most_common(options.show):
        print(f"{count:6} times {text.splitlines()[0]}")
    print(f"{len(modules)} modules, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
