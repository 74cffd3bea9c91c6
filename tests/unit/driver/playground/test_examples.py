"""The examples of the playground compute what they say."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from programs import parse_runs, problems

import tilewright
from tilewright.driver.array_text import load_array
from tilewright.driver.cutile_kernels import Launch, export_launches
from tilewright.driver.playground.arguments import directions
from tilewright.driver.playground.languages import TITLES, examples, languages

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "examples"


def test_each_has_both_languages() -> None:
    known = [each._replace(missing="") for each in languages()]
    names = {each.name for each in examples(known)}
    assert names >= {f"{stem}{suffix}" for stem in TITLES for suffix in (".mlir", ".py")}
    missing = [each._replace(missing="no compiler") for each in known]
    assert examples(missing) == []


@pytest.mark.parametrize("stem", TITLES)
def test_tile_ir(stem: str) -> None:
    text = (FOLDER / f"{stem}.mlir").read_text()
    [run] = parse_runs(text)
    [shown] = directions(text)
    assert dict(shown.arguments) == run.arguments
    before = run.values()
    after = deepcopy(before)
    tilewright.execute(text, None, run.grid, list(after.values()), on="emulator", check=True)
    assert run.expected
    assert list(problems(run, before, after)) == []


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


EXPECTED = {
    "add": lambda x, y: x + y,
    "gemm": lambda a, b: a @ b,
    "softmax": softmax,
    "attention": lambda q, k, v: softmax(q @ k.T / 8) @ v,
}


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Launch]:
    """The launches of all examples, which one program runs."""
    folder = tmp_path_factory.mktemp("launches")
    program = folder / "program.py"
    paths = [str(FOLDER / f"{stem}.py") for stem in TITLES]
    program.write_text(f"import runpy\nfor path in {paths}:\n    runpy.run_path(path)\n")
    return export_launches(str(program), str(folder), with_arguments=True)


@pytest.mark.parametrize("stem", TITLES)
def test_cutile_python(stem: str, launches: dict[str, Launch]) -> None:
    launch = launches[stem]
    values = [load_array(each) if isinstance(each, str) else each for each in launch.arguments]
    tilewright.execute(launch.data, None, launch.grid, values, on="emulator")
    *inputs, out = [each for each in values if isinstance(each, np.ndarray)]
    expected = EXPECTED[stem](*(each.astype(np.float64) for each in inputs))
    assert np.allclose(out.astype(np.float64), expected, rtol=2e-3, atol=2e-3)
    assert np.abs(expected).max() > 0.01


def test_arguments_that_are_no_numbers_or_arrays_are_left_out(tmp_path: Path) -> None:
    source = (FOLDER / "add.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(source.replace("add, (x, y, ", "add, (np.repeat(x, 2)[::2], y, "))
    launch = export_launches(str(program), str(tmp_path), with_arguments=True)["add"]
    # Elements of the first array are two apart, which a file does not keep.
    assert launch.names[0] == "argument 'x'"
    assert launch.arguments[:3] == [None, 64, 2]
