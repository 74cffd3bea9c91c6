"""`tilewright compile` with several files."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Run
from repeats import keep_first

from tilewright.driver import batch, cache
from tilewright.driver.batch import Worker, compile_files
from tilewright.driver.batch_worker import Answer, Request
from tilewright.driver.progress import progress
from tilewright.driver.settings import Settings
from tilewright.target.arch import ARCHES

SETTINGS = Settings(ARCHES["sm_90"])
PATIENCE_S = 600
"""Time limit on a busy machine, in seconds."""


def kernel(name: str) -> str:
    return f"cuda_tile.module @m {{ entry @{name}() {{ return }} }}\n"


@pytest.fixture
def files(folder: Path) -> list[str]:
    """Three good programs and three that fail, each in its own way."""
    for name in ("one", "two", "three"):
        (folder / f"{name}.mlir").write_text(kernel(name))
    return ["one.mlir", "unknown.mlir", "two.mlir", "missing.mlir", "three.mlir", "random"]


def test_every_file_is_compiled_and_failures_are_reported(
    run: Run, folder: Path, files: list[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    result = run("compile", *files, "-o", "out", "--emit", "ptx", "--jobs", "2")
    assert result.code == 2
    assert signal.getsignal(signal.SIGTERM) is before
    assert sorted(os.listdir(folder / "out")) == ["one.ptx", "three.ptx", "two.ptx"]
    for name in ("one", "two", "three"):
        assert f".entry {name}" in (folder / "out" / f"{name}.ptx").read_text()
    assert "unknown.mlir:3:12: error: unknown operation 'frobnicate'" in result.err
    assert "    %sum = frobnicate %a, %b rounding<nearest_even> : tile<f32>\n" in result.err
    assert "tilewright: error: cannot read 'missing.mlir': No such file or directory" in result.err
    assert "random: byte 0 (0x0): error: expected Tile IR text or bytecode" in result.err
    assert result.err.endswith("3 of 6 files compiled, 3 failed\n")


def test_the_result_is_that_of_one_file(run: Run, folder: Path, ptxas: Path) -> None:
    assert run("compile", "good.mlir", "-o", "alone.cubin").code == 0
    assert run("compile", "good.mlir", "-o", "out/") == (0, "", "1 of 1 files compiled\n")
    assert (folder / "out" / "good.cubin").read_bytes() == (folder / "alone.cubin").read_bytes()


def test_a_file_named_twice_is_compiled_once_into_an_existing_folder(
    run: Run, folder: Path
) -> None:
    result = run("compile", "good.mlir", "good.mlir", "-o", "folder", "--emit", "ptx")
    assert result == (0, "", "1 of 1 files compiled\n")
    assert os.listdir(folder / "folder") == ["good.ptx"]


def test_resources_of_each(run: Run, files: list[str], ptxas: Path) -> None:
    result = run("compile", "one.mlir", "two.mlir", "-o", "out", "--resources", "--jobs", "1")
    assert result.code == 0
    assert "one.mlir:\nkernel  threads" in result.err
    assert "two.mlir:\nkernel  threads" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one.mlir", "two.mlir"), "several files need a folder for their results: -o FOLDER"),
        (("one.mlir", "-", "-o", "out"), "found standard input"),
        (("one.mlir", "two.mlir", "-o", "out", "--timing"), "'--timing': expected one FILE"),
        (("one.mlir", "two.mlir", "-o", "out", "--emit", "nvvm"), "found 'nvvm'"),
        (("one.mlir", "two.mlir", "-o", "out", "--jobs", "0"), "a number from 1 on, found '0'"),
        (("one.mlir", "two.mlir", "-o", "out", "-j", "x"), "a number from 1 on, found 'x'"),
        (("one.mlir", "sub/one.tileirbc", "-o", "out"),
         "both 'one.mlir' and 'sub/one.tileirbc' would become 'out/one.cubin'"),
        (("one.mlir", "two.mlir", "-o", "good.mlir"), "cannot make the folder 'good.mlir'"),
    ],
)  # fmt: skip
def test_wrong_usage(
    run: Run, folder: Path, files: list[str], arguments: tuple[str, ...], message: str
) -> None:
    result = run("compile", *arguments)
    assert result.code == 2
    assert message in result.err
    assert not (folder / "out").exists()


def test_results_that_cannot_be_written(run: Run, folder: Path, files: list[str]) -> None:
    (folder / "out" / "one.ptx").mkdir(parents=True)
    result = run("compile", "one.mlir", "two.mlir", "-o", "out", "--emit", "ptx", "--jobs", "1")
    assert result.code == 2
    assert "cannot write 'out/one.ptx': Is a directory" in result.err
    assert ".entry two" in (folder / "out" / "two.ptx").read_text()


def test_cache_hits_start_no_process(
    run: Run, folder: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    cache._cache_at.cache_clear()
    command = ("compile", "one.mlir", "two.mlir", "-o", "out", "--emit", "ptx", "--jobs", "1")
    assert run(*command).code == 0
    first = (folder / "out" / "one.ptx").read_bytes()
    (folder / "out" / "one.ptx").unlink()

    def forbidden(self: Worker, request: Request) -> Answer:
        raise AssertionError("nothing is left to be compiled")

    monkeypatch.setattr(Worker, "ask", forbidden)
    assert run(*command) == (0, "", "2 of 2 files compiled\n")
    assert (folder / "out" / "one.ptx").read_bytes() == first


def test_a_process_that_dies_fails_its_file_only(
    folder: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Worker.ask

    def killing(self: Worker, request: Request) -> Answer:
        process = self._started()
        if request.name == "two.mlir" and process is not None:
            process.kill()
        return ask(self, request)

    monkeypatch.setattr(Worker, "ask", killing)
    good = ["one.mlir", "two.mlir", "three.mlir"]
    outcomes = {each.path: each for each in compile_files(good, SETTINGS, "ptx", jobs=1)}
    assert [outcomes[name].code for name in good] == [0, 70, 0]
    assert outcomes["two.mlir"].message.endswith("the process that compiled it ended by signal 9")


@pytest.mark.parametrize("names", keep_first([["one.mlir", "two.mlir"], ["one.mlir"]]))
def test_modules_where_the_user_works_are_not_ours(
    folder: Path, files: list[str], names: list[str]
) -> None:
    for module in ("types", "signal", "struct", "llvmlite", "tilewright"):
        (folder / f"{module}.py").write_text("raise SystemExit('this is not what was meant')\n")
    # As the console script does, leave the folder out.
    command = [sys.executable, "-P", "-m", "tilewright", "compile", *names]
    done = subprocess.run(
        [*command, "-o", "out/", "--emit", "ptx"], cwd=folder, capture_output=True, text=True
    )
    assert done.stderr == f"{len(names)} of {len(names)} files compiled\n"
    assert done.returncode == 0


def test_workers_end_with_their_parent(folder: Path, files: list[str]) -> None:
    code = (
        "import os; from tilewright.driver.batch import Worker; "
        "worker = Worker('.'); print(worker._started().pid, flush=True); os.abort()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    deadline = time.monotonic() + PATIENCE_S
    while os.path.exists(f"/proc/{int(done.stdout)}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{int(done.stdout)}")
    assert done.stderr == ""


ERASE = "\x1b[K"
"""What erases the rest of a longer line."""


def test_the_bar_is_there_from_the_start_and_ends_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def interrupted() -> Iterator[int]:
        assert capsys.readouterr().err == f"\r[{'.' * 30}] 0/4{ERASE}"
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(progress(interrupted(), 4))
    assert capsys.readouterr().err == f"\r[{'#' * 7}{'.' * 23}] 1/4    0 s left{ERASE}\n"


def test_processes_that_cannot_be_started(
    run: Run, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(self: Worker) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(Worker, "_started", exhausted)
    result = run("compile", "one.mlir", "two.mlir", "-o", "out", "--emit", "ptx")
    gist = "many files at once without processes and their folder: Resource temporarily unavailable"
    assert result == (3, "", f"error: unsupported: {gist}\n")


def test_temporary_folder_that_cannot_be_made(
    run: Run, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(**options: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(batch, "TemporaryDirectory", missing)
    result = run("compile", "one.mlir", "two.mlir", "-o", "out", "--emit", "ptx")
    assert result.code == 3
    assert "their folder: No usable temporary directory found" in result.err


def test_stopping_early_leaves_no_process(folder: Path, files: list[str]) -> None:
    outcomes = compile_files(["one.mlir", "two.mlir", "three.mlir"], SETTINGS, "ptx", jobs=2)
    next(outcomes)
    assert isinstance(outcomes, Generator)
    outcomes.close()
    left = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args"], capture_output=True, text=True
    )
    assert "batch_worker" not in left.stdout


@contextmanager
def ignored(number: signal.Signals) -> Generator[None, None, None]:
    """Ignore a signal, as `nohup` and background jobs do; child processes inherit that."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, before)


NAMES = [f"k{number}.mlir" for number in range(8)]
# The first three are assembled at once, the others when the file `release` exists.
PTXAS = """\
#!/bin/sh
case "$*" in *--version*) exec "{ptxas}" "$@" ;; esac
echo >>"{folder}/count"
while [ "$(wc -l <"{folder}/count")" -gt 3 ] && [ ! -e "{folder}/release" ]; do sleep 0.1; done
exec "{ptxas}" "$@"
"""


def start(folder: Path, ptxas: Path) -> subprocess.Popen[bytes]:
    """Compile eight files, of which only some can end, in a process group of their own."""
    for name in NAMES:
        (folder / name).write_text(kernel(name.removesuffix(".mlir")))
    (folder / "scratch").mkdir()
    blocking = folder / "ptxas"
    blocking.write_text(PTXAS.format(ptxas=ptxas, folder=folder))
    blocking.chmod(0o755)
    command = [sys.executable, "-m", "tilewright", "compile", *NAMES, "-o", "out", "--jobs", "2"]
    variables = {"TMPDIR": str(folder / "scratch"), "TILEWRIGHT_PTXAS": str(blocking)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_a_file(out: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    # A file that is being written has another name, and goes with an interruption.
    while not any(out.glob("*.cubin")) and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "code"), keep_first([(signal.SIGINT, 130), (signal.SIGTERM, 143)])
)
def test_interrupts_leave_nothing_half_written(
    folder: Path, ptxas: Path, number: signal.Signals, code: int
) -> None:
    process = start(folder, ptxas)
    out = folder / "out"
    wait_for_a_file(out)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (code, b"")
    assert 1 <= len(os.listdir(out)) < len(NAMES)
    for name in os.listdir(out):
        stem, suffix = name.split(".")
        assert suffix == "cubin"
        assert f".text.{stem}".encode() in (out / name).read_bytes()
    assert os.listdir(folder / "scratch") == []


@pytest.mark.parametrize("number", keep_first([signal.SIGINT, signal.SIGTERM]))
def test_signals_that_the_parent_ignores_stay_ignored(
    folder: Path, ptxas: Path, number: signal.Signals
) -> None:
    with ignored(number):
        process = start(folder, ptxas)
    wait_for_a_file(folder / "out")
    os.killpg(process.pid, number)
    (folder / "release").touch()
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"8 of 8 files compiled\n")
    assert len(os.listdir(folder / "out")) == len(NAMES)
