"""`benchmarks/best_tiles.py` compares kernels by their fastest right tile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).parents[3] / "benchmarks" / "best_tiles.py"
BEFORE: Final = """\
a 64x64 16x16 (chosen) 8.0 us 1 TFLOP/s, differs by 0.1
a 64x64 32x32 (chosen) 6.0 us 1 TFLOP/s, differs by 0.1
b 128 64 (chosen) 10.0 us 1 TFLOP/s, differs by 0.1
c 128 64 (chosen) rejected: too large
d 1 1 (chosen) 40.0 us 1 TFLOP/s, differs by 0.1
"""
AFTER: Final = """\
a 64x64 16x16 (chosen) 3.0 us 1 TFLOP/s, 2.00 of the other, differs by 0.1
a 64x64 32x32 (chosen) 1.0 us 1 TFLOP/s, 6.00 of the other, differs by 9 WRONG
b 128 64 (chosen) 20.0 us 1 TFLOP/s, 0.50 of the other, differs by 0.1
c 128 64 (chosen) 5.0 us 1 TFLOP/s, differs by 0.1
d 1 1 (chosen) 1.0 us 1 TFLOP/s, 40.0 of the other, differs by 0.1
"""


def test_the_fastest_right_tiles_are_compared(tmp_path: Path) -> None:
    files = [tmp_path / "before", tmp_path / "after"]
    for file, text in zip(files, (BEFORE, AFTER), strict=True):
        file.write_text(text)
    lines = subprocess.check_output([sys.executable, SCRIPT, *files], text=True).splitlines()
    assert "| a 64x64 | 6.0 | 32x32 | 3.0 | 16x16 | 2.00 |" in lines
    assert "| b 128 | 10.0 | 64 | 20.0 | 64 | 0.50 |" in lines
    assert "| c 128 | none |  | 5.0 | 64 |  |" in lines
    # The cube root of 2, of a half, and of 40 capped at 3.
    assert lines[-1] == "3 kernels: 1.442 in the geometric mean, lowest 0.50"
