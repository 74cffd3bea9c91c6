"""Limits on the modules that a fresh process loads: start-up time is a feature."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Raise these only with a measurement: each module of ours costs about 0.4 ms, and
# `tilewright dis` is to start within 80 ms (`make bench`). `driver.process`, with which every
# process of ours begins and ends, is among them.
OUR_MODULES = 84
STANDARD_MODULES = 36

HEAVY = {
    "argparse", "ctypes", "dataclasses", "inspect", "json", "llvmlite", "logging", "ml_dtypes",
    "numpy", "pathlib", "shutil", "subprocess", "tempfile", "threading", "traceback",
}  # fmt: skip

TEXT_READERS = {
    f"tilewright.text.{name}"
    for name in (
        "attribute_parser", "cursor", "definitions", "lexer", "literals", "locations",
        "operations", "parser", "scopes", "syntax_builder", "syntax_kinds", "syntax_parser",
        "type_parser",
    )
}  # fmt: skip


@cache
def modules_after(code: str) -> frozenset[str]:
    """The modules that a new interpreter has loaded when it has run the code."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return frozenset(done.stderr.split())


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("startup") / "gemm.tileirbc"
    command = [sys.executable, "-m", "tilewright", "as", "examples/gemm.mlir", "-o", str(path)]
    subprocess.run(command, check=True, cwd=ROOT)
    return path


def run_dis(kernel: Path) -> frozenset[str]:
    code = f"from tilewright.driver.cli import main\nmain(['dis', {str(kernel)!r}])"
    return modules_after(code) - modules_after("")


def test_dis_loads_few_modules_of_ours(kernel: Path) -> None:
    ours = {name for name in run_dis(kernel) if name.partition(".")[0] == "tilewright"}
    assert len(ours) <= OUR_MODULES


def test_dis_loads_few_standard_modules(kernel: Path) -> None:
    standard = {name for name in run_dis(kernel) if name.partition(".")[0] != "tilewright"}
    assert {name.partition(".")[0] for name in standard} <= sys.stdlib_module_names
    assert len(standard) <= STANDARD_MODULES, sorted(standard)


def test_dis_loads_nothing_heavy(kernel: Path) -> None:
    assert run_dis(kernel) & HEAVY == set()


def test_dis_loads_no_reader_of_text(kernel: Path) -> None:
    assert run_dis(kernel) & TEXT_READERS == set()
    # The names above are real: a program that reads text loads every one.
    code = "import tilewright\ntilewright.read('entry @f() {\\n return\\n}')"
    assert modules_after(code) >= TEXT_READERS


def test_dis_loads_no_transformation(kernel: Path) -> None:
    assert not [name for name in run_dis(kernel) if name.startswith("tilewright.transforms")]


def test_the_package_alone_loads_nothing() -> None:
    loaded = modules_after("import tilewright") - modules_after("")
    assert {name for name in loaded if name.startswith("tilewright")} == {"tilewright"}
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("name", ["read", "write_bytecode", "Error"])
def test_public_names_load_no_numpy(name: str) -> None:
    assert modules_after(f"import tilewright\ntilewright.{name}") & {"numpy", "llvmlite"} == set()


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_no_dialect(option: str) -> None:
    loaded = modules_after(f"from tilewright.driver.cli import main\nmain([{option!r}])")
    assert not [name for name in loaded if name.startswith("tilewright.dialects")]


def test_version_loads_no_llvm_and_no_metadata_of_packages() -> None:
    loaded = modules_after("from tilewright.driver.cli import main\nmain(['--version'])")
    assert "tilewright.driver.versions" in loaded
    unwanted = {"llvmlite", "numpy", "importlib.metadata", "platform", "hashlib"}
    assert loaded & unwanted == set()


LOW = "tests/run/low/kernels/softmax.mlir"


@pytest.mark.parametrize(
    ("stage", "unwanted"),
    [
        ("nvvm", HEAVY - {"tempfile", "threading"}),
        ("llvm", {"dataclasses", "inspect", "llvmlite", "ml_dtypes", "numpy"}),
        ("ptx", {"dataclasses", "inspect", "ml_dtypes", "numpy"}),
    ],
)
def test_a_compilation_loads_only_its_stages(stage: str, unwanted: set[str]) -> None:
    command = ["compile", LOW, "--emit", stage]
    loaded = modules_after(f"from tilewright.driver.cli import main\nmain({command!r})")
    assert "tilewright.conversion.nvgpu_to_nvvm" in loaded
    assert loaded & unwanted == set()
