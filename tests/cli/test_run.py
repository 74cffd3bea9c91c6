"""`tilewright run`: arguments from the command line, input and output files, comparisons."""

from __future__ import annotations

import json
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command_line import Run
from numpy.typing import NDArray
from tile_programs import SCALE

import tilewright
from tilewright.driver.array_text import ArgumentError, make_array, parse_argument
from tilewright.driver.progress import Bar


@pytest.fixture
def program(folder: Path) -> Path:
    path = folder / "scale.mlir"
    path.write_text(SCALE)
    return path


def test_arrays_come_from_files_and_go_to_files(run: Run, program: Path) -> None:
    np.save("in.npy", np.array([1, 2, 3], np.float32))
    result = run("run", "scale.mlir", "--grid", "3", "--arg", "out.npy=in.npy", "--arg", "2.5")
    assert result == (0, "2.5\n5\n7.5\n", "")
    assert np.load("out.npy").tolist() == [2.5, 5, 7.5]
    assert np.load("in.npy").tolist() == [1, 2, 3]


@pytest.mark.parametrize("on", ["--at=cuda_tile", "--at=nv_tileaa", "--on=emulator"])
def test_a_zero_byte_ends_what_is_printed(run: Run, folder: Path, on: str) -> None:
    """cuTile Python terminates its formats."""
    text = 'print_tko "n = %d, 50%%\\0A\\00never", %n : tile<i32> -> token'
    (folder / "print.mlir").write_text(f"entry @k(%n: tile<i32>) {{ {text} return }}")
    assert run("run", "print.mlir", "--arg=7", on) == (0, "n = 7, 50%\n", "")


def test_show_prints_an_argument(run: Run, program: Path) -> None:
    result = run("run", "scale.mlir", "--arg=iota:4xf32", "--arg=3", "--grid=4x1", "--show=0")
    assert result == (0, "0\n3\n6\n9\n[0. 3. 6. 9.]\n", "")


@pytest.mark.parametrize("gpu", ["sm_80", "sm_90"])
def test_compiled_programs_run_on_the_emulator(run: Run, program: Path, gpu: str) -> None:
    np.save("in.npy", np.array([1, 2, 3], np.float32))
    options = ("--on=emulator", f"--arch={gpu}", "--check", "--grid=3")
    result = run("run", "scale.mlir", *options, "--arg=out.npy=in.npy", "--arg=2.5")
    assert (result.code, result.err) == (0, "")
    assert sorted(result.out.splitlines()) == ["2.5", "5", "7.5"]
    assert np.load("out.npy").tolist() == [2.5, 5, 7.5]


def test_counters_of_compiled_programs(run: Run, folder: Path) -> None:
    """Blocks of 16 f32 are stored once: 64 bytes, two sectors.

    How many threads load an element is up to the compiler, but each warp that does reads the two
    sectors of its block.
    """
    source = str(Path(__file__).parents[2] / "examples" / "add.mlir")
    arrays = ("--arg=iota:64xf32", "--arg=ones:64xf32", "--arg=zeros:64xf32", "--arg=64")
    command = ("run", source, "--on=emulator", "--grid=4", *arrays)
    code, out, err = run(*command, "--counters", "--counters-json=counters.json")
    assert (code, err) == (0, "")
    assert re.search(r"^bytes, global stores +256$", out, re.MULTILINE)
    assert re.search(r"^sectors, global stores +8$", out, re.MULTILINE)
    counters = json.loads(Path("counters.json").read_text())
    assert counters["bytes_moved"]["global stores"] == 256
    lines = {each["line"]: each for each in counters["by_line"] if each["file"] == source}
    load, other, store = (lines[line] for line in (13, 14, 16))
    assert store["sectors"] == 8
    assert load["sectors"] == other["sectors"] == counters["sectors"]["global loads"] // 2
    assert load["sectors"] % 8 == 0
    instructions = [each["warp_instructions"] for each in lines.values()]
    assert sum(instructions) == counters["warp_instructions"]


@pytest.mark.parametrize("option", ["--counters", "--counters-json=-"])
@pytest.mark.parametrize("on", ["cpu", "gpu"])
def test_counters_need_the_emulator(run: Run, program: Path, option: str, on: str) -> None:
    code, out, err = run("run", "scale.mlir", option, f"--on={on}", "--arg=1", "--arg=2")
    assert (code, out) == (2, "")
    name = option.partition("=")[0]
    assert f"option '{name}': expected --on emulator, found --on {on}" in err


def test_counters_in_the_api(program: Path) -> None:
    """Three blocks, in each of which one thread loads and stores a number of 4 bytes."""
    array, text = np.ones(3, np.float32), program.read_text()
    quiet: list[str] = []
    plain = tilewright.execute(text, None, 3, [array, 2.0], "emulator", write=quiet.append)
    assert plain is None
    counters = tilewright.execute(
        text, None, 3, [array, 2.0], "emulator", write=quiet.append, counters=True
    )
    assert counters is not None
    assert counters.sectors["global stores"] == 3
    with pytest.raises(tilewright.Unsupported, match="counters on 'cpu': expected 'emulator'"):
        tilewright.execute(text, None, 3, [array, 2.0], counters=True)


def test_the_emulator_runs_code_for_known_gpus_alone(run: Run, program: Path) -> None:
    arguments = ("--on=emulator", "--arch=sm_1", "--arg=ones:2xf32", "--arg=2")
    result = run("run", "scale.mlir", *arguments)
    assert result.code != 0
    assert "the GPU 'sm_1': expected one of sm_80" in result.err


def test_expected_files_decide_the_exit_code(run: Run, program: Path) -> None:
    np.save("want.npy", np.array([2, 2.5], np.float32))
    arguments = ("run", "scale.mlir", "--grid=2", "--arg=ones:2xf32", "--arg=2")
    result = run(*arguments, "--expect=0=want.npy")
    gist = "argument 0: expected 2.5 at [1], got 2.0; 1 of 2 differ\n"
    assert (result.code, result.err) == (1, gist)
    assert run(*arguments, "--expect=0=want.npy", "--atol=0.5").code == 0


def test_errors_of_the_program_have_a_location(run: Run, program: Path) -> None:
    result = run("run", "scale.mlir", "--grid=3", "--arg=ones:2xf32", "--arg=2")
    assert result.code == 1
    assert result.err.startswith("scale.mlir:5:15: error: 'cuda_tile.load_ptr_tko' op accesses")
    assert "in block (2, 0, 0)" in result.err


@pytest.mark.parametrize(
    ("option", "gist"),
    [
        ("--arg=nonsense", "expected a number, a file that ends in .npy, or zeros"),
        ("--arg=zeros:4xf33", "expected a shape and a type"),
        ("--arg=fives:4xf32", "expected zeros, ones"),
        ("--arg=random:4xf32:x", "expected a seed"),
        ("--arg=zeros:3xf4E2M1FN", "expected rows of even length, two to a byte"),
        ("--arg=zeros:99999999999999999999xf32", "expected an array that fits into memory"),
        ("--grid=two", "option '--grid': expected numbers, found 'two'"),
        ("--expect=7=x.npy", "expected the number of an argument, found '7'"),
        ("--on=moon", "expected one of cpu"),
    ],
)
def test_command_lines_that_cannot_be(run: Run, program: Path, option: str, gist: str) -> None:
    result = run("run", "scale.mlir", option)
    assert result.code == 2
    assert gist in result.err


def test_files_that_are_no_arrays_are_no_fault_of_the_program(
    run: Run, program: Path, folder: Path
) -> None:
    (folder / "empty.npy").write_bytes(b"")
    (folder / "folder.npy").mkdir()
    with open("many.npy", "wb") as file:
        np.savez(file, a=1, b=2)
    for name, gist in (
        ("nowhere", "No such file or directory"),
        ("folder", "Is a directory"),
        ("empty", "No data left in file"),
        ("many", "expected one array, found an archive"),
    ):
        result = run("run", "scale.mlir", f"--arg={name}.npy")
        assert result == (2, "", f"tilewright: error: cannot read '{name}.npy': {gist}\n")


def test_only_arrays_are_compared(run: Run, program: Path) -> None:
    result = run("run", "scale.mlir", "--arg=ones:4xf32", "--arg=3", "--expect=1=wanted.npy")
    assert result.code == 2
    assert "option '--expect': expected the number of an array, found '1'" in result.err


def test_memory_that_is_not_there(run: Run, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*arguments: object) -> None:
        raise MemoryError("Unable to allocate 7 PiB")

    monkeypatch.setattr(np, "zeros", exhausted)
    result = run("run", "scale.mlir", "--arg=zeros:4xf32")
    assert result == (2, "", "tilewright: error: out of memory (Unable to allocate 7 PiB)\n")


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("-0x10", -16), ("2.5", 2.5), ("1e3", 1000.0), ("true", True)]
)
def test_numbers(text: str, value: object) -> None:
    parsed = parse_argument(text)
    assert (parsed, type(parsed)) == (value, type(value))


def test_arrays_of_every_contents() -> None:
    assert make_array("zeros:2x3xi8").tolist() == [[0, 0, 0], [0, 0, 0]]
    assert make_array("ones:2xbf16").dtype == ml_dtypes.bfloat16
    assert make_array("iota:2x2xi64").tolist() == [[0, 1], [2, 3]]
    small = make_array("small:1000xf8E4M3FN:7").astype(np.float32)
    assert set(small.tolist()) == set(range(-4, 5))
    again = make_array("random:8xf16:7"), make_array("random:8xf16:7"), make_array("random:8xf16:8")
    assert np.array_equal(again[0], again[1])
    assert not np.array_equal(again[0], again[2])
    assert make_array("ones:f32").shape == ()


def test_small_floats_are_packed_two_to_a_byte() -> None:
    # 0, 1, 2 and 3 are the patterns 0, 2, 4 and 5.
    assert make_array("iota:4xf4E2M1FN").tolist() == [0x20, 0x54]


def test_invalid_arrays() -> None:
    with pytest.raises(ArgumentError, match="expected a shape and a type"):
        make_array("zeros:4.5xf32")


FILL = """\
!view = !cuda_tile.tensor_view<?xi32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @fill(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %seven = constant <i32: 7> : tile<8xi32>
    %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> !view
    %xv = make_partition_view %xt : !tiles
    %t = store_view_tko weak %seven, %xv[%b] : tile<8xi32>, !tiles, tile<i32> -> token
    return
  }
}
"""


def test_checked_accesses_stop_the_kernel(run: Run, folder: Path) -> None:
    (folder / "fill.mlir").write_text(FILL)
    command = ["run", "fill.mlir", "--arg=zeros:16xi32", "--arg=16", "--on=emulator", "--show=0"]
    plain = f"[{' '.join('7' * 16)}]\n"
    assert run(*command, "--grid=3") == (0, plain, "")
    assert run(*command, "--grid=2", "--sanitize=memcheck") == (0, plain, "")
    result = run(*command, "--grid=3", "--sanitize=memcheck")
    assert result.code == 1
    assert result.out == (
        "fill.mlir:9:10: error: store_view_tko outside of its view: "
        "expected index 0 below 2, got 2, in block (2, 0, 0)\n"
    )
    assert "fill.mlir:9:10: error: store_view_tko outside of its view' fails" in result.err


def test_the_reference_executor_checks_too(run: Run, folder: Path) -> None:
    (folder / "fill.mlir").write_text(FILL)
    command = ["run", "fill.mlir", "--arg=zeros:16xi32", "--arg=16", "--grid=3"]
    assert run(*command).code == 0
    result = run(*command, "--sanitize=memcheck")
    assert result.code == 1
    expected = (
        "'cuda_tile.store_view_tko' op expected the tile index of argument 0 along dimension 0"
    )
    assert f"fill.mlir:9:10: error: {expected}" in result.err


def test_the_bar_ends_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Bar("blocks").end()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Bar, "DELAY", 0.0)
    bar = Bar("blocks")
    bar(10, 80)
    bar.end()
    line = r"\r\[#{3}\.{27}\] 10/80 blocks, \d+ s, \d+ s left\x1b\[K\n"
    assert re.fullmatch(line, capsys.readouterr().err)


def test_the_bar_ends_where_a_run_fails(
    run: Run, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(Bar, "end", lambda self: ended.append(True))
    assert run("run", "scale.mlir", "--arg=ones:1xf32", "--arg=1", "--grid=2").code == 1
    assert ended


def test_missing_arguments_are_explained(run: Run, program: Path) -> None:
    result = run("run", "scale.mlir")
    assert result.code == 1
    assert "expected 2 arguments, got 0" in result.err
    assert "note: give one for each parameter, such as `--arg iota:64xf32`" in result.err


def test_the_example_of_the_help_runs(run: Run) -> None:
    """It names a file of the repository, and the arguments that its kernel takes."""
    text = run("run", "--help").out.replace("\\\n", " ")
    line = next(line for line in text.splitlines() if "examples/add.mlir" in line)
    words = line.split()[1:]
    path = Path(__file__).parents[2] / "examples/add.mlir"
    result = run(*[str(path) if word == "examples/add.mlir" else word for word in words])
    assert (result.code, result.err) == (0, "")
    assert np.load("sum.npy").shape == (64,)


def test_perturbed_approximations(run: Run, folder: Path) -> None:
    """Each seed has its results, and the same ones in each run; they differ by a few ulps."""
    source = str(Path(__file__).parents[2] / "examples" / "softmax.mlir")
    results: list[NDArray[np.float32]] = []
    for seed in (0, 3, 3, 4):
        command = ["run", source, "--on=emulator", f"--perturb={seed}", "--arg=random:1x128xf32"]
        assert run(*command, "--arg=out.npy=zeros:1x128xf32", "--arg=1") == (0, "", "")
        results.append(np.load("out.npy"))
    plain, first, again, other = results
    assert np.array_equal(first, again)
    assert not np.array_equal(plain, first)
    assert not np.array_equal(first, other)
    np.testing.assert_allclose(first, plain, rtol=2.0**-20)


def test_perturbed_approximations_need_the_emulator(run: Run, program: Path) -> None:
    code, _, err = run("run", str(program), "--perturb=1", "--arg=1")
    assert code == 2
    assert "option '--perturb': expected --on emulator, found --on cpu" in err
    with pytest.raises(tilewright.Unsupported, match="perturbed approximations on 'cpu'"):
        tilewright.execute(program, None, 1, [], perturb=1)
