"""Which files become part of a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.driver.explanation import explain
from tilewright.driver.settings import Settings
from tilewright.explain.html import html_report
from tilewright.explain.positions import MAX_POSITIONS, Positions
from tilewright.support.location import CallSiteLoc, FileLoc, FusedLoc, Location
from tilewright.target.arch import ARCHES

PROGRAM = """\
cuda_tile.module @kernels {{
  entry @kernel(%x: tile<ptr<f32>>) {{
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = store_ptr_tko weak %x, %0 : tile<ptr<f32>>, tile<f32> -> token loc("{file}":2:1)
    return
  }}
}}
"""


def page(file: Path, folders: list[str]) -> str:
    program = PROGRAM.format(file=file).encode()
    report = explain(program, "kernel.mlir", Settings(ARCHES["sm_90"]), folders=folders)
    return html_report(report)


def test_files_of_the_folders_alone_are_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (inside, outside, inside / "site-packages"):
        folder.mkdir()
        (folder / "kernel.py").write_text("first\nthe secret text\n")
        (folder / "notes.txt").write_text("first\nthe secret text\n")
    folders = [str(inside)]
    assert "the secret text" in page(inside / "kernel.py", folders)
    assert "the secret text" not in page(inside / "notes.txt", folders)
    assert "the secret text" not in page(inside / "site-packages" / "kernel.py", folders)
    assert "the secret text" not in page(outside / "kernel.py", folders)
    assert "the secret text" not in page(inside / "kernel.py", [])
    assert "the secret text" not in page(inside / ".." / "elsewhere" / "kernel.py", folders)
    (inside / "link.py").symlink_to(outside / "kernel.py")
    assert "the secret text" not in page(inside / "link.py", folders)


def test_inlined_code_has_the_lines_of_callee_and_caller() -> None:
    positions = Positions({"a.py": "x\ny\n"})
    location = CallSiteLoc(FileLoc("a.py", 2, 1), FileLoc("a.py", 1, 5))
    assert positions.of(location) == (0, 1)
    _, table = positions.tables()
    assert [each.line for each in table] == [2, 1]


@pytest.mark.parametrize("nesting", [40])
def test_shared_locations_are_visited_once(nesting: int) -> None:
    location: Location = FileLoc("a.py", 1, 1)
    for _ in range(nesting):
        location = CallSiteLoc(location, location)
    assert Positions({}).of(location) == (0,)
    many = FusedLoc(tuple(FileLoc("a.py", line, 1) for line in range(1, 100)))
    assert len(Positions({}).of(many)) == MAX_POSITIONS
