"""The documentation is valid: links resolve, examples and commands run, names are known."""

from __future__ import annotations

import glob
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Run
from documentation import (
    IN_SHELL,
    PAGES,
    ROOT,
    RUN,
    SHOWN,
    TOOLS,
    Block,
    agrees,
    blocks,
    count,
    name_of,
    shell_lines,
)
from tile_cpp_tools import missing_nvcc

import tilewright
from tilewright.driver.api import read_level
from tilewright.driver.cli import compile as compile_command
from tilewright.driver.cli import nvcc as nvcc_command
from tilewright.driver.cli import run as run_command
from tilewright.driver.nvcc import frontend
from tilewright.driver.pipelines import STAGES

README = ROOT / "README.md"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

CUTILE_KERNEL = """\
import cuda.tile as ct


@ct.kernel
def kernel(a, b, c, size: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(c, (at,), ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,)))
"""

CUTILE_PROGRAM = f"""\
import numpy as np
{CUTILE_KERNEL}

a, b, c = np.ones(32, np.float32), np.ones(32, np.float32), np.zeros(32, np.float32)
ct.launch(None, (2,), kernel, (a, b, c, 16))
assert (c == 2).all()
"""
REMARK_EXAMPLES = "tests/cli/remark_examples"


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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    for block in blocks(page):
        at = f"{name_of(page)}:{block.line}"
        assert block.language in (*RUN, *SHOWN), f"{at}: unknown language of a code block"
        if block.not_run:
            assert block.language in RUN, f"{at}: a block that is no code needs no reason"
        elif block.language == "sh":
            assert all(map(is_known, shell_lines(block))), f"{at}: no test runs this"
        elif block.language == "console":
            assert block.commands(), f"{at}: expected a line that begins with '$ '"
        elif block.language == "json":
            json.loads(block.text)


def is_known(line: str) -> bool:
    """Whether a command is run by a test, or checked."""
    return line.startswith((*TOOLS, "make ", "pip install ")) or bool(IN_SHELL.match(line))


def test_few_blocks_are_not_run() -> None:
    run, left, _ = count()
    assert sum(run.values()) >= 3 * sum(left.values())


def test_extras_that_pages_install_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for page in PAGES:
        shown = re.findall(r"pip install '(?:\.|tilewright)\[([\w,]+)\]'", page.read_text("utf-8"))
        assert {name for names in shown for name in names.split(",")} <= set(extras), page


def test_targets_of_make_and_stages_are_known() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text("utf-8")
        lines = "".join(block.text for block in blocks(page, "sh"))
        shown = re.findall(r"^make ([a-z-]+)", lines, re.MULTILINE)
        assert {*shown, *re.findall(r"`make ([a-z-]+)", text)} <= targets, page
        assert set(re.findall(r"--emit (\w+)", text)) <= {*STAGES, "text", "bytecode"}, page


@pytest.fixture(scope="session")
def compiled() -> dict[str, bytes]:
    """The files that pages mention and that a compiler makes."""
    module = tilewright.read(ROOT / "examples" / "add.mlir")
    bytecode = tilewright.write_bytecode(module)
    made = tilewright.compile(module, emit="ptx")
    return {
        "kernel.tileirbc": bytecode, "add.tileirbc": bytecode, "kernels/first.tileirbc": bytecode,
        "kernel.ptx": made.ptx.encode(), "kernel.ll": made.stages["llvm"].encode(),
    }  # fmt: skip


@pytest.fixture
def at_hand(folder: Path, compiled: dict[str, bytes]) -> Path:
    """The files that pages mention."""
    for name in ("kernel.mlir", "add.mlir"):
        shutil.copy(ROOT / "examples" / "add.mlir", folder / name)
    (folder / "kernels").mkdir()
    for name, data in compiled.items():
        (folder / name).write_bytes(data)
    shutil.copy(ROOT / "tests" / "ptx" / "basics.ptx", folder / "saxpy.ptx")
    np.save(folder / "x.npy", np.arange(1000, dtype=np.float32))
    (folder / "cutile_kernel.py").write_text(CUTILE_KERNEL)
    (folder / "train.py").write_text(CUTILE_PROGRAM)
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests" / "cli" / "remark_examples", folder / REMARK_EXAMPLES)
    for name in ("kernel.cu", "add.cu"):
        shutil.copy(ROOT / "examples" / "add.cu", folder / name)
    shutil.copy(ROOT / "tests" / "nvcc" / "programs" / "launch.cu", folder / "program.cu")
    return folder


def commands(page: Path) -> list[str]:
    """The commands of our tools that a page shows without their output."""
    lines = [line for block in blocks(page, "sh") if block.is_run for line in shell_lines(block)]
    return [line for line in lines if line.startswith(TOOLS) or IN_SHELL.match(line)]


def run_in_shell(command: str, stdin: str = "") -> tuple[int, str]:
    """Run a command with `tilewright` and `python` of this environment."""
    python = shlex.quote(sys.executable)
    names = f'tilewright() {{ {python} -m tilewright "$@"; }}; python() {{ {python} "$@"; }}; '
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run(
        ["bash", "-c", names + command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        input=stdin,
        env=environment,
        text=True,
        check=False,
        timeout=300,
    )
    return result.returncode, result.stdout


def examples_with_nvcc() -> list[tuple[str, str]]:
    """The examples with CUDA C++ in the texts of `--help`."""
    commands = {"nvcc": nvcc_command, "run": run_command, "compile": compile_command}
    return [
        (f"{name} --help", line.strip())
        for name, command in commands.items()
        for line in command.COMMAND.help().replace("\\\n", "").splitlines()
        if line.startswith("  tilewright ") and re.search(r"\.cu\b", line)
    ]


def each_once(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The commands without those that another page or text has shown, whatever its comment."""
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for page, line in lines:
        first.setdefault(tuple(shlex.split(line, comments=True)), (page, line))
    return list(first.values())


COMMANDS = each_once(
    [*((name_of(page), line) for page in PAGES for line in commands(page)), *examples_with_nvcc()]
)


@pytest.fixture(scope="session")
def made_by_nvcc() -> dict[tuple[bytes, str, bool], bytes]:
    return {}


@pytest.fixture
def nvcc_once(
    monkeypatch: pytest.MonkeyPatch, made_by_nvcc: dict[tuple[bytes, str, bool], bytes]
) -> None:
    """Have nvcc compile a program to Tile IR once: commands differ in what they do with it."""
    own = frontend.compile_cuda

    def compile_cuda(path: str, arch: str, *, device_debug: bool = False) -> bytes:
        key = Path(path).read_bytes(), arch, device_debug
        if key not in made_by_nvcc:
            made_by_nvcc[key] = own(path, arch, device_debug=device_debug)
        return made_by_nvcc[key]

    monkeypatch.setattr(frontend, "compile_cuda", compile_cuda)


@pytest.mark.usefixtures("short_search", "nvcc_once", "playground_here")
@pytest.mark.parametrize(("page", "line"), COMMANDS)
@pytest.mark.sampled(13)
def test_a_command_succeeds(
    run: Run, at_hand: Path, monkeypatch: pytest.MonkeyPatch, page: str, line: str
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(at_hand / "cache"))
    if IN_SHELL.match(line):
        code, output = run_in_shell(line)
        assert code == 0, (page, output)
        return
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
    for block in blocks(page, "python"):
        text = block.text
        if "tilewright" not in text or block.file or block.not_run:
            compile(text, name_of(page), "exec")
            continue
        if "launch(grid, kernel, " in text:
            names |= {"grid": (7,), "kernel": runpy.run_path("cutile_kernel.py")["kernel"]}
            names |= {"a": np.ones(100), "b": np.ones(100), "c": np.zeros(100)}
        run_example(text, at_hand, names)
    if page == README:
        assert np.array_equal(names["out"], names["x"] + names["y"])
        assert np.array_equal(names["c"], names["a"] + names["b"])


def is_invalid_on_purpose(block: Block) -> bool:
    """Whether a program expects diagnostics; a console after it runs it."""
    return "// expected-" in block.text


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "mlir")], ids=name_of)
def test_programs_are_valid(page: Path) -> None:
    for block in blocks(page, "mlir"):
        if block.is_run and not is_invalid_on_purpose(block):
            # Aliases are no program without a module.
            is_program = "module" in block.text
            text = block.text if is_program else f"{block.text}module {{\n}}\n"
            read_level(text, name_of(page))


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name_of)
@pytest.mark.sampled(3)
def test_consoles_show_the_output(run: Run, at_hand: Path, page: Path) -> None:
    """Run the commands of a page in order, with the files that it shows."""
    for block in blocks(page):
        if block.file:
            (at_hand / block.file).write_text(block.text)
        if block.language != "console" or block.not_run:
            continue
        for command, shown in block.commands():
            output = output_of(run, command)
            assert agrees(shown, output), f"{name_of(page)}:{block.line}: {command}\n{output}"


def output_of(run: Run, command: str) -> str:
    """What a command prints; our own tools run in this process, if no shell is needed."""
    first, pipe, rest = command.partition(" | ")
    tool, *arguments = shlex.split(first)
    if f"{tool} " not in TOOLS or re.search(r"[|<>&;]", first):
        return run_in_shell(command)[1]
    result = run(*arguments, tool=tool)
    if not pipe:
        return result.out + result.err
    # A shell shows at once what does not go through the pipe.
    return result.err + run_in_shell(rest, result.out)[1]


@pytest.mark.parametrize(
    ("shown", "output", "expected"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a … c\n", "a b c\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a\n", "a\nb\n", False),
        ("1 + 1\n", "1 + 1\n", True),
    ],
)
def test_outputs_are_compared_but_for_what_is_left_out(
    shown: str, output: str, expected: bool
) -> None:
    assert agrees(shown, output) is expected
