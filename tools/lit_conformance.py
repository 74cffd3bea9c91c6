"""`make conformance`: the lit tests of a checkout of NVIDIA/cuda-tile, on our tools.

Positive cases must parse, verify and come back unchanged from text (both forms) and, where they
are whole modules, from bytecode. Negative cases must be rejected at the line that the test names.
Known differences are listed with their reasons in tests/conformance/explained.toml.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lit_cases import BinaryCase, Case, find_binaries, find_cases
from lit_testing_ops import TestingFuncOp, register
from lit_transforms import check_transforms

from tilewright import Error
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.hints import hint_problems
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.assembly import parse_any
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Diagnostic, UserError
from tilewright.text.printer import print_op

EXPLAINED: Final = Path(__file__).parents[1] / "tests" / "conformance" / "explained.toml"


def main() -> int:
    """Run all cases; the exit code says whether every unexplained one passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="a checkout of NVIDIA/cuda-tile")
    parser.add_argument("-v", "--verbose", action="store_true", help="also list the explained ones")
    options = parser.parse_args()
    register()
    tests = options.folder / "test"
    cases: list[Case | BinaryCase] = [*find_cases(tests), *find_binaries(tests)]
    explained: dict[str, str] = tomllib.loads(EXPLAINED.read_text())["cases"]
    counts: Counter[str] = Counter()
    unexplained = 0
    for case in cases:
        kind = "negative" if case.must_fail else "positive"
        counts[kind] += 1
        problem = judge(case)
        if problem is None:
            counts[f"{kind} passed"] += 1
            continue
        name = case_name(case, tests)
        if name not in explained:
            unexplained += 1
            print(f"FAILED {kind} {name}: {problem}")
        elif options.verbose:
            print(f"explained {name}: {explained[name]}\n  ({problem})")
    for kind in ("positive", "negative"):
        passed, count = counts[f"{kind} passed"], counts[kind]
        print(f"{kind}: {passed} of {count} ({100 * passed / max(count, 1):.1f} %)")
    print(f"unexplained failures: {unexplained}")
    check_transforms(tests)
    return 1 if unexplained else 0


def case_name(case: Case | BinaryCase, tests: Path) -> str:
    """The name of a case in reports and in the list of explained ones."""
    name = case.path.relative_to(tests).as_posix()
    return f"{name}:{case.line}" if isinstance(case, Case) else name


def judge(case: Case | BinaryCase) -> str | None:
    """Run a case; return its failure, or `None`."""
    try:
        if isinstance(case, BinaryCase):
            verify(read_bytecode(case.path.read_bytes(), case.path.name))
        else:
            accept(case)
    except Error as error:
        return judge_errors(case, error.diagnostics)
    return "accepted, but must be rejected" if case.must_fail else None


def accept(case: Case) -> None:
    """Parse, verify and round-trip a valid program."""
    # Line breaks in front keep the line numbers of the file.
    text = "\n" * (case.line - 1) + case.text
    root = parse_any(text, case.path.name, case.allow_unregistered)
    verify(root)
    if case.hints == "error":
        problems = [op.error(text) for op in root.walk() for text in hint_problems(op)]
        if problems:
            raise UserError(problems)
    for generic in (False, True):
        again = parse_any(print_op(root, generic=generic), "again", case.allow_unregistered)
        if not equivalent(root, again):
            raise UserError([Diagnostic(f"changed by the text form (generic: {generic})")])
    for module in modules_of(root):
        through_bytecode(module, case)


def modules_of(root: Operation) -> Iterable[ModuleOp]:
    """The tile modules that bytecode can hold as they are."""
    modules = [op for op in root.walk() if isinstance(op, ModuleOp)]
    return [module for module in modules if all(fits_bytecode(op) for op in module.walk())]


def fits_bytecode(op: Operation) -> bool:
    """Return whether an operation is encodable: no test function, no undeclared attribute."""
    return not isinstance(op, TestingFuncOp) and op.attributes.keys() <= op.schema.inherent.keys()


def through_bytecode(module: ModuleOp, case: Case) -> None:
    """Write a module and read it back; tests that never write one may have no encoding."""
    version = parse_version(case.bytecode_version or "13.4")
    try:
        data = write_bytecode(module, version)
    except Error:
        if case.writes_bytecode:
            raise
        return
    again = read_bytecode(data, "again")
    again.sym_name = module.sym_name
    if version >= (13, 3) and not equivalent(module, again):
        raise UserError([Diagnostic("changed by bytecode")])


def judge_errors(case: Case | BinaryCase, errors: tuple[Diagnostic, ...]) -> str | None:
    """Compare errors with those that the case expects."""
    first = errors[0]
    if not case.must_fail:
        return f"refused: {first.headline()}"
    lines = {e.line for e in case.errors if e.line} if isinstance(case, Case) else set[int]()
    if not lines:
        return None
    position = str(first.location).rsplit(":", 2)
    line = int(position[1]) if len(position) == 3 and position[1].isdigit() else 0
    if line in lines:
        return None
    return f"expected an error on line {sorted(lines)}, found: {first.headline()}"


if __name__ == "__main__":
    sys.exit(main())
