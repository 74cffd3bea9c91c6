"""`tilewright ptx run`: kernels of PTX files, their output, and counters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

KERNELS = Path(__file__).parent.parent / "ptx"
BASICS, FUNCTIONS = (str(KERNELS / f"{name}.ptx") for name in ("basics", "functions"))
TWICE = """\
.version 9.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 x)
{
    .reg .b64 %x; .reg .b32 %t, %v;
    ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x;
    ld.global.u32 %v, [%x]; shl.b32 %v, %v, 1; st.global.u32 [%x], %v; ret;
}
"""


@pytest.fixture
def twice(folder: Path) -> Path:
    path = folder / "twice.ptx"
    path.write_text(TWICE)
    return path


def test_arrays_in_and_out(run: Run, folder: Path) -> None:
    np.save("wanted.npy", np.arange(1000, dtype=np.float32) * np.float32(2.5) + 1)
    arguments = ["--entry=saxpy", "--grid=4", "--block=256", "--arg=iota:1000xf32"]
    arguments += ["--arg=y.npy=ones:1000xf32", "--arg=2.5", "--arg=1000", "--expect=1=wanted.npy"]
    assert run("ptx", "run", BASICS, *arguments) == (0, "", "")
    np.testing.assert_array_equal(np.load("y.npy"), np.load("wanted.npy"))


def test_the_only_kernel_needs_no_name(run: Run, twice: Path) -> None:
    result = run("ptx", "run", "twice.ptx", "--block=4", "--arg=iota:4xi32", "--show=0")
    assert result == (0, "[0 2 4 6]\n", "")


def test_standard_input(run: Run) -> None:
    arguments = ["--block=4", "--arg=ones:4xi32", "--show=0"]
    assert run("ptx", "run", "-", *arguments, stdin=TWICE.encode()) == (0, "[2 2 2 2]\n", "")


def test_several_kernels_need_one(run: Run) -> None:
    code, out, err = run("ptx", "run", BASICS)
    assert (code, out) == (1, "")
    assert err.startswith("error: expected one kernel, or its name (--entry), got saxpy, ")


def test_printed_output(run: Run, folder: Path) -> None:
    np.save("name.npy", np.frombuffer(b"thread\0", np.uint8))
    result = run(
        "ptx", "run", FUNCTIONS, "--entry=greet", "--block=32", "--arg=name.npy", "--arg=2.345"
    )
    assert result.out.startswith("thread 0:  2.35 123456789abc z%\n")


def test_counters(run: Run, twice: Path) -> None:
    result = run("ptx", "run", "twice.ptx", "--block=4", "--arg=iota:4xi32", "--counters")
    summary, lines = result.out.split("\n\n")
    rows = dict(line.rsplit(None, 1) for line in summary.splitlines())
    assert rows == {
        "thread instructions": "28",
        "  arithmetic": "4",
        "  bits": "4",
        "  control flow": "4",
        "  data movement": "16",
        "  predicated off": "0",
        "warp instructions": "7",
        "  divergent": "0",
        "bytes, global loads": "16",
        "bytes, global stores": "16",
        "sectors, global loads": "1",
        "sectors, global stores": "1",
        "shared memory requests": "0",
        "  bank conflicts": "0",
    }
    # The load, the shift, the store and `ret`; the other line accesses no memory.
    head, row = lines.splitlines()
    assert head.split() == [
        "line", "instructions", "divergent", "predicated", "off", "sectors", "requests",
        "conflicts", "waits",
    ]  # fmt: skip
    assert row.split() == ["twice.ptx:8", "4", "0", "0", "2", "0", "0", "0"]


def test_counters_as_json(run: Run, twice: Path) -> None:
    command = ("ptx", "run", "twice.ptx", "--block=4", "--arg=iota:4xi32", "--counters-json")
    printed = json.loads(run(*command, "-").out)
    assert printed["by_opcode"]["shl.b32"] == 4
    assert printed["sectors"] == {"global loads": 1, "global stores": 1}
    assert [(each["file"], each["line"]) for each in printed["by_line"]] == [
        ("twice.ptx", 7),
        ("twice.ptx", 8),
    ]
    assert run(*command, "counters.json") == (0, "", "")
    assert json.loads(Path("counters.json").read_text()) == printed


def test_accesses_out_of_bounds_are_errors(run: Run, twice: Path) -> None:
    code, out, err = run("ptx", "run", "twice.ptx", "--block=5", "--arg=iota:4xi32")
    assert (code, out) == (1, "")
    assert err.startswith("twice.ptx:8:5: error: ld.global.u32: load of 4 bytes outside")
    assert "thread (4, 0, 0)" in err


def test_races_in_global_memory_are_errors_on_demand(run: Run, twice: Path) -> None:
    # Three blocks change the same words.
    command = ("ptx", "run", "twice.ptx", "--grid=3", "--block=4", "--arg=ones:4xi32")
    assert run(*command).code == 0
    code, _, err = run(*command, "--check-global")
    assert code == 1
    assert "race in global memory at address" in err


def test_unknown_instructions_are_unsupported(run: Run, folder: Path) -> None:
    text = TWICE.replace("shl.b32", "frobnicate.b32")
    Path("odd.ptx").write_text(text)
    code, _, err = run("ptx", "run", "odd.ptx", "--arg=iota:4xi32")
    assert code == 3
    assert "unsupported: instruction frobnicate.b32" in err


@pytest.mark.parametrize(
    ("arguments", "code", "gist"),
    [
        (["ptx"], 2, ", run, ptx run, lsp, nvcc, examples, completion), found 'ptx'\n"),
        (["ptx", "walk"], 2, "found 'ptx walk'"),
        (["ptx", "run", "--block=x"], 2, "option '--block': expected numbers, found 'x'"),
        (["ptx", "run", "--rtol=x"], 2, "option '--rtol': expected a number, found 'x'"),
        (["ptx", "run", "none.ptx"], 2, "cannot read 'none.ptx'"),
        (
            ["ptx", "run", BASICS, "--entry=absent"],
            1,
            "its kernels are: 'saxpy', ",
        ),
        (["ptx", "run", BASICS, "--entry=saxpy"], 1, "expected 4 arguments of 'saxpy', got 0"),
    ],
)
def test_command_lines_that_cannot_be(
    run: Run, folder: Path, arguments: list[str], code: int, gist: str
) -> None:
    result = run(*arguments)
    assert result.code == code
    assert gist in result.err


def test_help(run: Run) -> None:
    code, out, err = run("ptx", "run", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: tilewright ptx run ")
    assert "--block XxYxZ" in out


def test_kernels_by_their_names_in_c_plus_plus(run: Run, twice: Path) -> None:
    twice.write_text(TWICE.replace("twice", "_Z5twicePi"))
    words = ["ptx", "run", "twice.ptx", "--block", "4", "--arg", "iota:4xi32", "--show", "0"]
    for name in ("_Z5twicePi", "twice", "twice(int *)"):
        assert run(*words, "--entry", name) == (0, "[0 2 4 6]\n", "")
    code, _, err = run(*words, "--entry", "thrice")
    assert code == 1
    assert "expected 'thrice'; its kernels are: '_Z5twicePi' (twice(int*))" in err
