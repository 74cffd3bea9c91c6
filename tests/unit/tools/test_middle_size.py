"""What `tools/middle_size.py` counts."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from counted_code import gpu_tests, named_constants, unnamed_constants
from middle_size import Counts, Sizes, table

PIPELINES = """
from typing import Final

PASSES: Final = {
    "slice": "tilewright.transforms.nv_tileaa.slice:Slice",
    "slice-tiles": "tilewright.transforms.nv_tileaa.slice:Slice",
    "convert": "tilewright.conversion.nv_tileaa_to_nv_tileas:Convert",
}
"""


@pytest.mark.parametrize(("line", "count"), [
    ("SHARE: Final = 32", 1),
    ("BYTES: Final = 36 * 1024", 1),
    ("SHARES: Final = {4: 32, 8: 32}", 1),
    ("WEIGHTS = (1, 1000)", 1),
    ("LIMITS: Final = Limits(block=48, iteration=32)", 1),
    ("NONE: Final = -1", 0),
    ("IS_ON: Final = True", 0),
    ("WORD: Final = IntegerType(8)", 0),
    ("NAMES: Final = ('a', 'b')", 0),
    ("share = 32", 0),
    ("class Bar:\n    DELAY: Final = 0.5", 1),
    ("class Kind(Enum):\n    SHARED = 3", 0),
])  # fmt: skip
def test_named_constants(line: str, count: int) -> None:
    assert len(list(named_constants("", ast.parse(line)))) == count


@pytest.mark.parametrize(("expression", "count"), [
    ("registers > 96", 1),
    ("8 <= stages < 12", 2),
    ("stages in (3, 4)", 2),
    ("max(16, rows)", 1),
    ("(4, 8)", 2),
    ("rows > 2", 0),
    ("rows % 8 == 0", 0),
    ("len(shape) == 3", 0),
    ("type.width in (32, 64)", 0),
    ("tile.rank == 3", 0),
    ("tile[3, 4]", 0),
    ("rows * 96", 0),
])  # fmt: skip
def test_unnamed_constants(expression: str, count: int) -> None:
    tree = ast.parse(f"def f():\n    def inner():\n        return {expression}\n")
    assert len(list(unnamed_constants("", tree))) == count


@pytest.mark.parametrize(("expression", "count"), [
    ("Feature.TMA in arch", 1),
    ("Feature.TMA in arch and Feature.WGMMA in arch", 2),
    ("spec.compute_capability", 1),
    ("arch.features", 1),
    ("arch.name == 'sm_90'", 1),
    ("arch.number >= 90", 1),
    ("isinstance(target, Hopper)", 1),
    ("isinstance(target, (int, Hopper))", 1),
    ("isinstance(target, int)", 0),
    ("arch.limits.shared", 0),
    ("'for sm_90 alone'", 0),
])  # fmt: skip
def test_tests_of_the_gpu(expression: str, count: int) -> None:
    assert len(list(gpu_tests("", ast.parse(expression), frozenset({"Hopper"})))) == count


def test_rows_are_packages_and_groups_of_them() -> None:
    sizes = Sizes({
        "driver/pipelines.py": PIPELINES,
        "transforms/__init__.py": "",
        "transforms/nv_tileaa/slice.py": "SHARE = 32\nSOME = Feature.TMA in arch\n",
        "transforms/generic/cse.py": "LIMIT = 4\n",
        "conversion/nv_tileaa_to_nv_tileas/__init__.py": "import ast\n",
        "target/hopper.py": dedent("""
            REGISTERS = 65536
            class Hopper:
                pass
            HAS = Feature.TMA
        """),
        "plans/warps.py": "def f(x):\n    return isinstance(x, Hopper) and x.count > 96\n",
        "schedule/cost.py": "LATENCY = 600\n",
    })  # fmt: skip
    assert sizes.rows() == {
        "conversion/nv_tileaa_to_nv_tileas": Counts(1, 1, 1),
        "plans": Counts(2, 1, 0, 1, 0, 1),
        "schedule": Counts(1, 1, 0, 0, 1),
        "target": Counts(5, 1, 0, 1, 1),
        "transforms/generic": Counts(1, 1, 0, 0, 1),
        "transforms/nv_tileaa": Counts(2, 1, 1, 1, 1),
        "decide and apply": Counts(6, 4, 2, 2, 2, 1),
        "all": Counts(12, 6, 2, 3, 4, 1),
        "elsewhere than target and schedule": Counts(6, 4, 2, 2, 2, 1),
    }


def test_cells_show_both_counts_where_they_differ() -> None:
    lines = table({"plans": Counts(1300, 12)}, {"plans": Counts(1200, 12), "gone": Counts(5)})
    assert lines.splitlines()[2:] == [
        "| plans | 1,200 → 1,300 | 12 | 0 | 0 | 0 | 0 |",
        "| gone | 5 → 0 | 0 | 0 | 0 | 0 | 0 |",
    ]
