"""Comparison of two compilations."""

from __future__ import annotations

from explained import GEMM, LAYER_NORM, explained

from tilewright.explain.compare import figures, level_diffs, text_comparison
from tilewright.explain.html_comparison import html_comparison


def test_figures_that_differ() -> None:
    rows = figures(explained(GEMM), explained(GEMM, schedule="stages=2,agents=0"))
    changed = {row.figure: (row.left, row.right) for row in rows if row.differs}
    assert changed["shared memory, bytes"] == (str(3 * 32768), str(2 * 32768))
    assert changed["pipeline 0"] == (
        "3 stages of 32 KiB, cp.async", "2 stages of 32 KiB, cp.async",
    )  # fmt: skip
    assert "threads" not in changed


def test_a_compilation_is_the_same_as_itself() -> None:
    report = explained(GEMM)
    assert not any(row.differs for row in figures(report, report))
    assert all(not diff.lines for diff in level_diffs(report, report))
    text = text_comparison(report, report)
    assert "ptx: the same" in text


def test_diffs_ignore_numbers_of_values() -> None:
    """Two stages instead of three: constants and types change, and few lines only."""
    diffs = level_diffs(explained(GEMM), explained(GEMM, schedule="stages=2,agents=0"))
    by_name = {diff.name: diff for diff in diffs}
    assert by_name["cuda_tile"].lines == []
    asked = [line for line in by_name["nv_tileaa"].lines if line[0] in "+-"]
    assert len(asked) == 2
    assert all("nv_tileaa.func" in line for line in asked)
    changed = by_name["nv_tileas"]
    assert any(line.startswith("-") and "pipeline<3," in line for line in changed.lines)
    assert any(line.startswith("+") and "pipeline<2," in line for line in changed.lines)
    assert not any(line.startswith("-") and "nv_tileaa.assume" in line for line in changed.lines)


def test_kernels_with_other_names_are_compared_if_they_are_the_only_ones() -> None:
    rows = figures(explained(GEMM), explained(LAYER_NORM))
    assert {row.kernel for row in rows} == {"gemm, layer_norm"}
    page = html_comparison(explained(GEMM), explained(LAYER_NORM))
    assert "<td>112</td>" in page
    assert "data-pos" not in page.partition("<body>")[2]
