"""Shared by all tests: process state, requirement markers and their report, external tools."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import signal
import site
import tempfile
from collections import Counter
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from repeats import are_left_out, leave_out, mark_repeats
from requirements import Outcome, load_index
from worker_events import send_results_only

from tilewright.driver.launch_checks import required_arch
from tilewright.emit.toolchain import find_ptxas
from tilewright.runtime.device import current_gpu
from tilewright.support.diagnostics import Unsupported

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "cutile-tests.tar.xz"


def reset_process_state() -> None:
    """Reset what the parent process set: ignored or blocked signals, umask, our variables.

    `nohup`, background jobs and some CI runners ignore SIGINT; child processes inherit all of it.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    for name in list(os.environ):
        if name.startswith(("CUDA_TILE_", "TILEWRIGHT_")) and name not in TOOL_VARIABLES:
            del os.environ[name]
    # Many tests start Python: each process would compile every module that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Tests check this compiler, not results that an earlier one cached on disk.
    os.environ["TILEWRIGHT_CACHE"] = "0"
    # Failures that tests plant leave nothing in the folder of the user.
    os.environ["TILEWRIGHT_CRASH_DIR"] = "0"
    # Threads of NumPy's OpenBLAS would spin on processors that other tests use. Workers of
    # pytest-xdist inherit it, too.
    os.environ["OMP_NUM_THREADS"] = "1"


TOOL_VARIABLES = (
    "TILEWRIGHT_LIBDEVICE",
    "TILEWRIGHT_NVCC",
    "TILEWRIGHT_NVDISASM",
    "TILEWRIGHT_PTXAS",
)
"""Variables that name NVIDIA's tools, which the machine may keep anywhere."""

reset_process_state()


def leave_home() -> str:
    """Move to an empty home: caches and tuning records of the user are neither read nor written.

    Child processes inherit it. What the user has installed is still found.
    """
    os.environ["PYTHONUSERBASE"] = site.getuserbase()
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        os.environ.pop(f"XDG_{name}_HOME", None)
    os.environ["HOME"] = tempfile.mkdtemp(prefix="tilewright-tests-")
    return os.environ["HOME"]


OWN_HOME = leave_home()

VARIABLES = dict(os.environ)
"""The environment of each test; pytest itself adds the name of the running one."""


def pytest_unconfigure() -> None:
    shutil.rmtree(OWN_HOME, ignore_errors=True)


if importlib.util.find_spec("hypothesis"):  # a machine with a GPU may do without it
    from hypothesis import settings
    from hypothesis.internal.conjecture import providers

    # No deadline: the machine may be busy. No randomness: `make fuzz` has random seeds.
    settings.register_profile("tilewright", deadline=None, derandomize=True, database=None)
    settings.load_profile("tilewright")
    # Hypothesis would parse every loaded module for constants to try: seconds at collection, and
    # examples that depend on which other tests are loaded.
    if hasattr(providers, "_local_constants"):  # empty until that function fills it
        providers._get_local_constants = lambda: providers._local_constants


class RequirementReport:
    """Writes how each test that carries a requirement ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[tuple[str, str], Outcome] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "call":
            return
        for name, value in report.user_properties:
            if name == "requirement":
                id_, kind = cast(tuple[str, str | None], value)
                self._record(Outcome(id_, report.nodeid, kind, report.outcome))

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(list(self.outcomes.values())))

    def _record(self, outcome: Outcome) -> None:
        # A test that passed can still fail in its tear-down, which is reported later.
        before = self.outcomes.setdefault((outcome.requirement, outcome.test), outcome)
        if before.result != "failed":
            self.outcomes[outcome.requirement, outcome.test] = outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--requirements-report",
        type=Path,
        help="write how each test that carries a requirement ended to this file",
    )
    parser.addoption(
        "--effort", type=int, default=1, help="try this many times as many values in samples"
    )


GPU_SECONDS = 600
"""After this time a test on the GPU has failed: its kernel may never end."""


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--requirements-report")
    # Under xdist a worker sees only its own tests; the controller sees the reports of all.
    if hasattr(config, "workerinput"):
        send_results_only(config)
    elif path is not None:
        config.pluginmanager.register(RequirementReport(path))


def runs_all(config: pytest.Config) -> bool:
    """Whether no folder, file or test was named."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every other worker begin at the end: each finds what the other has compiled by then."""
    report = yield
    worker: str = getattr(collector.config, "workerinput", {"workerid": "gw0"})["workerid"]
    is_odd = int(worker.removeprefix("gw")) % 2
    if is_odd and runs_all(collector.config) and isinstance(collector, pytest.Dir):
        report.result.reverse()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None]:
    yield
    mark_repeats(metafunc)
    if are_left_out(metafunc.config):
        leave_out(metafunc)


# First, so that `-m` sees the markers that are added here.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if runs_all(config):
        items.sort(key=lambda item: str(item.path))  # one order in all workers
    marked: dict[str, list[pytest.Item]] = {}
    for item in items:
        for name in {marker.name for marker in item.iter_markers()}:
            marked.setdefault(name, []).append(item)
    on_gpu = marked.get("gpu", [])
    # In a thread: a kernel that never ends blocks the main thread in the driver.
    limit = pytest.mark.timeout(GPU_SECONDS, method="thread")
    for item in on_gpu:
        item.add_marker(limit)
    missing = missing_outside()
    # The CUDA driver is initialized only if a test needs it.
    if on_gpu and (reason := missing_gpu()):
        missing["gpu"] = reason
    for name, reason in missing.items():
        for item in marked.get(name, []):
            item.add_marker(pytest.mark.skip(reason=reason))


# Not at collection: under xdist an error there crashes the worker, which hides its text.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("requirement"):
        kind = marker.kwargs.get("kind")
        # The sample of a sampled test runs in make test, and its requirements with it.
        if item.get_closest_marker("exhaustive") and not item.get_closest_marker("sampled"):
            pytest.fail("a test that carries a requirement runs in make test", pytrace=False)
        if not marker.args or kind not in (None, "behaviour"):
            pytest.fail(f"expected ids and at most kind='behaviour', got {marker}", pytrace=False)
        for id_ in marker.args:
            if id_ not in known_requirements():
                pytest.fail(f"unknown requirement {id_!r}", pytrace=False)
            item.user_properties.append(("requirement", (id_, kind)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Let no file of tests leave variables of the environment to the tests after it."""
    yield
    if nextitem is not None and nextitem.path == item.path:
        return
    current = {name: each for name, each in os.environ.items() if not name.startswith("PYTEST_")}
    expected = {name: each for name, each in VARIABLES.items() if not name.startswith("PYTEST_")}
    if current != expected:
        changed = sorted(name for name, _ in current.items() ^ expected.items())
        for name in changed:
            os.environ.pop(name, None)
        os.environ |= expected
        pytest.fail(f"{item.path.name} left {', '.join(changed)} changed", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the skipped tests by reason; `-rs` would repeat the reason for each file."""
    reports = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(str(report.longrepr[2]) for report in reports).most_common():
        terminalreporter.write_line(f"{count:5} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt modules and tests from garbage collection, which would scan them each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def known_requirements() -> frozenset[str]:
    return frozenset(load_index())


def missing_outside() -> dict[str, str]:
    """The markers whose tests cannot run here, with the reason."""
    missing: dict[str, str] = {}
    if not CORPUS.exists():
        missing["corpus"] = "the corpus is not beside this checkout (../shared)"
    if find_nvidia_tools() is None:
        missing["peer"] = "NVIDIA's tools are not installed (PyPI: nvidia-cuda-tileiras)"
    return missing


def missing_gpu() -> str | None:
    """Why kernels cannot run on a GPU here."""
    try:
        required_arch(current_gpu())
    except Unsupported as error:
        return f"needs a GPU: {error.feature}"
    return None


def find_nvidia_tools() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    roots = [] if spec is None else spec.submodule_search_locations or []
    folders = (Path(root) / "cu13" / "bin" for root in roots)
    return next((folder for folder in folders if (folder / "tileirdisasm").exists()), None)


@pytest.fixture(scope="session")
def corpus_archive() -> Path:
    """The archive of real modules; a test that uses it is marked `corpus`."""
    return CORPUS


@pytest.fixture(scope="session")
def nvidia_tools() -> Path:
    """The folder of `tileiras` and `tileirdisasm`; a test that uses it is marked `peer`."""
    folder = find_nvidia_tools()
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def ptxas() -> Path:
    """NVIDIA's assembler."""
    try:
        return Path(find_ptxas())
    except Unsupported as error:
        pytest.skip(str(error))
