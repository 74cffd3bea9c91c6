"""Reports of `tilewright explain` on programs of the tests, each made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tilewright.driver.explanation import explain
from tilewright.driver.schedules import parse_schedule
from tilewright.driver.settings import Settings
from tilewright.emit.toolchain import find_nvdisasm
from tilewright.explain.report import Kernel, LevelText, Report
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES

ROOT = Path(__file__).parents[2]
ADD = ROOT / "examples" / "add.mlir"
GEMM = ROOT / "examples" / "gemm.mlir"
ATTENTION = ROOT / "tests" / "run" / "kernels" / "attention_warpgroups.mlir"
LAYER_NORM = ROOT / "tests" / "run" / "kernels" / "layer_norm.mlir"
VECTOR_ADD = ROOT / "tests" / "run" / "kernels" / "vector_add.mlir"
SOFTMAX = ROOT / "tests" / "run" / "kernels" / "softmax.mlir"


@cache
def has_nvdisasm() -> bool:
    """Whether reports have SASS."""
    try:
        find_nvdisasm()
    except Unsupported:
        return False
    return True


@cache
def explained(path: Path, arch: str = "sm_90", schedule: str = "") -> Report:
    """The report on a program."""
    settings = Settings(ARCHES[arch], schedule=parse_schedule(schedule))
    return explain(path.read_bytes(), str(path), settings)


def kernel_of(report: Report, name: str) -> Kernel:
    """A kernel of a report."""
    return next(kernel for kernel in report.kernels if kernel.name == name)


def level_of(report: Report, name: str) -> LevelText:
    """A level of a report."""
    return next(level for level in report.levels if level.name == name)


def source_lines(report: Report, level: str, containing: str) -> set[str]:
    """The source lines that lines of a level with a text are linked to."""
    text = level_of(report, level)
    lines: set[str] = set()
    for line, links in zip(text.lines, text.links, strict=True):
        if containing in line:
            at = [report.positions[each] for each in links]
            lines |= {report.sources[each.source].lines[each.line - 1].strip() for each in at}
    return lines
