"""Our `tileiras` beside NVIDIA's: the same command lines end with the same exit codes and forms."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import tilewright
from tilewright.driver.tool_options import EVERYWHERE
from tilewright.emit.note import read_note
from tilewright.target.arch import ARCHES
from tilewright.tileiras import command_line
from tilewright.tileiras.run import main

pytestmark = pytest.mark.peer

PROGRAM = """\
#file = #cuda_tile.di_file<"kernel.py" in "/folder">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 3, name = "f", linkageName = "f",
  compileUnit = #unit, scopeLine = 3>
!t = !cuda_tile.tensor_view<1024xf32, strides=[1]>
!v = !cuda_tile.partition_view<tile=(128), tensor_view<1024xf32, strides=[1]>>
cuda_tile.module @m {
  entry @f(%p: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32> loc(#cuda_tile.di_loc<loc("kernel.py":4:9) in #f>)
    %0 = make_tensor_view %p, shape = [1024], strides = [1] : !t loc(#cuda_tile.di_loc<loc("kernel.py":5:9) in #f>)
    %1 = make_partition_view %0 : !v loc(#cuda_tile.di_loc<loc("kernel.py":5:9) in #f>)
    %2, %t = load_view_tko weak %1[%i] : !v, tile<i32> -> tile<128xf32>, token loc(#cuda_tile.di_loc<loc("kernel.py":6:9) in #f>)
    %3 = addf %2, %2 : tile<128xf32> loc(#cuda_tile.di_loc<loc("kernel.py":7:9) in #f>)
    %u = store_view_tko weak %3, %1[%i] token=%t : tile<128xf32>, !v, tile<i32> -> token loc(#cuda_tile.di_loc<loc("kernel.py":8:5) in #f>)
    return loc(#cuda_tile.di_loc<loc("kernel.py":8:5) in #f>)
  } loc(#cuda_tile.di_loc<loc("kernel.py":3:1) in #f>)
}
"""  # noqa: E501

GPU = "--gpu-name=sm_90"
GOOD = ["good", GPU, "-o", "made"]
EXAMPLES = Path(__file__).parents[1] / "cli" / "remark_examples"

DONE = [
    GOOD,
    ["good", "--gpu-name", "sm_90", "-o", "made"],
    ["good", "-arch", "sm_90", "-o", "made"],
    ["--arch=sm_90", "-o=made", "--", "good"],
    ["good", GPU, "--output-file", "made"],
    ["good", GPU, "-o", "other", "-o", "made"],
    [*GOOD, "-O0"],
    [*GOOD, "--O2"],
    [*GOOD, "--opt-level=2", "--opt-level=3"],
    [*GOOD, "--opt-level", "0x1"],
    [*GOOD, "--opt-level=03"],
    [*GOOD, "--opt-level=-0"],
    [*GOOD, "--lineinfo"],
    [*GOOD, "-lineinfo=false"],
    [*GOOD, "--device-debug", "-O0"],
    [*GOOD, "--device-debug", "--lineinfo", "-O0"],
    [*GOOD, "-g", "-O0"],
    [*GOOD, "-gO0"],
    [*GOOD, "-g=0"],
    [*GOOD, "--sanitize=memcheck"],
    [*GOOD, "--host-arch=x86_64", "--host-os=windows"],
    [*GOOD, "--color", "--print-options"],
    [*GOOD, "-w"],
    [*GOOD, "--Werror"],
    [*GOOD, "-Werror=true", "--w=false"],
    [*GOOD, "-wgO0"],
    [*GOOD, "--remarks=none", "--remarks-passed=memory", "--remarks-missed=tensorcore"],
    [*GOOD, "--remarks=all", "--remark-format=command-line"],
    [*GOOD, "--remarks=all", "--remark-format=yaml", "--remarks-output-file=remarks.yaml"],
    [*GOOD, "--remarks=all", "--remark-format=yaml", "--remarks-output-file="],
    [*GOOD, "--remarks=all", "--remark-format=yaml", "--remarks-output-file=-"],
    ["@words"],
    ["@more", "good", "-o", "made"],
]

WRONG = [
    ["nope", GPU, "-o", "made"],
    ["folder", GPU, "-o", "made"],
    ["-", GPU, "-o", "made"],
    ["nope", GPU, "-O7"],
    ["empty", GPU, "-o", "made"],
    ["mlir", GPU, "-o", "made"],
    ["text", "-o", "made"],
    ["text", "-g"],
    ["truncated", GPU, "-o", "made"],
    ["truncated", "-o", "made"],
    ["truncated", GPU, "-O7"],
    ["truncated", GPU, "-g"],
    ["header", GPU, "-o", "made"],
    ["future", "-o", "made"],
    ["future", GPU, "-O7"],
    ["invalid", GPU, "-o", "made"],
    ["good"],
    ["good", "-o", "made"],
    ["good", "--gpu-name=sm_91", "-o", "made"],
    ["good", "--arch=sm_90a", "-o", "made"],
    ["good", "--gpu-name=", "-o", "made"],
    ["good", "-o", "made", "--gpu-name"],
    ["good", "--gpu-name", "-o", "made"],
    [*GOOD, "-O5"],
    [*GOOD, "-O-1"],
    [*GOOD, "-O"],
    [*GOOD, "-O", "2"],
    [*GOOD, "-Ox"],
    [*GOOD, "-O=2"],
    [*GOOD, "-O3=2"],
    [*GOOD, "--opt-level="],
    [*GOOD, "--opt-level=010"],
    [*GOOD, "--opt-level=+2"],
    [*GOOD, "--opt-level= 2"],
    [*GOOD, "--opt-level=1_0"],
    [*GOOD, "--opt-level=\N{ARABIC-INDIC DIGIT TWO}"],
    [*GOOD, "--opt-level=2147483648"],
    [*GOOD, "--color=always"],
    ["@folder", GPU, "-o", "made"],
    ["@itself", *GOOD],
    ["@nope", *GOOD],
    [*GOOD, "--device-debug"],
    [*GOOD, "--device-debug", "-O3", "--lineinfo"],
    [*GOOD, "--lineinfo=maybe"],
    [*GOOD, "--lineinf"],
    [*GOOD, "--Werror=all"],
    [*GOOD, "-Wall"],
    [*GOOD, "---lineinfo"],
    [*GOOD, "--sanitize"],
    [*GOOD, "--sanitize=racecheck"],
    [*GOOD, "--host-arch=arm"],
    [*GOOD, "--remarks"],
    [*GOOD, "--remarks=everything"],
    [*GOOD, "--remark-format=json"],
    [*GOOD, "--remarks=all", "--remark-format=yaml", "--remarks-output-file=no/folder"],
    [*GOOD, "--frob"],
    [*GOOD, "good"],
    [*GOOD, "--help=1"],
    [*GOOD, "--version=1"],
    ["good", GPU, "-o"],
    ["good", GPU, "-omade"],
    ["good", GPU, "-o", "no/folder"],
    ["good", GPU, "-o", "folder"],
    ["good", GPU, "-o", ""],
]

ANSWERS = [
    ["--help"],
    ["-h"],
    ["-help"],
    ["--help-hidden"],
    ["--help-list"],
    ["-habc"],
    ["nope", "--help"],
    ["--frob", "--help"],
    ["--help", "--frob"],
    ["--version"],
    ["-version"],
    ["--frob", "--version"],
    ["--list-versions"],
    ["nope", "--list-versions"],
    ["--frob", "--list-versions"],
    [],
    ["--lineinfo"],
]

LINE = re.compile(
    r"error: .+"
    r'|(?:loc\("[^"]+":\d+:\d+\)(?: in \w+)?|#cuda_tile\.di_loc<.*>): error: .+'
    r"|tileiras: .+"
    r"|Can specify at most 1 positional arguments: See: .*tileiras --help"
    r"|Error opening remark output file .*"
    r"|recursive expansion of: .*"
    r"|cannot not open file .*"
)
"""A line of a diagnostic of either compiler."""


class Done(NamedTuple):
    """The exit code and the output of a compiler."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with files to try."""
    good = good_program()
    files = {
        "good": good,
        "empty": b"",
        "mlir": b"ML\xefR\x06MLIR20.0.0\0",
        "text": b"cuda_tile.module @m {}\n",
        "truncated": good[:-20],
        "header": good[:9],
        "future": good[:9] + b"\x63" + good[10:],
        "invalid": invalid_program(),
        "words": b"good '--gpu-name=sm_90'\n-o \"made\"\n",
        "more": b"@less --lineinfo",
        "less": b"--arch sm_90",
        "itself": b"--lineinfo @itself",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    return tmp_path


@cache
def good_program() -> bytes:
    return tilewright.write_bytecode(tilewright.read(PROGRAM))


@cache
def invalid_program() -> bytes:
    """Return well-formed bytecode of an invalid program: an iota of floats."""
    from tilewright.bytecode.writer import write_bytecode  # noqa: PLC0415
    from tilewright.driver.assembly import parse_module  # noqa: PLC0415

    lines = ["entry @f() {", "%0 = iota : tile<8xf32>", "return", "}"]
    return write_bytecode(parse_module("\n".join(["cuda_tile.module @m {", *lines, "}"]), "x"))


@pytest.fixture
def run_both(folder: Path, nvidia_tools: Path, capfd: pytest.CaptureFixture[str]):
    """Run a command line on both compilers, NVIDIA's first, and remove output files in between."""

    def run(arguments: list[str]) -> tuple[Done, Done]:
        command = [nvidia_tools / "tileiras", *arguments]
        theirs = subprocess.run(command, capture_output=True, text=True, check=False)
        kept = {path.name for path in made(folder)}
        for path in made(folder):
            path.unlink()
        code = main(arguments)
        assert {path.name for path in made(folder)} == kept
        out, err = capfd.readouterr()
        return Done(theirs.returncode, theirs.stdout, theirs.stderr), Done(code, out, err)

    return run


def made(folder: Path) -> list[Path]:
    names = ("made", "other", "elf.o", "tileir_remarks.yaml", "remarks.yaml")
    return [folder / name for name in names if (folder / name).exists()]


@pytest.mark.parametrize("arguments", DONE, ids=" ".join)
@pytest.mark.sampled(12)
def test_good_command_lines(run_both, folder: Path, arguments: list[str]) -> None:
    theirs, ours = run_both(arguments)
    assert (ours.code, ours.err) == (theirs.code, theirs.err) == (0, "")
    assert bool(ours.out) == bool(theirs.out)
    assert read_note((folder / "made").read_bytes()) is not None


def test_a_cubin_on_standard_output(folder: Path, nvidia_tools: Path) -> None:
    ours = [sys.executable, "-m", "tilewright.tileiras"]
    for command in ([str(nvidia_tools / "tileiras")], ours):
        done = subprocess.run([*command, "good", GPU, "-o", "-"], capture_output=True, check=True)
        assert done.stdout.startswith(b"\x7fELF")
    assert read_note(done.stdout) is not None
    assert not (folder / "-").exists()


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_command_lines_and_files(run_both, arguments: list[str]) -> None:
    theirs, ours = run_both(arguments)
    assert ours.code == theirs.code != 0
    assert (ours.out, theirs.out) == ("", "")
    assert [line for line in theirs.err.splitlines() if not LINE.fullmatch(line)] == []
    assert ours.err
    assert [line for line in ours.err.splitlines() if not LINE.fullmatch(line)] == []


def test_an_unknown_gpu_is_answered_with_the_known_ones(run_both) -> None:
    theirs, ours = run_both(["good", "--gpu-name=sm_75", "-o", "made"])
    rest = ours.err.removeprefix(theirs.err.strip())
    assert rest == f" Expected one of {', '.join(command_line.GPUS)}\n"


@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_help_and_version(run_both, arguments: list[str]) -> None:
    theirs, ours = run_both(arguments)
    assert ours.code == theirs.code
    assert bool(ours.err) == bool(theirs.err)
    if "--list-versions" in arguments:
        assert ours.out == theirs.out
    else:
        assert ours.out.splitlines()[0].removeprefix("OVERVIEW: ").startswith("tileiras: ")
        assert "NVIDIA" not in ours.out


def test_the_same_options(nvidia_tools: Path) -> None:
    """Their help names all options; each is ours too, with the same choices."""
    command = [nvidia_tools / "tileiras", "--help-hidden"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    choices: dict[str, set[str]] = {}
    name = ""
    for line in text.splitlines():
        if named := re.match(r" +--?([\w-]+)(?:=<\w+>)? +- ", line):
            name = named[1]
            choices[name] = set()
        elif (choice := re.match(r" +=([\w-]+) +- ", line)) is not None:
            choices[name].add(choice[1])
    known = {**EVERYWHERE, **command_line.OPTIONS}
    assert {name: set(known[name].choices) for name in choices if choices[name]} == {
        name: values for name, values in choices.items() if values
    }
    assert choices.keys() <= known.keys()
    assert choices["gpu-name"] == set(command_line.GPUS) == set(ARCHES)


@pytest.mark.parametrize("question", ["--help", "--help-list"])
def test_gpus_in_the_help_as_theirs(run_both, question: str) -> None:
    """Front ends search the help for a GPU: the same lines after the same option."""
    theirs, ours = run_both([question])
    expected, actual = (
        re.search(r"^  --gpu-name=<value> .*\n((?:    =.*\n)+)", text, re.M)
        for text in (theirs.out, ours.out)
    )
    assert expected is not None
    assert actual is not None
    assert re.sub(" +", " ", actual[1]) == re.sub(" +", " ", expected[1])


@pytest.mark.parametrize("version", ["13.1", "13.2", "13.3", "13.4"])
def test_an_empty_module_compiles_for_every_gpu(version: str, run_both, folder: Path) -> None:
    """cuTile probes the bytecode versions of a compiler by empty modules."""
    data = tilewright.write_bytecode(tilewright.read("cuda_tile.module @m {}"), version)
    (folder / "good").write_bytes(data)
    theirs, ours = run_both(["good", "-o", "made", "--gpu-name", "sm_120"])
    assert (theirs, ours) == (Done(0, "", ""), Done(0, "", ""))
    # What a GPU needs does not depend on the version that the program has.
    for gpu in command_line.GPUS if version == "13.4" else ["sm_120"]:
        assert main(["good", "-o", gpu, "--gpu-name", gpu]) == 0
        assert read_note((folder / gpu).read_bytes()) is not None


def test_yaml_has_the_same_form(run_both, folder: Path, nvidia_tools: Path) -> None:
    options = ["--remarks=all", "--remark-format=yaml", "--remarks-output-file=remarks.yaml"]
    command = [nvidia_tools / "tileiras", *GOOD, *options]
    subprocess.run(command, check=True)
    theirs = (folder / "remarks.yaml").read_text()
    assert main([*GOOD, *options]) == 0
    ours = (folder / "remarks.yaml").read_text()
    loads = [
        {(each["DebugLoc"], each["Function"], each["Pass"]) for each in documents(text)
         if each["Name"] == "RemarkMemoryLoadInstructionSelected"}
        for text in (theirs, ours)
    ]  # fmt: skip
    location = "{ File: 'kernel.py', Line: 6, Column: 9 }"
    assert loads == [{(location, "f", "Memory")}, {(location, "f", "Memory")}]


@pytest.mark.parametrize(("example", "tag", "category", "name"), [
    ("tma-load-refused", "Failure", "Memory", "RemarkMemoryTmaLoadFailed"),
    ("tma-store-refused", "Failure", "Memory", "RemarkMemoryTmaStoreFailed"),
    ("mma-tensor-core", "Passed", "Tensor-core", "RemarkTensorCoreMMA"),
    ("mma-fma", "Failure", "Tensor-core", "RemarkTensorCoreMMA"),
    ("load-selected", "Passed", "Memory", "RemarkMemoryLoadInstructionSelected"),
    ("warps-specialized", "Passed", "Memory", "RemarkMemoryStoreInstructionSelected"),
])  # fmt: skip
@pytest.mark.sampled(3)
def test_remarks_have_the_same_names(
    example: str, tag: str, category: str, name: str, folder: Path, nvidia_tools: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("TILEWRIGHT_SCHEDULE", "agents=1,tma-stores=1")
    # With smaller tiles: NVIDIA's compiler needs seconds for those of the examples.
    text = (EXAMPLES / f"{example}.mlir").read_text().replace("128", "32")
    (folder / "good").write_bytes(tilewright.write_bytecode(tilewright.read(text)))
    options = ["--remarks=all", "--remark-format=yaml", "--remarks-output-file=remarks.yaml"]
    expected = f"--- !{tag}\nPass:            {category}\nName:            {name}\n"
    subprocess.run([nvidia_tools / "tileiras", *GOOD, *options], check=True)
    assert expected in (folder / "remarks.yaml").read_text()
    assert main([*GOOD, *options]) == 0
    assert expected in (folder / "remarks.yaml").read_text()


def documents(text: str) -> list[dict[str, str]]:
    """Parse a file that consists of remarks only."""
    parsed: list[dict[str, str]] = []
    for document in re.split(r"(?<=\.\.\.)\n", text):
        if not document:
            continue
        head, *lines, end = document.splitlines()
        assert re.fullmatch(r"--- !(Passed|Missed|Failure|Analysis)", head)
        assert end == "..."
        assert lines.index("Args:") in (3, 4)
        fields: dict[str, str] = {}
        for line in lines[: lines.index("Args:")]:
            field = re.fullmatch(r"(Pass|Name|DebugLoc|Function): +(\S.*)", line)
            assert field is not None
            assert field.start(2) == 17
            fields[field[1]] = field[2]
        for line in lines[lines.index("Args:") + 1 :]:
            assert re.fullmatch(r"  - \w+: +\S.*", line)
        parsed.append(fields)
    return parsed
