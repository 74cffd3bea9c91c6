"""Programs of the playground are compiled and run in processes of their own, under limits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tile_cpp_tools import missing_nvcc

from tilewright.driver.playground import child
from tilewright.driver.playground.child import Limits
from tilewright.driver.playground.tasks import Tasks
from tilewright.driver.playground.worker import respond

ROOT = Path(__file__).parents[4]
ADD = (ROOT / "examples" / "add.mlir").read_text()
WRONG = "wrong\n"
SPIN = """\
entry @spin(%p: tile<ptr<i32>>) {
  %one = constant <i32: 1> : tile<i32>
  %r = loop iter_values(%i = %one) : tile<i32> -> tile<i32> {
    %next = addi %i, %one : tile<i32>
    %t = store_ptr_tko relaxed device %p, %next : tile<ptr<i32>>, tile<i32> -> token
    continue %next : tile<i32>
  }
  return
}
"""
PATIENCE_S = 600
"""Time limit on a busy machine, in seconds."""
ENDLESS = """\
import os, signal
with open({path!r}, "w") as file:
    file.write(str(os.getpid()))
print("started", flush=True)
while True:
    signal.pause()
"""

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Tasks]]:
    """Make tasks; their folders are removed by the end."""
    folders = tmp_path / "temporary"
    folders.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folders))
    made: list[Tasks] = []

    def make(modules: str = "", **limits: Any) -> Tasks:
        made.append(Tasks(Limits(**limits), modules))
        return made[-1]

    yield make
    for each in made:
        each.close()
    assert list(folders.iterdir()) == []


def ask(
    tasks: Tasks, source: str, name: str = "program.mlir", page: str = "page", **changes: Any
) -> dict[str, Any]:
    """Request as the page does."""
    return tasks.answer(page, {**request_of(source, name), **changes})


def request_of(source: str, name: str = "program.mlir") -> dict[str, Any]:
    return {
        "action": "explain", "name": name, "source": source, "arch": "sm_90", "level": "3",
        "schedule": "", "kernel": "", "grid": "1", "arguments": [], "labels": [],
        "on": "emulator", "check": False,
    }  # fmt: skip


def ask_here(source: str, **changes: Any) -> dict[str, Any]:
    """Have this process answer, as a child does, but without limits of the operating system."""
    limits = Limits()._asdict()
    return respond({**request_of(source), **limits, **changes})


def test_a_program_is_explained_and_runs(tasks: Callable[..., Tasks]) -> None:
    made = tasks()
    answer = ask(made, ADD)
    assert answer["errors"] == []
    assert "ld.global" in answer["page"]
    [kernel] = answer["kernels"]
    assert kernel["grid"] == "4"
    assert [each["label"] for each in kernel["arguments"]] == ["x", "y", "out", "n"]
    answer = ask(
        made, ADD, action="run", kernel="add", grid="4", labels=["x", "y", "out", "n"],
        arguments=["iota:64xf32", "ones:64xf32", "zeros:64xf32", "64"],
    )  # fmt: skip
    [table] = answer["arrays"]
    assert table["label"] == "out"
    assert table["rows"] == [["1", "2", "3", "4", "5", "6", "7", "8"]]
    assert table["range"] == "1 to 64"
    assert "thread instructions" in answer["counters"]
    line = 1 + ADD[: ADD.index("store_view_tko")].count("\n")
    assert f"program.mlir:{line} " in answer["lines"]


def test_every_error_has_its_line() -> None:
    lines = ADD.splitlines()
    wrong = ADD.replace("addf %a, %b", "addf %a, %c").replace("shape = [%n]", "shape = [%m]", 1)
    expected = [
        1 + next(n for n, line in enumerate(lines) if text in line)
        for text in ("shape = [%n]", "addf %a, %b")
    ]
    answer = ask_here(wrong)
    assert [each["line"] for each in answer["errors"]] == expected
    assert "page" not in answer


def test_an_error_of_python_has_its_line(tasks: Callable[..., Tasks]) -> None:
    source = "import numpy\n\nnumpy.zeros(3)[\n    7]\n"
    [error] = ask(tasks(), source, "program.py")["errors"]
    assert error["line"] == 3
    assert error["text"].startswith("IndexError: index 7 is out of bounds")


def test_folders_of_children_are_not_shown(tasks: Callable[..., Tasks]) -> None:
    [error] = ask(tasks(), "x = 1\n", "program.py")["errors"]
    assert "found none in 'program.py'" in error["text"]


def test_an_error_of_cutile_has_the_line_of_the_kernel(tasks: Callable[..., Tasks]) -> None:
    source = (ROOT / "examples" / "add.py").read_text().replace("ct.load(y", "ct.loda(y")
    [error] = ask(tasks(), source, "program.py")["errors"]
    assert error["line"] == 1 + source[: source.index("ct.loda")].count("\n")
    assert "loda" in error["text"]


def test_a_program_that_checks_its_results_is_explained(
    tasks: Callable[..., Tasks], tmp_path: Path
) -> None:
    source = (ROOT / "examples" / "add.py").read_text() + "\nassert False\n"
    answer = ask(tasks(), source, "program.py")
    assert answer["errors"] == []
    assert "program.py" in answer["page"]
    line = len(source.splitlines())
    assert f"program.py:{line}: note: the program ended with AssertionError" in answer["log"]
    # The folder of the child is not shown.
    assert str(tmp_path) not in str(answer)


def test_an_error_of_nvcc_has_its_line(tasks: Callable[..., Tasks]) -> None:
    if reason := missing_nvcc():
        pytest.skip(reason)
    source = (ROOT / "examples" / "add.cu").read_text().replace("i < n", "i < count")
    answer = ask(tasks(), source, "program.cu")
    assert answer["errors"][0]["line"] == 1 + source[: source.index("i < count")].count("\n")
    assert "count" in answer["errors"][0]["text"]


def test_a_step_limit_ends_a_run_and_says_where_it_was() -> None:
    for device in ("emulator", "cpu"):
        answer = ask_here(SPIN, action="run", arguments=["zeros:4xi32"], on=device, max_steps=2000)
        [error] = answer["errors"]
        assert "2,000 steps" in error["text"] or "2000 steps" in error["text"], error
        assert 3 <= error["line"] <= 6


def test_an_endless_program_is_killed_with_its_processes(
    tasks: Callable[..., Tasks], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = tmp_path / "pid"

    def later_once_it_runs() -> float:
        """The time is over as soon as the program has printed that it runs."""
        return time.monotonic() + 1000 * has_text(identity)

    monkeypatch.setattr(child, "monotonic", later_once_it_runs)
    answer = ask(tasks(timeout=600.0), ENDLESS.format(path=str(identity)), "program.py")
    assert answer["errors"] == [{"line": 0, "text": "took longer than 600 seconds"}]
    assert_ends(int(identity.read_text()))


def has_text(file: Path) -> bool:
    return file.exists() and bool(file.read_text())


def wait_for_text(file: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not has_text(file):
        assert time.monotonic() < end
        time.sleep(0.01)


def assert_ends(process: int) -> None:
    """A killed process is there until its parent has seen it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.01)
    pytest.fail(f"process {process} goes on")


def test_ten_gigabytes_are_refused(tasks: Callable[..., Tasks]) -> None:
    made = tasks(memory=4096)
    source = "import numpy\nlarge = numpy.ones(10 << 30, numpy.uint8)\n"
    [error] = ask(made, source, "program.py")["errors"]
    assert error["line"] == 2
    assert "Unable to allocate 10.0 GiB" in error["text"]
    arguments = ["ones:2684354560xf32", "ones:64xf32", "zeros:64xf32", "64"]
    [error] = ask(made, ADD, action="run", arguments=arguments)["errors"]
    assert error["text"].startswith("out of memory")
    assert error["text"].endswith("(limit: 4096 MB)")


def test_a_flood_of_output_ends_the_program(tasks: Callable[..., Tasks]) -> None:
    source = 'while True:\n    print("x" * 1000)\n'
    answer = ask(tasks(), source, "program.py")
    assert answer == {"errors": [{"line": 0, "text": "printed more than 256 KiB"}], "log": ""}


@pytest.mark.parametrize("action", ["explain", "run"])
@pytest.mark.sampled(1)
def test_an_edit_ends_what_works_for_the_older_text(
    action: str, tasks: Callable[..., Tasks], tmp_path: Path
) -> None:
    made = tasks(timeout=PATIENCE_S)
    identity = tmp_path / "pid"
    older: list[dict[str, Any]] = []

    def first() -> None:
        source = ENDLESS.format(path=str(identity))
        older.append(ask(made, source, "program.py", action=action))

    thread = Thread(target=first)
    thread.start()
    wait_for_text(identity)
    # One of another page does not.
    assert ask(made, WRONG, page="other")["errors"][0]["line"] == 1
    assert thread.is_alive()
    assert ask(made, WRONG)["errors"][0]["line"] == 1
    thread.join(PATIENCE_S)
    assert older == [{"superseded": True}]
    assert_ends(int(identity.read_text()))


def test_programs_end_with_the_server(tasks: Callable[..., Tasks], tmp_path: Path) -> None:
    made = tasks(timeout=PATIENCE_S)
    identity = tmp_path / "pid"
    thread = Thread(target=ask, args=(made, ENDLESS.format(path=str(identity)), "program.py"))
    thread.start()
    wait_for_text(identity)
    # The folder of the program is gone when it returns, as the fixture asserts.
    made.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert_ends(int(identity.read_text()))


def test_few_programs_work_at_the_same_time(
    tasks: Callable[..., Tasks], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.driver.playground.tasks.MOST", 0)
    [error] = ask(tasks(), ADD)["errors"]
    assert "programs already" in error["text"]


def test_modules_beside_a_program_are_imported(tasks: Callable[..., Tasks], tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("raise ValueError('imported')\n")
    [error] = ask(tasks(modules=str(tmp_path)), "import helper\n", "program.py")["errors"]
    assert error == {"line": 1, "column": 0, "text": "ValueError: imported"}


def test_the_schedule_is_that_of_the_request() -> None:
    gemm = (ROOT / "examples" / "gemm.mlir").read_text()
    answer = ask_here(gemm, arch="sm_80", level="2", schedule="stages=2")
    assert "sm_80, -O2 --schedule stages=2" in answer["page"]
    arguments = ["small:64x64xf16:1", "small:64x64xf16:2", "zeros:64x64xf32", "64", "64", "64"]
    answers = [
        ask_here(gemm, action="run", arguments=arguments, arch="sm_80", schedule=schedule)
        for schedule in ("", "warps=4")
    ]
    assert answers[0]["arrays"] == answers[1]["arrays"]
    assert answers[0]["counters"] != answers[1]["counters"]
    [error] = ask_here(gemm, schedule="stages=x")["errors"]
    assert "expected a schedule" in error["text"]
