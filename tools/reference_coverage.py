"""List the test coverage of the reference executor: operations, cases, values, failures.

    python tools/reference_coverage.py                 every operation
    python tools/reference_coverage.py --effort 16     with 16 times as many values
    python tools/reference_coverage.py floating mma    only these files of the dialect

The exit code says whether all cases passed and none is missing: a type or attribute that the
verifier accepts and no case uses.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path

from tilewright.driver.progress import progress

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "shared"))

from op_cases.suite import GROUPS, Report
from op_cases.values import Effort

Row = tuple[str, int, int, list[str]]
"""An operation, its cases, the values compared, and the failures."""


def run(job: tuple[str, int]) -> tuple[list[Row], list[str]]:
    """Run a group of cases; return a row for each operation, and the missing cases."""
    name, effort = job
    report = Report(GROUPS[name])
    report.run(Effort(effort))
    rows = [(op, tally.cases, tally.values, tally.problems) for op, tally in report.tallies.items()]
    return rows, [" ".join(map(str, feature)) for feature in sorted(report.missing())]


def main() -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description="list the test coverage of the reference executor")
    parser.add_argument("groups", nargs="*", default=sorted(GROUPS), metavar="GROUP")
    parser.add_argument("--effort", type=int, default=1, help="scale the number of values")
    parser.add_argument("-j", "--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    unknown = sorted(set(options.groups) - set(GROUPS))
    if unknown:
        parser.error(f"expected some of {', '.join(GROUPS)}, got {', '.join(unknown)}")
    jobs = [(name, options.effort) for name in options.groups]
    with multiprocessing.Pool(options.jobs) as pool:
        results = list(progress(pool.imap_unordered(run, jobs), len(jobs)))
    rows = sorted(row for group, _ in results for row in group)
    missing = sorted(feature for _, absent in results for feature in absent)
    return show(rows, missing)


def show(rows: list[Row], missing: list[str]) -> int:
    """Print the table and the failures; return the exit code."""
    print(f"{'operation':28}{'cases':>8}{'values':>12}{'failures':>10}")
    for name, cases, values, problems in rows:
        print(f"{name:28}{cases:8,}{values:12,}{len(problems):10,}")
    problems = [problem for *_, failures in rows for problem in failures]
    cases, values = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{f'{len(rows)} operations':28}{cases:8,}{values:12,}{len(problems):10,}")
    print(f"accepted by the verifier, but not tested: {len(missing)}")
    for line in (*problems[:5], *missing[:20]):
        print(line, file=sys.stderr)
    return 1 if problems or missing else 0


if __name__ == "__main__":
    sys.exit(main())
