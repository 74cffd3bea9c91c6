"""The lit tests that run passes: their output, judged by FileCheck."""

from __future__ import annotations

import io
from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser
from lit_cases import TransformTest, find_transforms

from tilewright import Error
from tilewright.driver.assembly import parse_any
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op


def check_transforms(tests: Path) -> None:
    """Print how many files pass; what we fold further than they do shows up here."""
    results = [(test, run_transform(test)) for test in find_transforms(tests)]
    for test, problem in results:
        if problem is not None:
            print(f"transform {test.path.relative_to(tests)}: {problem}")
    passed = sum(problem is None for _, problem in results)
    print(f"transforms, by FileCheck on whole files: {passed} of {len(results)}")


def run_transform(test: TransformTest) -> str | None:
    """Run the passes on every chunk, and FileCheck on all that they print."""
    outputs: list[str] = []
    for chunk in test.chunks:
        try:
            root = parse_any(chunk, test.path.name)
            parse_pipeline(test.pipeline).run(root)
            verify(root)
        except Error as error:
            return str(error)
        outputs.append(print_op(root, debug=test.debug))
    return file_check(test.path, "\n// -----\n".join(outputs))


def file_check(path: Path, output: str) -> str | None:
    """What FileCheck says of an output, or nothing when it is content."""
    options = Options(str(path))
    matcher = Matcher(options, FInput("output", output), Parser.from_opts(options))
    matcher.stderr = io.StringIO()
    if matcher.run() == 0:
        return None
    return "\n  ".join(matcher.stderr.getvalue().splitlines()[:12])
