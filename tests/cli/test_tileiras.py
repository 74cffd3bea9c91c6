"""`tileiras` as its callers use it: a process that writes a cubin, or reports an error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.emit.note import own_note, read_note
from tilewright.support.diagnostics import InternalError, Unsupported
from tilewright.support.identity import identity
from tilewright.support.location import CallSiteLoc, FileLoc

GPU = "--gpu-name=sm_90"
LINE = 7

DEBUG = """\
#file = #cuda_tile.di_file<"kernel.py" in "/folder">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 3, name = "f", linkageName = "f",
  compileUnit = #unit, scopeLine = 3>
cuda_tile.module @m {
  entry @f(%a: tile<f32>) {
    %0 = BODY loc(#cuda_tile.di_loc<loc("/folder/kernel.py":7:5) in #f>)
    return
  } loc(#cuda_tile.di_loc<loc("/folder/kernel.py":3:1) in #f>)
}
"""


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")


def unverified(path: Path, text: str) -> None:
    """Write bytecode of a program that may be invalid."""
    from tilewright.bytecode.writer import write_bytecode  # noqa: PLC0415
    from tilewright.driver.assembly import parse_module  # noqa: PLC0415

    path.write_bytes(write_bytecode(parse_module(text, "text")))


def test_the_cubin_names_its_compiler(run: Run, folder: Path) -> None:
    assert run("good.tileirbc", GPU, "-o", "k.cubin", tool="tileiras") == (0, "", "")
    cubin = (folder / "k.cubin").read_bytes()
    assert read_note(cubin) == own_note()
    assert cubin == tilewright.compile(folder / "good.tileirbc").cubin


def test_without_a_name_the_output_is_that_of_the_original(run: Run, folder: Path) -> None:
    assert run("good.tileirbc", GPU, tool="tileiras").code == 0
    assert read_note((folder / "elf.o").read_bytes()) is not None


def test_version_names_the_compiler_and_its_digest(run: Run) -> None:
    code, out, err = run("--version", tool="tileiras")
    assert (code, err) == (0, "")
    assert "Tilewright" in out
    assert tilewright.__version__ in out
    assert identity() in out


def test_versions_with_another_ptxas_differ(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: set[str] = set()
    for words in ("", "one", "other"):
        (folder / "ptxas").write_text(words)
        monkeypatch.setenv("TILEWRIGHT_PTXAS", str(folder / "ptxas") if words else "")
        texts.add(run("--version", tool="tileiras").out)
    assert len(texts) == 3
    assert all(identity() in text for text in texts)


def test_errors_have_the_location_in_the_kernel(run: Run, folder: Path) -> None:
    unverified(folder / "wrong", DEBUG.replace("BODY", "iota : tile<8xf32>"))
    code, out, err = run("wrong", GPU, "-o", "made", tool="tileiras")
    assert (code, out) == (3, "")
    assert re.match(r'loc\("/folder/kernel\.py":7:5\) in f: error: .*iota', err)
    assert not (folder / "made").exists()


def test_cutile_shows_the_location(run: Run, folder: Path) -> None:
    """cuTile parses the compiler's messages, and must be able to print the result."""
    compiling = pytest.importorskip("cuda.tile._compile")
    exceptions = pytest.importorskip("cuda.tile._exception")
    unverified(folder / "wrong", DEBUG.replace("BODY", "iota : tile<8xf32>"))
    code, _, err = run("wrong", GPU, tool="tileiras")
    text, location = compiling._parse_tileir_stderr(err)
    error = exceptions.TileCompilerExecutionError(code, text, location, "", None)
    assert 'loc("/folder/kernel.py":7:5) in f' in str(error)
    assert "iota" in str(error)


def test_without_debug_information_the_byte_is_named(run: Run, folder: Path) -> None:
    (folder / "cut").write_bytes((folder / "good.tileirbc").read_bytes()[:40])
    code, out, err = run("cut", GPU, tool="tileiras")
    assert (code, out) == (3, "")
    assert re.fullmatch(r"error: .+ \(byte \d+ of the input\)\n", err)


class Failing:
    """A compilation that ends in an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, *arguments: object) -> object:
        raise self.error


INNER = FileLoc("kernel.py", 4, 2)
CALLED = CallSiteLoc(INNER, FileLoc("main.py", 9, 1))


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    def install(error: Exception) -> None:
        monkeypatch.setattr("tilewright.driver.compile.Compilation.to", Failing(error))

    return install


def test_unsupported_features(run: Run, folder: Path, failing) -> None:
    failing(Unsupported("tiles of thoughts", CALLED))
    assert run("good.tileirbc", GPU, "-o", "made", tool="tileiras") == (
        5,
        "",
        'loc("kernel.py":4:2): error: unsupported: tiles of thoughts\n'
        'loc("main.py":9:1): note: called from here\n',
    )
    assert not (folder / "made").exists()


@pytest.mark.parametrize("error", [InternalError("no atom", INNER), RecursionError("too deep")])
def test_a_bug_of_ours_says_so(run: Run, folder: Path, failing, error: Exception) -> None:
    failing(error)
    code, out, err = run("good.tileirbc", GPU, "-o", "made", tool="tileiras")
    assert (code, out) == (5, "")
    assert "This is a bug in Tilewright, not in your program. Please report it" in err
    last = err.splitlines()[-1]
    assert "error: internal error of Tilewright" in last
    assert last.startswith('loc("kernel.py":4:2): ') == isinstance(error, InternalError)
    assert not (folder / "made").exists()


def test_no_assembler(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PTXAS", "/no/ptxas")
    code, out, err = run("good.tileirbc", GPU, "-o", "made", tool="tileiras")
    assert (code, out) == (5, "")
    assert err.startswith("error: unsupported: ")
    assert "TILEWRIGHT_PTXAS" in err
    assert list(folder.glob("made*")) == []


def test_a_schedule_that_does_not_exist(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_SCHEDULE", "warps=3")
    code, out, err = run("good.tileirbc", GPU, "-o", "made", tool="tileiras")
    assert (code, out) == (2, "")
    assert err.startswith("error: expected a schedule of ")
    assert err.endswith("got 'warps=3'\n")
    assert list(folder.glob("made*")) == []


def test_output_that_cannot_be_written(run: Run, folder: Path) -> None:
    for target in ("folder", "no/folder", ""):
        code, out, err = run("good.tileirbc", GPU, "-o", target, tool="tileiras")
        assert (code, out) == (2, "")
        assert err.startswith("error: cannot write ")
    assert list(folder.glob("*.part")) == []


def test_a_failure_keeps_the_old_output(run: Run, folder: Path, failing) -> None:
    (folder / "made").write_bytes(b"before")
    failing(Unsupported("anything"))
    assert run("good.tileirbc", GPU, "-o", "made", tool="tileiras").code == 5
    assert (folder / "made").read_bytes() == b"before"


def test_remarks_in_yaml(run: Run, folder: Path) -> None:
    options = ["--remark-format=yaml", "--remarks=all", "--remarks-output-file=r.yaml"]
    assert run("good.tileirbc", GPU, "-o", "k", *options, tool="tileiras") == (0, "", "")
    text = (folder / "r.yaml").read_text()
    assert text.startswith("--- !Analysis\nPass:            Resources\n")
    assert "Function:        add\n" in text
    assert re.search(r"\n  - Registers:   \d+\n", text)
    assert re.search(r"\n  - SpillStores: 0\n", text)
    assert re.search(r"\n  - Occupancy:   \d+\n", text)
    assert text.endswith("...\n")


def test_remarks_are_true_of_the_code(run: Run, folder: Path) -> None:
    source = Path(__file__).parents[1] / "run" / "kernels" / "gemm.mlir"
    module = tilewright.read(source)
    (folder / "gemm").write_bytes(tilewright.write_bytecode(module))
    out = run("gemm", GPU, "--remarks=all", tool="tileiras").out
    ptx = tilewright.compile(module).ptx
    match = re.search(r"Instruction = (\S+)\n +.* Shape = \[(\d+), (\d+), (\d+)\]\n\n", out)
    assert match is not None
    name, m, n, k = match.groups()
    assert f"{name}.aligned.m{m}n{n}k{k}." in ptx
    (threads,) = re.findall(r"Threads = (\d+)x1x1\n", out)
    assert f".reqntid {threads}" in ptx
    counts = re.findall(r"= st.global\n +.* ElementsAtOnce = (\d+)\n", out)
    widths = {"" if count == "1" else f".v{count}" for count in counts}
    assert widths == set(re.findall(r"st\.global(\.v\d)?\.b32", ptx))


def test_remarks_of_another_category(run: Run, folder: Path) -> None:
    options = ["--remark-format=yaml", "--remarks=tensorcore"]
    assert run("good.tileirbc", GPU, "-o", "k", *options, tool="tileiras") == (0, "", "")
    assert (folder / "tileir_remarks.yaml").read_text() == ""


def test_remarks_for_people(run: Run) -> None:
    code, out, err = run("good.tileirbc", GPU, "-o", "k", "--remarks-analysis=all", tool="tileiras")
    assert (code, err) == (0, "")
    assert out.startswith("in function: add:\n\n  category: Resources\n    remark[analysis]: ")


def test_as_a_process(folder: Path) -> None:
    """The console script, with the disassembler beside it, and the module."""
    script = Path(sys.executable).with_name("tileiras")
    assert script.with_name("tileirdisasm").exists()
    for command in ([str(script)], [sys.executable, "-m", "tilewright.tileiras"]):
        done = subprocess.run([*command, "good.tileirbc", GPU, "-o", "k"], capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        note = read_note((folder / "k").read_bytes())
        assert note is not None
        assert note.version == tilewright.__version__
        (folder / "k").unlink()
        done = subprocess.run([*command, "nope", GPU], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "error: cannot read 'nope': No such file or directory\n"


CLOSED = ("<&- >&- 2>&-", ">&-", "2>&-", "<&-")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("streams", CLOSED)
def test_streams_that_the_caller_has_closed(folder: Path, streams: str) -> None:
    command = f"{sys.executable} -m tilewright.tileiras good.tileirbc {GPU} -o k {streams}"
    done = subprocess.run(["sh", "-c", command], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert read_note((folder / "k").read_bytes()) is not None


@pytest.mark.parametrize("tool", ["tileiras", "tileirdisasm"])
@pytest.mark.parametrize("target", ["/dev/full", "&-"])
def test_an_answer_without_a_reader(tool: str, target: str) -> None:
    script = Path(sys.executable).with_name(tool)
    done = subprocess.run(["sh", "-c", f"{script} --version >{target}"], capture_output=True)
    assert done.returncode in (1, 2)
    assert re.fullmatch(rb"error: cannot write standard output: .+\n", done.stderr)


def test_interrupted_while_it_loads() -> None:
    """Ctrl-C prints no traceback."""
    code = (
        "import sys; from tilewright.tileiras import __main__ as tool\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'tilewright.tileiras.run':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "tool.script()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("words", [b"good.tileirbc 'open", b"good\0tileirbc"])
def test_files_of_arguments_that_cannot_be_read(run: Run, folder: Path, words: bytes) -> None:
    (folder / "odd").write_bytes(words)
    code, out, err = run("@odd", GPU, tool="tileiras")
    assert (code, out) == (1, "")
    assert err.startswith("tileiras: cannot read 'odd': ")


def test_messages_without_a_reader() -> None:
    command = f"{sys.executable} -m tilewright.tileiras nope {GPU} 2>&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")


def test_the_version_loads_no_compiler() -> None:
    """cuTile asks for it before everything else."""
    code = (
        "import sys; from tilewright.tileiras.run import main; main(['--version']); "
        "print(*sorted(name for name in sys.modules if name.startswith('tilewright.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    heavy = ("dialects", "conversion", "emit", "ir", "text", "transforms")
    light = {"tilewright.emit", "tilewright.emit.toolchain"}
    assert [name for name in loaded if name.split(".")[1] in heavy and name not in light] == []
    assert len(loaded) < 20


def test_compiling_loads_neither_numpy_nor_argparse(folder: Path) -> None:
    code = (
        "import sys; from tilewright.tileiras.run import main; "
        f"main(['good.tileirbc', '{GPU}', '-o', 'k']); print(*sys.modules)"
    )
    environment = {**os.environ, "TILEWRIGHT_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    loaded = set(done.stdout.split())
    unwanted = {"argparse", "ast", "dataclasses", "inspect", "llvmlite", "numpy", "pathlib"}
    assert loaded & unwanted == set()


def test_the_second_time_nothing_is_compiled(
    run: Run, folder: Path, failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    assert run("good.tileirbc", GPU, "-o", "first", tool="tileiras") == (0, "", "")
    failing(Unsupported("compiling twice"))
    assert run("good.tileirbc", GPU, "-o", "second", tool="tileiras") == (0, "", "")
    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()
    assert run("good.tileirbc", GPU, "-O2", "-o", "third", tool="tileiras").code == 5


def test_remarks_are_kept_too(
    run: Run, folder: Path, failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cuTile always asks for them."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    data = tilewright.write_bytecode(tilewright.read(DEBUG.replace("BODY", "negf %a : tile<f32>")))
    (folder / "kernel").write_bytes(data)
    words = ["kernel", GPU, "--remarks=all"]
    first = run(*words, "-o", "first", tool="tileiras")
    assert (first.code, first.err) == (0, "")
    assert '--> "/folder/kernel.py":3:1' in first.out
    failing(Unsupported("compiling twice"))
    assert run(*words, "-o", "second", tool="tileiras") == first
    assert run("kernel", GPU, "-o", "third", tool="tileiras") == (0, "", "")
    cubins = {(folder / name).read_bytes() for name in ("first", "second", "third")}
    assert len(cubins) == 1


def test_a_cache_that_cannot_be_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "good.mlir"))
    code, out, err = run("good.tileirbc", GPU, "-o", "made", tool="tileiras")
    assert (code, out) == (0, "")
    assert re.fullmatch(r"warning: the cache .* cannot be written: .*\n", err)
    assert read_note((folder / "made").read_bytes()) is not None


def test_names_that_are_no_text(run: Run, folder: Path) -> None:
    """Bytecode may hold any bytes as the name of a kernel's file."""
    data = tilewright.write_bytecode(
        tilewright.read(DEBUG.replace("BODY", "addf %a, %a : tile<f32>"))
    )
    (folder / "odd").write_bytes(data.replace(b"/folder/kernel", b"/folder/\xff\xfe\xe0nel"))
    code, out, err = run("odd", GPU, "-o", "k", "--remarks=all", tool="tileiras")
    assert (code, err) == (0, "")
    assert r"/folder/\udcff\udcfe\udce0nel.py" in out
    options = ["--remark-format=yaml", "--remarks-output-file=r.yaml"]
    assert run("odd", GPU, "-o", "k", "--remarks=all", *options, tool="tileiras").code == 0
    assert r"\udcff" in (folder / "r.yaml").read_text()


PAST_THE_END = """\
%past = constant <i32: 9> : tile<i32>
    %tile = constant <f32: 1.0> : tile<8xf32>
    %0 = extract %tile[%past] : tile<8xf32> -> tile<4xf32>"""
WARNING = re.compile(
    # A cached diagnostic has lost the function.
    r'loc\("/folder/kernel\.py":7:5\)(?: in f)?: (\w+): '
    r"'cuda_tile\.extract' op expected index 0 in 0 to 1, got 9\n"
)


@pytest.fixture
def warned(folder: Path) -> str:
    unverified(folder / "warned", DEBUG.replace("%0 = BODY", PAST_THE_END))
    return "warned"


@pytest.mark.parametrize("cache", ["0", "1"])
def test_warnings_are_printed_again_by_a_cached_compilation(
    run: Run, folder: Path, warned: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", cache)
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    for _ in range(2):
        code, out, err = run(warned, GPU, "-o", "k", tool="tileiras")
        assert (code, out, WARNING.sub(r"\1", err)) == (0, "", "warning")
    assert run(warned, GPU, "-o", "k", "-w", tool="tileiras") == (0, "", "")
    assert run(warned, GPU, "-o", "k", "-w", "--Werror", tool="tileiras") == (0, "", "")


@pytest.mark.parametrize("cache", ["0", "1"])
def test_with_werror_a_warning_is_an_error(
    run: Run, folder: Path, warned: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", cache)
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "cache"))
    for _ in range(2):
        code, out, err = run(warned, GPU, "-o", "k", "--Werror", tool="tileiras")
        assert (code, out, WARNING.sub(r"\1", err)) == (5, "", "error")
    assert not (folder / "k").exists()
    assert run("good.tileirbc", GPU, "-o", "k", "--Werror", tool="tileiras") == (0, "", "")


def test_an_unwritable_cache_is_no_error_of_the_program(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(folder / "good.mlir"))
    code, _, err = run("good.tileirbc", GPU, "-o", "made", "--Werror", tool="tileiras")
    assert code == 0
    assert err.startswith("warning: the cache ")


def test_compile_prints_warnings_about_the_program(run: Run, warned: str) -> None:
    code, _, err = run("compile", warned, "-o", "k.ptx")
    assert code == 0
    assert "warning: 'cuda_tile.extract' op expected index 0 in 0 to 1, got 9" in err
