"""`tilewright tune` by predicted times, from the search to the next compilation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import Run
from tuned_programs import ADD, enable_cache, record_of

import tilewright
from tilewright.driver.compile import CompiledModule
from tilewright.driver.settings import Settings
from tilewright.driver.tuning import bench, local_backend, search, tune
from tilewright.driver.tuning.job import Device
from tilewright.driver.tuning.kernel_digests import find_record, put_record
from tilewright.driver.tuning.meters import EmulatedRunner
from tilewright.driver.tuning.records import all_records, record_store
from tilewright.driver.tuning.search import TRIED
from tilewright.target.arch import ARCHES

KERNELS = Path(__file__).parents[1] / "run" / "kernels"
pytestmark = pytest.mark.usefixtures("ptxas")

SETTINGS = Settings(ARCHES["sm_90"])


class Case(NamedTuple):
    """A kernel of tests/run, with arguments as there."""

    file: str
    entry: str
    options: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The command that tunes it."""
        path = str(KERNELS / f"{self.file}.mlir")
        return ["tune", path, "--meter", "model", "--entry", self.entry, *self.options]


GEMM = Case("gemm", "gemm", (
    "--grid", "3x2", "--arg", "random:40x48xf16:1", "--arg", "random:48x24xf16:2",
    "--arg", "ones:40x24xf32",
))  # fmt: skip
NORM = Case("rms_norm", "rms_norm", (
    "--grid", "2", "--arg", "random:9x100xf16:1", "--arg", "random:100xf16:2",
    "--arg", "zeros:9x100xf16",
))  # fmt: skip
SOFTMAX = Case("softmax", "softmax", (
    "--grid", "8", "--arg", "random:8x128xf32:1", "--arg", "zeros:8x128xf32",
))  # fmt: skip


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enable_cache(tmp_path / "cache", monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [GEMM, NORM, SOFTMAX], ids=lambda case: case.file)
def test_the_next_compilation_uses_what_was_best(run: Run, case: Case) -> None:
    tuned = run(*case.command, "--store", "--json", "--limit", "600")
    assert tuned.code == 0, tuned.err
    contents: dict[str, Any] = json.loads(tuned.out)
    assert (contents["kernel"], contents["unit"], contents["stored"]) == (
        case.entry, "predicted µs", True,
    )  # fmt: skip
    rows = {row["schedule"]: row for row in contents["candidates"]}
    assert len(rows) > sum(map(len, TRIED.values()))
    assert not any(row.get("bug") for row in rows.values())
    costs = {name: row["cost"] for name, row in rows.items() if "cost" in row}
    best = contents["winner"]
    # A choice is 1 % better than the compiler's own.
    assert costs[best] == min(costs.values()) or (
        not best and min(costs.values()) >= 0.99 * costs[""]
    )
    # One of the kernels has a better schedule: otherwise this would show nothing.
    assert best or case is not GEMM

    path = str(KERNELS / f"{case.file}.mlir")
    made = run("compile", path, "--emit", "ptx")
    assert made.code == 0
    assert ("is compiled as tuned: " in made.err) == bool(best)
    forced = run("compile", path, "--emit", "ptx", "--schedule", best.replace(" ", ","))
    assert made.out == forced.out
    own = run("compile", path, "--emit", "ptx", "--no-tuned")
    assert (made.out == own.out) == (best == "")


@pytest.fixture
def add(folder: Path) -> list[str]:
    (folder / "add.mlir").write_text(ADD)
    return ["tune", "add.mlir", "--meter", "model", "--limit", "600",
            "--arg", "iota:128xf32", "--arg", "ones:128xf32"]  # fmt: skip


@pytest.fixture
def gemm(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A kernel for which the model prefers another schedule than the compiler."""
    monkeypatch.setattr(search, "TRIED", {"warps": (8,), "stages": (1,)})
    return [*GEMM.command, "--limit", "600"]


def test_the_table_says_what_was_predicted(run: Run, gemm: list[str]) -> None:
    tuned = run(*gemm)
    assert tuned.code == 0
    lines = tuned.out.splitlines()
    assert re.split("  +", lines[0]) == [
        "schedule", "predicted µs", "ratio", "limited by", "registers", "spills", "shared",
    ]  # fmt: skip
    (chosen,) = (line for line in lines if line.startswith("(the compiler's choice)"))
    assert chosen.split()[4:6] == ["1.000", "latency"]
    assert lines[1].endswith("<- best")
    times = [float(re.split("  +", line)[1]) for line in lines[1 : lines.index(chosen)]]
    assert times == sorted(times)
    # Counts of the whole search, the last of which is that of the table.
    counts = [int(each) for each in re.findall(r"(\d+) schedules tried so far", tuned.err)]
    assert len(counts) > 1
    assert counts == sorted(set(counts))
    [tried] = re.findall(r"predicted, (\d+) tried in .* by the cost model of an H200", tuned.out)
    assert counts[-1] == int(tried)
    # Predictions are not stored.
    assert "not stored: it is predicted; --store keeps it" in tuned.out
    best = re.split("  +", lines[1])[0]
    assert tuned.out.endswith(f"\napply it with --schedule {best.replace(' ', ',')}\n")
    assert run("cache", "tuned").out == "no kernel is tuned\n"


def test_predictions_are_stored_on_request(run: Run, gemm: list[str], emulated: list[str]) -> None:
    tuned = run(*gemm, "--store", "--no-check")
    assert emulated == []
    assert "; results were not compared\n" in tuned.out
    lines = tuned.out.splitlines()
    best = re.split("  +", lines[1])[0]
    assert lines[-1] == f"stored: later compilations of '@gemm' for sm_90 use '{best}'"
    listed = run("cache", "tuned").out
    assert re.match(rf"@gemm \(sm_90\): '{best}', [\d.]+ instead of [\d.]+ predicted µs; ", listed)
    assert "of another version" not in listed
    compiled = ("compile", str(KERNELS / "gemm.mlir"), "--emit", "ptx")
    made, own = run(*compiled), run(*compiled, "--no-tuned")
    assert "is compiled as tuned: " in made.err
    assert made.out == run(*compiled, "--schedule", best.replace(" ", ",")).out != own.out
    assert "tuned      1 kernel\n" in run("cache").out
    assert run("cache", "clear").code == 0
    assert run("cache", "tuned").out == "no kernel is tuned\n"


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that the emulator runs."""
    ran: list[str] = []
    own = EmulatedRunner.run

    def counted(runner: EmulatedRunner, kernel: CompiledModule) -> list[Any]:
        ran.append(kernel.ptx)
        return own(runner, kernel)

    monkeypatch.setattr(EmulatedRunner, "run", counted)
    return ran


def test_only_the_first_are_checked(run: Run, gemm: list[str], emulated: list[str]) -> None:
    tuned = run(*gemm, "--top", "1")
    # The compiler's choice runs when the bench starts, and as a candidate.
    assert (len(emulated), len(set(emulated))) == (3, 2)
    assert re.search(r"\n2 predicted, \d+ pruned by the cost model, \d+ tried in ", tuned.out)
    assert "2 schedules measured so far" in tuned.err


def test_emulating_a_large_launch_is_a_warning(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "add.mlir").write_text(ADD)
    monkeypatch.setattr(bench, "JUDGED_BYTES", 4)
    command = ["tune", "add.mlir", "--meter", "model", "--limit", "0",
               "--arg", "iota:128xf32", "--arg", "ones:128xf32"]  # fmt: skip
    assert (
        "warning: the emulator runs each schedule on a large launch; --no-check"
        in run(*command).err
    )
    assert "warning" not in run(*command, "--no-check").err


def test_a_former_meter_is_a_warning(run: Run, add: list[str]) -> None:
    tuned = run(*add, "--meter", "emulator", "--limit", "0")
    assert tuned.code == 0
    assert "warning: `--meter emulator` is deprecated, and means `--meter model`" in tuned.err
    assert tuned.out.splitlines()[0].split()[1] == "predicted"


@pytest.mark.parametrize("options", [("--meter", "model"), ("--meter", "gpu", "--top", "2")])
def test_gpus_without_rates_are_errors(
    run: Run, add: list[str], options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "current_device", lambda: Device("A100", "sm_80"))
    arch = ("--arch", "sm_80") if "model" in options else ()
    tuned = run(*add, *options, *arch)
    assert tuned.code == 3
    assert "predicting times on sm_80, since the rates of its SMs are not known" in tuned.err
    assert "`--meter gpu` without `--top` measures on such a GPU" in tuned.err


def test_a_record_of_another_compiler_is_listed_as_such(run: Run) -> None:
    module = tilewright.read(ADD)
    put_record(SETTINGS, module, record_of("add", "warps=8", compiler="another"))
    assert "; of another version of the compiler: not used\n" in run("cache", "tuned").out


def test_without_time_there_is_the_compilers_choice(run: Run, add: list[str]) -> None:
    tuned = run(*add, "--limit", "0")
    assert tuned.code == 0
    assert "1 predicted, 1 tried in " in tuned.out
    assert "then the limit was reached" in tuned.out


def test_nothing_is_stored_on_request_or_without_a_cache(
    run: Run, add: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "stored" not in run(*add, "--limit", "0", "--no-store").out
    records = record_store()
    assert records is not None
    assert all_records(records) == []
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    tuned = run(*add, "--limit", "0", "--store")
    assert tuned.out.endswith("not stored: the cache is off\n")


def test_predictions_do_not_replace_times(run: Run, add: list[str]) -> None:
    module = tilewright.read(ADD)
    put_record(SETTINGS, module, record_of("add", "warps=8"))
    tuned = run(*add, "--limit", "0", "--store")
    assert "not stored: there is a record of times on a GPU" in tuned.out
    record = find_record(SETTINGS, module, "add")
    assert record is not None
    assert record.schedule == "warps=8"


@pytest.mark.usefixtures("short_search")
def test_what_was_best_before_is_tried_first(run: Run, add: list[str]) -> None:
    module = tilewright.read(ADD)
    put_record(SETTINGS, module, record_of("add", "stages=2 warps=16", meter="model"))
    contents = json.loads(run(*add, "--json", "--jobs", "1").out)
    assert contents["candidates"][1]["schedule"] == "stages=2 warps=16"


def test_an_interruption_prints_the_table_and_stores_nothing(
    run: Run, add: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(local_backend.LocalBackend, "trials", interrupted)
    tuned = run(*add)
    assert tuned.code == 130
    assert "(the compiler's choice)" in tuned.out
    assert "interrupted" in tuned.out
    assert "stored" not in tuned.out
    records = record_store()
    assert records is not None
    assert all_records(records) == []


def test_without_a_gpu_the_model_is_offered(
    run: Run, add: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    from tilewright.runtime import driver  # noqa: PLC0415

    driver.bindings.cache_clear()
    driver.ready.cache_clear()
    tuned = run("tune", "add.mlir", *add[4:])
    assert tuned.code == 3
    assert "unsupported: kernels on a GPU without cuda.bindings" in tuned.err
    assert "`--meter model` needs no GPU: it predicts times" in tuned.err


def test_several_kernels_need_a_name(run: Run, folder: Path) -> None:
    path = str(KERNELS / "vector_add.mlir")
    tuned = run("tune", path, "--meter", "model")
    assert tuned.code == 1
    assert "expected a name, since the module has several kernels" in tuned.err
    assert "'views'" in tuned.err


@pytest.mark.parametrize(("options", "message"), [
    (["--limit", "soon"], "option '--limit': expected a number from 0 on, found 'soon'"),
    (["--limit=-1"], "option '--limit': expected a number from 0 on, found '-1'"),
    (["--limit", "inf"], "option '--limit': expected a number from 0 on, found 'inf'"),
    (["--top", "0"], "option '--top': expected a number from 1 on, found '0'"),
    (["--top", "few"], "option '--top': expected a number from 1 on, found 'few'"),
    (["--store", "--no-store"], "options '--store' and '--no-store' exclude each other"),
    (["--jobs", "0"], "option '--jobs': expected a number from 1 on, found '0'"),
    (["--rtol", "x"], "option '--rtol': expected a number, found 'x'"),
    (["--arch", "sm_1"], "option '--arch': expected one of sm_80"),
    (["--meter", "guess"], "option '--meter': expected one of gpu, model, emulator, found 'guess'"),
    (["--grid", "x"], "option '--grid': expected numbers, found 'x'"),
])  # fmt: skip
def test_wrong_options(run: Run, add: list[str], options: list[str], message: str) -> None:
    tuned = run(*add, *options)
    assert tuned.code == 2
    assert message in tuned.err


def test_wrong_arguments_and_programs_are_reported(run: Run, add: list[str]) -> None:
    assert "expected 2 arguments, got 3" in run(*add, "--arg", "3").err
    wrong = run("tune", "mismatch.mlir", "--meter", "model")
    assert (wrong.code, "mismatch.mlir:3:" in wrong.err) == (1, True)
    low = run("tune", "toy.mlir", "--meter", "model")
    assert low.code == 1


def test_the_help_has_an_example(run: Run) -> None:
    text = run("tune", "--help").out
    assert "tilewright tune gemm.mlir --grid 32x32" in text
    assert "tilewright tune gemm.mlir --top 3" in text
    assert "--meter model measures nothing" in text
    assert "tune        try schedules of a kernel" in run("--help").out


SAYING_WHEN = """
import sys
from tilewright.__main__ import script
from tilewright.driver.cli import tune
def say(self, done, count, step):
    if done:
        print(f"{done} of {count}", file=sys.stderr, flush=True)
tune.Progress.__call__ = say
script()
"""
"""`tilewright`, which prints a line after each schedule."""


def test_ctrl_c_ends_all_processes(folder: Path, store: Path) -> None:
    """A real process, interrupted while its workers compile."""
    import signal  # noqa: PLC0415

    process = subprocess.Popen(
        [sys.executable, "-c", SAYING_WHEN, *GEMM.command],
        env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    # The first of many.
    assert process.stderr.readline().startswith("1 of ")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "(the compiler's choice)" in out
    assert ", interrupted, by the cost model" in out
    records = record_store()
    assert records is not None
    assert all_records(records) == []
