"""Compare the speed of kernels that two versions of this compiler generate, row by row.

    python benchmarks/version_pairs.py --base .gpu/base/src [-k "prefill or decode"] [FILE ...]
    python benchmarks/version_pairs.py --base .gpu/base/src --variants gemm attention validation

Runs on a GPU in the root of a checkout whose `.gpu/` holds cuTile's tests and packages, and the
sources of the other version. The rows are those of cuTile's benchmarks, or our variants of GEMM and
attention kernels and the validation kernels. Two processes, one for each version, offer the same
row, and time samples of it alternately. Prints the median ratio of the pairs with its 95 %
interval: above 1, the working tree is faster. A row is slower if the whole interval is below 0.98,
or 0.95 for kernels below 10 us; such a row is timed once more, and counts as slower only if it is
so again. While all kernels so far have the same machine code in both versions, rows are not timed.
Exits with 1 if a row is slower.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Final, NamedTuple

from alternation import ADDRESS, Answer, End, Offer
from cutile_rows import ALL_FILES, TESTS, choose_tiles, environment
from fresh_caches import SCHEDULE

HERE: Final = Path(__file__).parent.resolve()
PAIRS: Final = 12
SHORT_US: Final = 10.0
LOWEST: Final = 0.98
LOWEST_SHORT: Final = 0.95
"""The limit for kernels below `SHORT_US`, whose times vary more."""
VARIANTS: Final = {
    "gemm": "gemm_variants.py",
    "attention": "attention_variants.py",
    "validation": "validation_kernels.py",
}
"""The programs that time our own kernels."""
DIGESTS: Final = "TILEWRIGHT_BENCHMARK_DIGESTS"
"""The file to which a compiler appends the digests of the machine code that it makes."""
COMPILER: Final = f"""#!/bin/sh
{sys.executable} -m tilewright.tileiras "$@" || exit
exec {sys.executable} {HERE}/machine_code.py "$@" >>"${DIGESTS}"
"""


class Interval(NamedTuple):
    """A median with its 95 % interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Version:
    """A process with the compiler of one version, which offers rows."""

    def __init__(
        self,
        label: str,
        sources: Path,
        command: Sequence[str],
        working_folder: Path,
        folder: Path,
        schedule: str = "",
    ) -> None:
        self.label = label
        folder.mkdir()
        self.digests_file = folder / "digests"
        self.digests_file.touch()
        compiler = folder / "tileiras"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        self._listener = Listener(str(folder / "socket"), "AF_UNIX")
        variables = environment(str(sources))
        variables["PATH"] = f"{folder}:{variables['PATH']}"
        variables["PYTHONPATH"] = f"{HERE}:{variables['PYTHONPATH']}"
        variables |= {ADDRESS: str(folder / "socket"), DIGESTS: str(self.digests_file)}
        variables |= {"TILEWRIGHT_CACHE": "0", SCHEDULE: schedule}
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=working_folder, env=variables, stdout=log, stderr=subprocess.STDOUT
            )

    @cached_property
    def connection(self) -> Connection:
        """The connection to the process, which starts while others do."""
        with self._listener:
            return self._listener.accept()

    def receive(self) -> Offer | End | None:
        """The next thing that the process says; `None` if it ended."""
        try:
            return self.connection.recv()
        except EOFError:
            return None

    def sample(self) -> float:
        """The time of one sample in microseconds."""
        self.answer("time")
        return self.connection.recv()

    def answer(self, answer: Answer) -> None:
        """Ask for a sample or for the next row."""
        self.connection.send(answer)

    def digests(self) -> Counter[str]:
        """The digests of the machine code of all kernels so far."""
        return Counter(self.digests_file.read_text().split())

    def problem(self) -> str | None:
        """Wait for the end of the process; an error that it ended with, after its last lines."""
        code = self.process.wait()
        if code in (0, 5):
            return None
        print("\n".join(self.log.read_text().splitlines()[-15:]), flush=True)
        return f"{self.label}: exit code {code}, so that rows may be missing"


def main() -> int:
    """Compare the rows that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", default=ALL_FILES, help="cuTile's benchmark files")
    parser.add_argument("--base", type=Path, required=True, help="sources of the other version")
    parser.add_argument("-k", dest="expression", help="pytest's expression that selects rows")
    parser.add_argument("--tiles", type=Path, help="tile sizes other than .gpu/h200-tuning.json")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=[])
    parser.add_argument("--only", default="", help="variants that match a regular expression")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--all", action="store_true", help="time the same machine code, too")
    arguments = parser.parse_args()
    choose_tiles(arguments.tiles)
    slower: list[str] = []
    if arguments.variants:
        for name in arguments.variants:
            command = [sys.executable, str(HERE / VARIANTS[name]), "--alternate"]
            command += ["--only", arguments.only]
            slower += compare(command, Path.cwd(), arguments)
    else:
        expression = f"({arguments.expression or 'bench'}) and not torch"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "paired_rows"]
        for file in arguments.files:
            slower += compare([*command, "-q", file, "-k", expression], TESTS, arguments)
    print(f"{len(slower)} slower or with errors" + "".join(f"\n  {row}" for row in slower))
    return 1 if slower else 0


def compare(
    command: Sequence[str], working_folder: Path, arguments: argparse.Namespace
) -> list[str]:
    """Run a command with both versions, and print a line for each row.

    Returns the slower rows, and which version ended with an error.
    """
    slower: list[str] = []
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        new = Version("working tree", Path("src"), command, working_folder, folder / "new")
        base = Version("base", arguments.base, command, working_folder, folder / "base")
        for row, offering in offered_rows((new, base)):
            if len(offering) < 2:
                continue
            if new.digests() == base.digests() and not arguments.all:
                print(f"{row}: the same machine code", flush=True)
                continue
            line, is_slower = time_row(new, base, arguments.pairs)
            if is_slower:
                print(f"{row}: {line}, once more", flush=True)
                line, is_slower = time_row(new, base, arguments.pairs)
            print(f"{row}: {line}" + (" SLOWER" if is_slower else ""), flush=True)
            slower += [row] if is_slower else []
        slower += [each for each in (new.problem(), base.problem()) if each]
    return slower


def offered_rows(versions: Sequence[Version]) -> Iterator[tuple[str, list[Version]]]:
    """Yield each row with the versions that are ready to time it, when all have come to it."""
    while True:
        messages = [version.receive() for version in versions]
        if None in messages:
            return
        rows = {message.row for message in messages if message is not None}
        if len(rows) > 1:
            raise RuntimeError(f"expected all versions to offer the same row, found {rows}")
        ready = zip(versions, messages, strict=True)
        yield rows.pop(), [version for version, message in ready if isinstance(message, Offer)]
        for version, message in zip(versions, messages, strict=True):
            if isinstance(message, Offer):
                version.answer("next")
                message = version.receive()
            if isinstance(message, End) and message.outcome != "passed":
                print(f"{message.row}: {message.outcome} ({version.label})", flush=True)


def time_row(new: Version, base: Version, pairs: int) -> tuple[str, bool]:
    """Time both versions alternately; return a description, and whether the new one is slower."""
    times: list[tuple[float, float]] = []
    for index in range(pairs):
        # The order alternates, too: the first sample of a pair may follow a pause.
        if index % 2:
            times.append((new.sample(), base.sample()))
        else:
            other = base.sample()
            times.append((new.sample(), other))
    ratio = interval([other / own for own, other in times])
    own = statistics.median(own for own, _ in times)
    limit = LOWEST_SHORT if own < SHORT_US else LOWEST
    return f"{own:.1f} us, {ratio}", ratio.high < limit


def interval(values: Sequence[float]) -> Interval:
    """The median, and the narrowest pair of order statistics that covers it with 95 %."""
    ordered = sorted(values)
    count = len(ordered)
    # As many values as `rank` are below the interval, and as many above it.
    misses = accumulate(math.comb(count, rank) / 2 ** (count - 1) for rank in range(count))
    rank = max(0, sum(miss <= 0.05 for miss in misses) - 1)
    return Interval(statistics.median(ordered), ordered[rank], ordered[count - 1 - rank])


if __name__ == "__main__":
    sys.exit(main())
