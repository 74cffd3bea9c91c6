"""The verdict of `tools/gpu_samples.py`: a sample passes only with the note of its compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_samples import PASSED, judge, kept, samples

import tilewright
from tilewright.emit import cubin as assembling
from tilewright.emit.note import Note

EMPTY = "cuda_tile.module @kernels { entry @nothing() { return } }"


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return tilewright.compile(EMPTY).cubin


@pytest.mark.parametrize("words", PASSED)
def test_verdict_of_passing_samples(words: str, cubin: bytes) -> None:
    assert judge(0, f"3 tests\n{words}", [cubin]) == "passed"


@pytest.mark.parametrize(
    ("code", "output", "verdict"),
    [
        (1, PASSED[0], "failed"),
        (0, f"{PASSED[0]}\nCorrectness check failed", "failed"),
        (0, "An unexpected error occurred", "failed"),
        (0, "done", "unchecked"),
        (0, "Skipped test: no such GPU", "skipped itself"),
    ],
)
def test_verdict_of_failing_samples(code: int, output: str, verdict: str, cubin: bytes) -> None:
    assert judge(code, output, [cubin]) == verdict


def test_samples_without_cubins_do_not_pass() -> None:
    assert judge(0, PASSED[0], []) == "no proof"


@pytest.mark.parametrize(
    ("name", "stand_in"),
    [
        ("own_note", lambda: Note("0.1", "0" * 32)),  # another Tilewright
        ("add_note", lambda data, note, *_: data),  # no note
    ],
)
def test_cubins_of_other_compilers_do_not_pass(
    name: str, stand_in: object, cubin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembling, name, stand_in)
    other = tilewright.compile(EMPTY).cubin
    assert judge(0, PASSED[0], [cubin, other]) == "not ours"


def test_programs_are_found_and_templates_are_not(tmp_path: Path) -> None:
    names = ("A.py", "__init__.py", "test_samples.py", "quickstart/B.py", "templates/C.py")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert [path.name for path in samples(tmp_path)] == ["A.py", "B.py"]
    assert kept(tmp_path) == []
