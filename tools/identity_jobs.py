"""Which compilations `ptx_identity.py` compares.

Programs come from the corpus, from `tests/run`, and from the archive of all rows and variants of
the benchmarks (`benchmarks/programs/`). A quick selection takes a part of each group, chosen by a
checksum of program and options, so that it stays the same when programs are added.
"""

from __future__ import annotations

import sys
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from identity_compile import PTX, REMARKS, Job

from tilewright.driver.tuning.search import neighbours
from tilewright.support.schedule_keys import CHOICES

ROOT: Final = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

from program_archive import ARCHIVE, Program, unpacked  # noqa: E402

CORPUS: Final = ROOT.parent / "shared" / "corpus" / "cutile-tests.tar.xz"
MAIN_ARCH: Final = "sm_90"
OTHER_ARCHES: Final = ("sm_80", "sm_100", "sm_120")
ARCHES: Final = (MAIN_ARCH, *OTHER_ARCHES)
COMBINED: Final = (
    "stages=3 agents=1",
    "agents=1 tma-stores=1",
    "agents=1 multicast=0",
    "stages=4 k-parts=2",
    "agents=0 rotate=1",
)
"""Schedules of two options, as the second often depends on the first."""


def forced_schedules() -> list[str]:
    """Each value that tuning tries, the smallest one of each option, and some pairs."""
    smallest = (f"{name}={values[0]}" for name, values in CHOICES.items())
    return list(dict.fromkeys((*neighbours(""), *smallest, *COMBINED)))


class Group(NamedTuple):
    """Compilations of the same programs, and which part of them is selected."""

    programs: Sequence[Program]
    arches: Sequence[str]
    whole: int
    """One in this many compilations of a whole run."""
    quick: int
    """One in this many of a quick run."""
    opt_levels: Sequence[int] = (3,)
    schedules: Sequence[str] = ("",)
    output: str = PTX

    def jobs(self, *, whole: bool) -> Iterator[Job]:
        """The compilations of a whole or a quick run."""
        rate = self.whole if whole else self.quick
        for program in self.programs:
            for arch in self.arches:
                for level in self.opt_levels:
                    for schedule in self.schedules:
                        job = Job(*program, arch, level, schedule, self.output)
                        if zlib.crc32(job.label.encode()) % rate == 0:
                            yield job


def all_groups() -> list[Group]:
    """The groups."""
    corpus, tests, rows = corpus_programs(), test_programs(), row_programs()
    unoptimized = (0, 1)
    return [
        Group(rows, (MAIN_ARCH,), 1, 1),
        Group(rows, OTHER_ARCHES, 1, 16),
        Group(rows, ARCHES, 4, 64, unoptimized),
        Group(rows, (MAIN_ARCH,), 2, 48, schedules=forced_schedules()),
        Group(rows, OTHER_ARCHES, 32, 1024, schedules=forced_schedules()),
        Group(rows, (MAIN_ARCH,), 1, 16, output=REMARKS),
        Group(corpus, ARCHES, 1, 16),
        Group(corpus, ARCHES, 10, 160, unoptimized),
        Group(tests, ARCHES, 1, 8),
        Group(tests, ARCHES, 4, 32, unoptimized),
    ]


def corpus_programs() -> list[Program]:
    """The modules of the corpus; none if it is not beside the checkout."""
    if not CORPUS.exists():
        return []
    with tarfile.open(CORPUS, "r|xz") as archive:
        members = ((Path(each.name).stem, archive.extractfile(each)) for each in archive)
        modules = [Program(name, file.read()) for name, file in members if file is not None]
    return sorted(modules)


def test_programs() -> list[Program]:
    """The programs of `tests/run`."""
    paths = sorted((ROOT / "tests" / "run").rglob("*.mlir"))
    return [Program(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in paths]


def row_programs() -> list[Program]:
    """The rows and variants of the benchmarks, equal ones once."""
    first: dict[bytes, str] = {}
    for name, code in unpacked(ARCHIVE.read_bytes()).items():
        first.setdefault(code, name)
    return [Program(name, code) for code, name in first.items()]


def selected_jobs(names: Sequence[str], *, whole: bool) -> list[Job]:
    """The compilations of a run, of programs whose names contain one of some texts.

    With names a run is always whole.
    """
    jobs = (job for group in all_groups() for job in group.jobs(whole=whole or bool(names)))
    return [job for job in jobs if not names or any(name in job.name for name in names)]
