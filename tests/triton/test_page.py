"""The example of docs/triton.md prints what the page shows."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from documentation import ROOT, blocks

PAGE = ROOT / "docs" / "triton.md"


@pytest.mark.skipif(
    not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
    reason="Triton or torch is not installed (pip install 'tilewright[triton]')",
)
def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(PAGE, "python") if block.file)
    (shown,) = blocks(PAGE, "text")
    (tmp_path / example.file).write_text(example.text)
    command = [sys.executable, "-W", "ignore", "-m", "tilewright.triton", example.file]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    printed = ran.stderr.replace(f"{tmp_path}/", "").replace("\t", "    ").splitlines()
    expected = shown.text.splitlines()[1:]
    # The column and the address depend on the version of Triton.
    assert list(map(without_numbers, printed)) == list(map(without_numbers, expected))
    mended = example.text.replace("tl.load(x + at)", "tl.load(x + at, mask=at < n)")
    (tmp_path / example.file).write_text(mended)
    assert subprocess.run(command, cwd=tmp_path).returncode == 0


def without_numbers(line: str) -> str:
    return "".join(character for character in line if not character.isdigit()).strip()
