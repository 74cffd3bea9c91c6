"""Errors of running kernels of cuTile Python: lines, calls, functions and parameters."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.support.diagnostics import Severity

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
cutile = pytest.importorskip("tilewright.cutile")

ConstInt = ct.Constant[int]


def picked(array, index, distance):
    return ct.gather(array, index + distance, check_bounds=False)


def doubled(array, index, distance):
    return 2 * picked(array, index, distance)


@ct.kernel
def calls_helpers(values, index, result, size: ConstInt):
    at = ct.load(index, (0,), (size,))
    ct.store(result, (0,), doubled(values, at, 5))


@ct.kernel
def scatters(index, result, size: ConstInt):
    at = ct.load(index, (0,), (size,))
    ct.scatter(result, at, at, check_bounds=False)


@ct.kernel
def races(result, size: ConstInt):
    """Müßig: bytes of UTF-8 precede the column of the store."""
    tile = ct.load(result, (0,), (size,))
    "ä"; ct.store(result, (0,), tile + 1)  # fmt: skip  # noqa: E702


@ct.kernel
def divides(numbers, result, divisor):
    ct.scatter(result, 0, ct.gather(numbers, 0) // divisor)


@ct.kernel
def chains(values, result, size: ConstInt):
    ct.store(result, (0, 0), ct.load(values, (ct.bid(0),), (size,)).reshape((size, 1)))


@ct.kernel
def lists(arrays, result, size: ConstInt):
    at = ct.arange(size, dtype=ct.int32)
    ct.store(result, (0,), ct.gather(arrays[1], at, check_bounds=False))


def failure(grid: int, kernel: Any, arguments: tuple[Any, ...], **options: Any) -> tilewright.Error:
    with pytest.raises(tilewright.Error) as caught:
        cutile.launch(grid, kernel, arguments, **options)
    return caught.value


def line_of(kernel: Any, text: str) -> int:
    """The line of a kernel that contains a text."""
    function: Callable[..., Any] = getattr(kernel, "_annotated_function", kernel)
    code = getattr(function, "pyfunc", function).__code__
    lines = linecache.getlines(__file__)
    return next(n for n in range(code.co_firstlineno, len(lines)) if text in lines[n - 1])


def test_out_of_bounds_accesses_name_function_parameter_index_and_extent() -> None:
    index, result = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    index[3] = 100
    headline, line, caret = str(failure(1, scatters, (index, result, 16))).splitlines()
    start = f"{__file__}:{line_of(scatters, 'ct.scatter')}:5: error: ct.scatter: "
    assert headline.startswith(f"{start}accesses 4 bytes at 0x7")
    assert "byte 400 of argument 'result', which has 64 (element 100 of 16)" in headline
    assert line == "    ct.scatter(result, at, at, check_bounds=False)"
    assert caret == "    ^"


def test_both_racing_accesses_are_shown_with_line_and_caret() -> None:
    error = failure(4, races, (np.zeros(16, np.float32), 16), check=True)
    lines = str(error).splitlines()
    assert [line.strip() for line in lines if "^" in line] == ["^", "^"]
    heads = [line for line in lines if line.startswith(__file__)]
    accesses = {
        f"{__file__}:{line_of(races, 'tile = ct.load')}:12": "ct.load: ",
        f"{__file__}:{line_of(races, 'ct.store')}:10": "ct.store: ",
    }
    spelled = {head.split(": ")[0]: head.split(": ", 2)[2].split(" ")[0] + " " for head in heads}
    assert spelled.items() <= accesses.items()
    assert "races with another access to argument 'result'" in heads[0]
    assert "is the other access, in block (" in heads[1]


def test_calls_through_helper_functions_are_shown() -> None:
    index = np.full(16, 11, np.int32)
    result = np.zeros(16, np.float32)
    error = failure(1, calls_helpers, (np.zeros(8, np.float32), index, result, 16))
    heads = [line for line in str(error).splitlines() if line.startswith(__file__)]
    assert heads[0].startswith(f"{__file__}:{line_of(picked, 'ct.gather')}:12: error: ct.gather: ")
    assert heads[1:] == [
        f"{__file__}:{line_of(doubled, 'picked(')}:16: note: called from 'doubled'",
        f"{__file__}:{line_of(calls_helpers, 'doubled(')}:28: note: called from 'calls_helpers'",
    ]
    assert "(element 16 of 8)" in heads[0]


def test_operators_are_shown_as_the_program_spells_them() -> None:
    error = failure(1, divides, (np.ones(1, np.int32), np.zeros(1, np.int32), 0), check=True)
    assert "error: 'ct.gather(numbers, 0) // divisor': divides by zero" in str(error)


def test_of_chained_calls_the_failing_one_is_named() -> None:
    values, result = np.zeros(16, np.float32), np.zeros((8, 1), np.float32)
    error = failure(3, chains, (values, result, 8), check=True)
    expected = (
        "error: ct.load: expected the tile index of argument 'values' along dimension 0 to be "
        "at least 0 and below 2, got 2"
    )
    assert expected in str(error)


def test_items_of_lists_have_their_index() -> None:
    arrays = [np.zeros(16, np.float32), np.zeros(8, np.float32)]
    error = failure(1, lists, (arrays, np.zeros(16, np.float32), 16))
    assert "item 1 of argument 'arrays', which has 32 (element 8 of 8)" in str(error)


def test_sources_that_are_no_files_are_shown() -> None:
    source = (
        "@ct.kernel\n"
        "def kernel(result):\n"
        "    ct.scatter(result, 7, 1, check_bounds=False)\n"
    )  # fmt: skip
    name = "<cell 3>"
    lines: list[str] = [*source.splitlines(keepends=True)]
    linecache.cache[name] = (len(source), None, lines, name)
    names: dict[str, Any] = {"ct": ct, "__name__": __name__}
    exec(compile(source, name, "exec"), names)
    headline, line, _ = str(failure(1, names["kernel"], (np.zeros(4, np.int32),))).splitlines()
    assert headline.startswith("<cell 3>:3:5: error: ct.scatter: accesses 4 bytes")
    assert line == "    ct.scatter(result, 7, 1, check_bounds=False)"


def test_bytecode_of_cutile_speaks_of_cutile_without_its_source() -> None:
    program = """
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>) {
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token loc("k.py":3:4)
    return
  }
}
"""
    with pytest.raises(tilewright.Error) as caught:
        tilewright.execute(program, "k", 1, [None])
    assert str(caught.value).startswith("k.py:3:5: error: ct.gather: accesses 4 bytes")
    with pytest.raises(tilewright.Error) as caught:
        tilewright.execute(program.replace("k.py", "k.cu"), "k", 1, [None])
    assert str(caught.value).startswith("k.cu:3:4: error: 'cuda_tile.load_ptr_tko' op accesses")


def test_notes_keep_their_severity() -> None:
    error = failure(4, races, (np.zeros(16, np.float32), 16), check=True)
    (diagnostic,) = error.diagnostics
    assert [note.severity for note in diagnostic.notes] == [Severity.NOTE]


def test_errors_of_the_emulator_are_at_the_python_line() -> None:
    index, result = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    index[3] = 17
    error = failure(1, scatters, (index, result, 16), on="emulator", check=True)
    headline, line, _, generated, *rest = str(error).splitlines()
    start = f"{__file__}:{line_of(scatters, 'ct.scatter')}:5: error: ct.scatter: st.global"
    assert headline.startswith(start)
    assert line == "    ct.scatter(result, at, at, check_bounds=False)"
    assert generated.endswith("note: in the generated code")
    assert "note: thread (3, 0, 0) of block (0, 0, 0)" in rest
    assert any("68 bytes into argument 'result', which has 64" in each for each in rest)


def test_launches_elsewhere_are_rejected() -> None:
    with pytest.raises(tilewright.Unsupported, match="launches on 'gpu'"):
        cutile.launch(1, scatters, (), on="gpu")


def test_reads_of_uninitialised_arrays_name_the_parameter() -> None:
    index = tilewright.mark_uninitialised(np.zeros(16, np.int32))
    error = failure(1, scatters, (index, np.zeros(16, np.int32), 16), check=True)
    gist = "ct.load: reads byte 0 of argument 'index' (element 0), which was never written"
    assert gist in str(error)
