"""Compile jobs with the sources of one tree, for `ptx_identity.py`.

Reads pickled jobs from standard input and writes pickled results to standard output as they are
ready: the index of the job, its outcome, and the text if the command line has `--texts`.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

import tilewright
from tilewright.driver.back_end import Observers
from tilewright.driver.compile import Compilation, Program, target
from tilewright.driver.progress import progress
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.support.diagnostics import InternalError

PTX: Final = "ptx"
REMARKS: Final = "remarks"
LAST_LEVEL: Final = "nvvm"
"""No pass below this level has remarks."""


class Job(NamedTuple):
    """One compilation."""

    name: str
    source: bytes
    arch: str
    opt_level: int = 3
    schedule: str = ""
    output: str = PTX
    """What is compared: the PTX, or the remarks of passes."""

    @property
    def options(self) -> str:
        """Everything but the program."""
        output = "" if self.output == PTX else self.output
        parts = (self.arch, f"-O{self.opt_level}", self.schedule, output)
        return " ".join(part for part in parts if part)

    @property
    def label(self) -> str:
        """The program and the options."""
        return f"{self.name} {self.options}"

    @property
    def key(self) -> str:
        """What the output depends on, besides the compiler."""
        return f"{hashlib.sha256(self.source).hexdigest()[:32]} {self.options}"


Result = tuple[int, str, str]
"""The index of a job, the digest of its output or the class of the error, and the text or ""."""


def output_of(job: Job) -> str:
    """Compile a program to PTX, or to the remarks of passes."""
    if job.output == PTX:
        compiled = tilewright.compile(
            job.source, job.arch, job.opt_level, emit="ptx", schedule=job.schedule
        )
        return compiled.ptx
    settings = Settings(target(job.arch), job.opt_level, schedule=parse_schedule(job.schedule))
    module = Program(job.source).module
    compilation = Compilation(
        module.clone(), settings, Observers(remarks=True), source=module.clone
    )
    compilation.dumped_to(LAST_LEVEL)
    remarks = compilation.observers.sink.remarks
    return "".join(f"{each.pass_name}: {each.message} {each.details}\n" for each in remarks)


def result_of(numbered: tuple[int, Job]) -> Result:
    """Compile one job."""
    index, job = numbered
    try:
        text = output_of(job)
    except (tilewright.Error, InternalError) as error:
        return index, type(error).__name__, f"{error}\n"
    return index, hashlib.sha256(text.encode()).hexdigest(), text


def digest_of(numbered: tuple[int, Job]) -> Result:
    """Compile one job, and keep no text."""
    return *result_of(numbered)[:2], ""


def compile_jobs(jobs: Sequence[Job], *, with_texts: bool) -> None:
    """Compile on all cores; each result is written when it is ready."""
    function = result_of if with_texts else digest_of
    with multiprocessing.Pool(os.cpu_count()) as pool:
        results = pool.imap_unordered(function, enumerate(jobs), chunksize=4)
        for result in progress(results, len(jobs)):
            pickle.dump(result, sys.stdout.buffer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    compile_jobs(pickle.load(sys.stdin.buffer), with_texts="--texts" in sys.argv)
