"""Valid and invalid input files, and a command line in process."""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import Result, Run

import tilewright
from tilewright import tileirdisasm
from tilewright.driver import cli
from tilewright.driver.playground.tasks import Tasks
from tilewright.driver.playground.worker import respond
from tilewright.driver.tuning import search
from tilewright.tileiras import run as tileiras

PROGRAM = """\
cuda_tile.module @kernels {
  entry @add(%a: tile<f32>, %b: tile<f32>) {
    %sum = addf %a, %b rounding<nearest_even> : tile<f32>
    return
  }
}
"""

FILES: dict[str, str | bytes] = {
    "good.mlir": PROGRAM,
    "empty": b"",
    "mlir.bc": b"ML\xefR\x06MLIR20.0.0\0",
    "words": "good.tileirbc -g",
    "random": bytes(range(128, 256)),
    "unknown.mlir": PROGRAM.replace("addf", "frobnicate"),
    "mismatch.mlir": PROGRAM.replace("%b: tile<f32>", "%b: tile<f16>"),
    "wrong_types.mlir": PROGRAM.replace("f32", "i32"),
    "open.mlir": PROGRAM[: PROGRAM.index("return")],
    "new.mlir": PROGRAM.replace("addf %a, %b rounding<nearest_even>", "atan2 %a, %b"),
    "toy.mlir": "module {\n  toy.func @f() {\n    return\n  }\n}\n",
}


@cache
def good_bytecode() -> bytes:
    return tilewright.write_bytecode(tilewright.read(PROGRAM))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with files to try."""
    for name, contents in FILES.items():
        data = contents.encode() if isinstance(contents, str) else contents
        (tmp_path / name).write_bytes(data)
    good = good_bytecode()
    (tmp_path / "good.tileirbc").write_bytes(good)
    (tmp_path / "truncated.tileirbc").write_bytes(good[:-20])
    (tmp_path / "header.tileirbc").write_bytes(good[:9])
    (tmp_path / "future.tileirbc").write_bytes(good[:9] + b"\x63" + good[10:])
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `tilewright tune` try few schedules."""
    monkeypatch.setattr(search, "TRIED", {"warps": (8, 4)})


@pytest.fixture
def playground_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `tilewright serve --check` compile in this process; tests/cli/test_serve.py does not."""

    def answer(tasks: Tasks, page: str, request: dict[str, Any]) -> dict[str, Any]:
        return {**respond({**request, **tasks.limits._asdict()}), "log": ""}

    monkeypatch.setattr(Tasks, "prepare", lambda tasks: None)
    monkeypatch.setattr(Tasks, "answer", answer)


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Run `tilewright`, `tileirdisasm` or `tileiras` in this process."""

    def run(*arguments: str, tool: str = "tilewright", stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", _Input(stdin))
        mains = {
            "tilewright": cli.main,
            "tileirdisasm": tileirdisasm.main,
            "tileiras": tileiras.main,
        }
        code = mains[tool](arguments)
        out, err = capfdbinary.readouterr()
        return Result(code, out.decode("utf-8", "surrogateescape"), err.decode())

    return run
