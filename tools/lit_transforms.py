"""The lit tests that run passes: their output, judged by FileCheck.

A file is judged as a whole. If that fails, it is judged program by program: our canonicalization
goes further than the public one, so that some of what a test wants to see is gone. Such a program
must pass with the public patterns alone.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser
from lit_cases import TransformTest, find_transforms

from tilewright import Error
from tilewright.dialects.cuda_tile.core import SelectOp
from tilewright.dialects.cuda_tile.misc import AssumeOp
from tilewright.dialects.cuda_tile.simplify import adjacent_ifs, branches, selection
from tilewright.dialects.cuda_tile.simplify.floats import mul_to_lhs
from tilewright.driver.assembly import parse_any
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.rules import Fold, apply_rules
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op
from tilewright.transforms.generic.constant_pool import ConstantPool
from tilewright.transforms.generic.fold import fold_of

PUBLIC_RULES: Final = (
    *branches.RULES,
    *adjacent_ifs.RULES,
    *selection.RULES,
    mul_to_lhs,
)
PUBLIC_FOLDS: Final = (SelectOp, AssumeOp)


def check_transforms(tests: Path) -> None:
    """Print the number of programs that pass, and of those that need the public patterns alone."""
    passed = further = count = 0
    for test in find_transforms(tests):
        count += len(test.chunks)
        if judge(test, test.chunks, run_passes) is None:
            passed += len(test.chunks)
            continue
        for number, chunk in enumerate(test.chunks):
            problem = judge(test, (chunk,), run_passes)
            if problem is None:
                passed += 1
            elif judge(test, (chunk,), run_public) is None:
                further += 1
            else:
                print(f"transform {test.path.relative_to(tests)}, program {number}: {problem}")
    print(f"transforms: {passed} of {count} as expected, {further} more that we fold further")


def run_passes(test: TransformTest, root: Operation) -> None:
    """Run the passes that the test names."""
    parse_pipeline(test.pipeline).run(root)


def run_public(test: TransformTest, root: Operation) -> None:
    """Canonicalize with the patterns alone that NVIDIA's public tools have."""
    if test.pipeline != "canonicalize":
        run_passes(test, root)
        return
    pool = ConstantPool()

    def find(kind: type[Operation]) -> Fold | None:
        if CONSTANT_LIKE in kind.traits:
            return pool
        return fold_of(kind) if issubclass(kind, PUBLIC_FOLDS) else None

    apply_rules(root, PUBLIC_RULES, fold=find)


def judge(
    test: TransformTest, chunks: tuple[str, ...], run: Callable[[TransformTest, Operation], None]
) -> str | None:
    """Check the output for some programs with FileCheck; return its report, or `None`."""
    outputs: list[str] = []
    for chunk in chunks:
        try:
            root = parse_any(chunk, test.path.name)
            run(test, root)
            verify(root)
        except Error as error:
            return str(error)
        outputs.append(print_op(root, debug=test.debug))
    with tempfile.TemporaryDirectory() as folder:
        checks = Path(folder) / test.path.name
        checks.write_text("\n// -----\n".join(chunks))
        return file_check(checks, "\n// -----\n".join(outputs))


def file_check(path: Path, output: str) -> str | None:
    """Check an output with FileCheck; return its report, or `None`."""
    if "CHECK" not in path.read_text():
        return None
    options = Options(str(path))
    matcher = Matcher(options, FInput("output", output), Parser.from_opts(options))
    matcher.stderr = io.StringIO()
    # The library prints progress to standard output.
    with redirect_stdout(io.StringIO()):
        matches = matcher.run() == 0
    if matches:
        return None
    return "\n  ".join(matcher.stderr.getvalue().splitlines()[:12])
