"""The documentation is valid: links resolve, examples and commands run, names are known."""

from __future__ import annotations

import glob
import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Run
from tile_cpp_tools import missing_nvcc

import tilewright
from tilewright.driver.cli import compile as compile_command
from tilewright.driver.cli import nvcc as nvcc_command
from tilewright.driver.cli import run as run_command
from tilewright.driver.pipelines import STAGES

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "benchmarks", "tests")
PAGES = [*ROOT.glob("*.md"), *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md"))]
README = ROOT / "README.md"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
TOOLS = ("tilewright ", "tileiras ", "tileirdisasm ")

CUTILE_KERNEL = """\
import cuda.tile as ct


@ct.kernel
def kernel(a, b, c, size: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(c, (at,), ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,)))
"""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [text for tag, text in BLOCK.findall(page.read_text("utf-8")) if tag == language]


def links(page: Path) -> list[tuple[Path, str]]:
    """The files that a page points to, each with the heading."""
    targets = [link for link in LINK.findall(page.read_text("utf-8")) if "://" not in link]
    parts = [link.partition("#") for link in targets]
    return [((page.parent / file).resolve() if file else page, at) for file, _, at in parts]


def anchors(page: Path) -> set[str]:
    headings = HEADING.findall(page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for file, heading in links(page):
        assert file.exists(), file
        assert not heading or heading in anchors(file), (file, heading)


def test_every_page_is_found_from_the_first() -> None:
    reached, left = {README}, [README]
    while left:
        new = {file for file, _ in links(left.pop()) if file.suffix == ".md"} - reached
        reached |= new
        left += new
    assert set((ROOT / "docs").rglob("*.md")) <= reached


def test_targets_of_make_and_stages_are_known() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text("utf-8")
        shown = re.findall(r"^make ([a-z-]+)", "".join(blocks(page, "sh")), re.MULTILINE)
        assert {*shown, *re.findall(r"`make ([a-z-]+)", text)} <= targets, page
        assert set(re.findall(r"--emit (\w+)", text)) <= {*STAGES, "text", "bytecode"}, page


@pytest.fixture
def at_hand(folder: Path) -> Path:
    """The files that pages mention."""
    shutil.copy(ROOT / "examples" / "add.mlir", folder / "kernel.mlir")
    module = tilewright.read(folder / "kernel.mlir")
    (folder / "kernel.tileirbc").write_bytes(tilewright.write_bytecode(module))
    (folder / "kernels").mkdir()
    shutil.copy(folder / "kernel.tileirbc", folder / "kernels" / "first.tileirbc")
    compiled = tilewright.compile(module, emit="ptx")
    (folder / "kernel.ptx").write_text(compiled.ptx)
    (folder / "kernel.ll").write_text(compiled.stages["llvm"])
    shutil.copy(ROOT / "tests" / "ptx" / "basics.ptx", folder / "saxpy.ptx")
    np.save(folder / "x.npy", np.arange(1000, dtype=np.float32))
    (folder / "cutile_kernel.py").write_text(CUTILE_KERNEL)
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("kernel.cu", "add.cu"):
        shutil.copy(ROOT / "examples" / "add.cu", folder / name)
    shutil.copy(ROOT / "tests" / "nvcc" / "programs" / "launch.cu", folder / "program.cu")
    return folder


def commands(page: Path) -> list[str]:
    lines = "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith(TOOLS)]


def examples_with_nvcc() -> list[tuple[str, str]]:
    """The examples with CUDA C++ in the texts of `--help`."""
    commands = {"nvcc": nvcc_command, "run": run_command, "compile": compile_command}
    return [
        (f"{name} --help", line.strip())
        for name, command in commands.items()
        for line in command.COMMAND.help().replace("\\\n", "").splitlines()
        if line.startswith("  tilewright ") and re.search(r"\.cu\b", line)
    ]


COMMANDS = [(name_of(page), line) for page in PAGES for line in commands(page)]
COMMANDS += examples_with_nvcc()


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_succeeds(
    run: Run, at_hand: Path, monkeypatch: pytest.MonkeyPatch, page: str, line: str
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(at_hand / "cache"))
    tool, *words = shlex.split(line, comments=True)
    if any(word.endswith(".cu") for word in words) and (reason := missing_nvcc()):
        pytest.skip(reason)
    arguments = [each for word in words for each in sorted(glob.glob(word)) or [word]]
    code, _, err = run(*arguments, tool=tool)
    if "gpu" in arguments and code == 3:
        assert "without" in err, err
    else:
        assert code == 0, (page, err)


@pytest.fixture
def cutile_as_it_was() -> Iterator[None]:
    yield
    import tilewright.cutile  # noqa: PLC0415

    tilewright.cutile.disable()


@pytest.fixture
def names(at_hand: Path) -> dict[str, Any]:
    """Names that examples use and do not define."""
    module = tilewright.read(at_hand / "kernel.mlir")
    return {
        "tilewright": tilewright,
        "source": at_hand / "kernel.mlir",
        "module": module,
        "cubin": tilewright.compile(module).cubin,
        "x": np.arange(64, dtype=np.float32),
        "y": np.ones(64, np.float32),
        "out": np.zeros(64, np.float32),
        "n": 64,
        "grid": 4,
    }


def run_example(text: str, folder: Path, names: dict[str, Any]) -> None:
    """Run an example, on the names that earlier ones have left; a GPU need not be there."""
    file = folder / "example.py"
    file.write_text(text)
    try:
        names |= runpy.run_path(str(file), init_globals=names)
    except tilewright.Unsupported as error:
        if 'on="gpu"' not in text or "kernels on a GPU without" not in error.feature:
            raise


@pytest.mark.usefixtures("cutile_as_it_was")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_examples_run(at_hand: Path, page: Path, names: dict[str, Any]) -> None:
    """Run the examples that use the package; excerpts of its source must parse as Python."""
    for text in blocks(page, "python"):
        if "tilewright" not in text:
            compile(text, name_of(page), "exec")
            continue
        if "launch(grid, kernel, " in text:
            names |= {"grid": (7,), "kernel": runpy.run_path("cutile_kernel.py")["kernel"]}
            names |= {"a": np.ones(100), "b": np.ones(100), "c": np.zeros(100)}
        run_example(text, at_hand, names)
    if page == README:
        assert np.array_equal(names["out"], names["x"] + names["y"])
        assert np.array_equal(names["c"], names["a"] + names["b"])


def test_the_error_that_the_readme_shows(run: Run, folder: Path) -> None:
    shown = next(text for text in blocks(README, "") if text.startswith("$ "))
    command, _, expected = shown.partition("\n")
    shutil.copy(folder / "mismatch.mlir", folder / "kernel.mlir")
    result = run(*shlex.split(command)[2:])
    assert (result.code, result.out, result.err) == (1, "", expected)
