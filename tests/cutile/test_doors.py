"""The entry points of cuTile Python, with NVIDIA's packages installed or hidden.

Each test checks the compiler by the note in the cubin.
"""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest
from cutile_doors import CLIENT, HIDING, SOURCES, kept, maker, put_on_path, python
from repeats import EXHAUSTIVE

from tilewright.emit.note import Note, own_note
from tilewright.emit.toolchain import find_ptxas
from tilewright.support.identity import digest_of

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

DEVICE_PROBE = """
import cuda.tile
import cuda.tile._compile as compiler
def show():
    ours = (each.__module__.startswith("tilewright") for each in (
        cuda.tile.launch, compiler._get_compiler_version_string))
    print(*ours, flush=True)
"""
ON_GPU = "False True\n"
"""What it shows where our compiler makes the kernels that cuTile launches."""
ON_CPU = "True False\n"
ENABLING = "import tilewright.cutile\ntilewright.cutile.enable()\n"
RUNNER = ("-m", "tilewright.cutile")


@pytest.fixture
def client(tmp_path: Path) -> Path:
    path = tmp_path / "client.py"
    path.write_text(CLIENT)
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_unmodified_script(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(*RUNNER, client, tmp_path / "made.cubin", cache=cache)
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()
    assert kept(cache) == [(tmp_path / "made.cubin").read_bytes()]


def test_unmodified_module(client: Path, cache: Path, tmp_path: Path) -> None:
    """The changes that it makes to its environment are kept."""
    other = tmp_path / "other"
    client.write_text(f"import os\nos.environ['CUDA_TILE_CACHE_DIR'] = {str(other)!r}\n{CLIENT}")
    done = python(
        *RUNNER, "-m", "client", tmp_path / "made.cubin", cache=cache, PYTHONPATH=paths(client)
    )
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()
    assert len(kept(other)) == 1
    assert not cache.exists()


def paths(client: Path) -> str:
    return f"{SOURCES}:{client.parent}"


def test_path_where_nvidias_packages_are_absent(client: Path, cache: Path, tmp_path: Path) -> None:
    client.write_text(HIDING + CLIENT)
    path = put_on_path(tmp_path / "bin")
    done = python(client, tmp_path / "made.cubin", cache=cache, PATH=path, CUDA_TILE_LOGS="TILEIR")
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()
    # Our `tileirdisasm` shows the program.
    assert "addf" in done.stderr


@pytest.mark.peer
def test_nvidias_packages_come_before_the_path(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(client, tmp_path / "made.cubin", cache=cache, PATH=put_on_path(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") is None


@pytest.mark.peer
def test_compilers_do_not_share_cubins(client: Path, cache: Path, tmp_path: Path) -> None:
    """Without an entry point the cubin is not ours."""
    for door, note in (((), None), (RUNNER, own_note())):
        done = python(*door, client, tmp_path / "made.cubin", cache=cache)
        assert done.returncode == 0, done.stderr
        assert maker(tmp_path / "made.cubin") == note
    assert len(kept(cache)) == 2


def changed_compiler(folder: Path) -> Path:
    """Copy the compiler and change one line."""
    package = folder / "tilewright"
    # With the bytecode of all modules that stay the same: it keeps their times.
    shutil.copytree(SOURCES / "tilewright", package)
    changed = package / "transforms" / "__init__.py"
    changed.write_text(changed.read_text() + "# one line more\n")
    return folder


COUNTING = """
import tilewright.cutile.compiling as compiling
own = compiling.compile_file
def compile_file(words):
    print("compiled")
    own(words)
compiling.compile_file = compile_file
"""
EDITING = """
import sys
if "edit" in sys.argv:
    import tilewright.transforms
    with open(tilewright.transforms.__file__, "a") as file:
        file.write("# one line more")
"""


def test_a_change_of_the_compiler_invalidates_the_cache_in_process(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    client.write_text(ENABLING + COUNTING + EDITING + CLIENT)
    changed = changed_compiler(tmp_path / "changed")
    before = digest_of(str(changed / "tilewright"))
    counts: list[int] = []
    makers: list[Note] = []
    for words, sources in (([], SOURCES), ([], SOURCES), (["edit"], changed)):
        done = python(client, tmp_path / "made.cubin", *words, cache=cache, sources=sources)
        assert done.returncode == 0, done.stderr
        counts.append(done.stdout.count("compiled"))
        note = maker(tmp_path / "made.cubin")
        assert note is not None
        makers.append(note)
    assert counts == [1, 0, 1]
    assert makers[0] == makers[1] == own_note()
    # A change while a program runs affects the next one.
    assert makers[2].digest == before != own_note().digest
    assert before != digest_of(str(changed / "tilewright"))


# Variants of the test above: what invalidates the cache, and whose cache it is.
@EXHAUSTIVE
def test_another_ptxas_invalidates_the_cache(client: Path, cache: Path, tmp_path: Path) -> None:
    client.write_text(ENABLING + COUNTING + CLIENT)
    other = tmp_path / "ptxas"
    other.write_text(f'#!/bin/sh\nexec "{find_ptxas()}" "$@"\n')
    other.chmod(0o755)
    counts: list[int] = []
    for ptxas in ("", "", str(other)):
        done = python(client, tmp_path / "made.cubin", cache=cache, TILEWRIGHT_PTXAS=ptxas)
        assert done.returncode == 0, done.stderr
        counts.append(done.stdout.count("compiled"))
    assert counts == [1, 0, 1]


@EXHAUSTIVE
def test_a_change_of_the_compiler_invalidates_the_cache_on_the_path(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    client.write_text(HIDING + CLIENT)
    log = tmp_path / "log"
    log.touch()
    path = put_on_path(tmp_path / "bin", log)
    counts: list[int] = []
    versions: list[str] = []
    for sources in (SOURCES, SOURCES, changed_compiler(tmp_path / "changed")):
        before = len(log.read_text().splitlines())
        done = python(client, tmp_path / "made.cubin", cache=cache, sources=sources, PATH=path)
        assert done.returncode == 0, done.stderr
        note = maker(tmp_path / "made.cubin")
        assert note is not None
        text = python("-m", "tilewright.tileiras", "--version", cache=cache, sources=sources).stdout
        assert note.digest in text
        versions.append(text)
        compiled = log.read_text().splitlines()[before:]
        counts.append(sum("lineinfo" in line for line in compiled))  # not the empty modules
    assert counts == [1, 0, 1]
    assert versions[0] == versions[1] != versions[2]


FAILING = """
from tilewright.driver.compile import Compilation
from tilewright.support.diagnostics import Unsupported
from tilewright.tileiras.__main__ import script
def to(self, stage):
    raise Unsupported("addition", next(
        op for op in self.module.walk() if op.name == "cuda_tile.addf").location)
Compilation.to = to
script()
"""
CATCHING = """
try:
    export(sys.argv[1])
except ct.TileError as error:
    print(type(error).__name__, error)
"""


def test_errors_on_the_path_have_the_location_in_the_kernel(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    client.write_text(HIDING + CLIENT.partition("if __name__")[0] + CATCHING)
    path = put_on_path(tmp_path / "bin")
    (tmp_path / "failing.py").write_text(FAILING)
    (tmp_path / "bin" / "tileiras").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path / "failing.py"}" "$@"\n'
    )
    done = python(client, tmp_path / "made.cubin", cache=cache, PATH=path)
    assert done.returncode == 0, done.stderr
    line = 1 + client.read_text().partition("    ct.store(")[0].count("\n")
    for words in (
        "CompilerExecutionError",
        f'"{client}":{line}:',
        "in add",
        "unsupported: addition",
    ):
        assert words in done.stdout


SPAWNING = """
import multiprocessing, subprocess
from probe import show

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=show)
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", "import probe; probe.show()"], check=True)
"""


def test_child_processes_use_our_compiler_too(client: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(DEVICE_PROBE)
    script = tmp_path / "starts.py"
    script.write_text("import sys" + SPAWNING)
    done = python(*RUNNER, script, cache=cache, PYTHONPATH=paths(client))
    assert (done.returncode, done.stdout) == (0, 2 * ON_GPU), done.stderr


def test_the_file_that_python_runs_first_is_still_run(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.marked = True\n")
    script = tmp_path / "starts.py"
    script.write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import sys; print(sys.marked)'], check=True)\n"
    )
    done = python(*RUNNER, script, cache=cache, PYTHONPATH=paths(client))
    assert done.stdout == "True\n", done.stderr


def test_older_pythons_can_read_the_file_that_python_runs_first() -> None:
    text = (SOURCES / "tilewright/cutile/startup/sitecustomize.py").read_text()
    ast.parse(text, feature_version=(3, 6))
    assert "__future__" not in text  # annotations are not there before 3.7


def test_a_process_that_compiles_nothing_does_not_load_the_compiler_of_cutile(
    cache: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, cuda.tile\nprint({'cuda.tile._compile', 'torch'} & {*sys.modules})"
    )
    done = python(*RUNNER, script, cache=cache)
    assert done.stdout == "set()\n", done.stderr


def test_a_failed_import_can_be_retried(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nsys.modules['cuda.tile._stub'] = None\n"
        "try:\n    import cuda.tile\nexcept ImportError:\n    print('failed')\n"
        f"del sys.modules['cuda.tile._stub']\n{DEVICE_PROBE}show()\n"
    )
    done = python(*RUNNER, script, cache=cache)
    assert done.stdout == f"failed\n{ON_GPU}", done.stderr


def test_other_versions_of_cutile_are_rejected(cache: Path, tmp_path: Path) -> None:
    package = tmp_path / "cuda" / "tile"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '99.1'\n")
    script = tmp_path / "script.py"
    script.write_text("import cuda.tile\n")
    done = python(*RUNNER, script, cache=cache)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "unsupported: cuTile Python 99.1 (known: 1.7.0): "
        "pip install 'tilewright[cutile]', or have it start tileiras from the path\n"
    )


MIRROR = """
import __main__, atexit, pickle, sys, threading
class Thing: pass
def show(when):
    print(when, type(pickle.loads(pickle.dumps(Thing()))) is Thing, vars(__main__) is globals())
print(sys.argv, __name__, __file__, __package__, __doc__, __builtins__, sys.path[0])
print(__spec__ and __spec__.name, type(__loader__).__name__, __cached__)
threading.Thread(target=lambda: (threading.main_thread().join(), show("afterwards"))).start()
atexit.register(show, "at exit")
def fail(): raise ValueError("words")
if "fail" in sys.argv: fail()
"""
ENDING = """
import os, signal, sys
if sys.argv[1:] == ["signal"]:
    os.kill(os.getpid(), signal.SIGINT)
sys.excepthook = lambda kind, error, trace: print("caught", error)
if sys.argv[1:] == ["error"]:
    raise ValueError("words")
sys.exit(7 if sys.argv[1:] == ["number"] else "words")
"""
PROGRAMS = {
    "mirror.py": '"""Words."""\n' + MIRROR,
    "folder/__main__.py": MIRROR,
    "empty/notes.txt": "",
    "package/__init__.py": "import sys\nprint(sys.argv, __name__)\n",
    "package/__main__.py": MIRROR,
    "package/part.py": MIRROR,
    "ending.py": ENDING,
    "wrong.py": "this is no Python",
    "nothing.py": "",
}


@pytest.mark.parametrize(
    "line",
    [
        "mirror.py --help -m x --on cpu",
        "mirror.py fail",
        "-m mirror --help -m x --on cpu",
        "-m mirror fail",
        "-m package fail",
        "-m package.part",
        "-m package.missing",
        "-m missing",
        "folder a",
        "folder fail",
        "empty",
        "ending.py signal",
        "ending.py error",
        "ending.py number",
        "ending.py words",
        "wrong.py",
        "-m wrong",
        "nothing.py",
    ],
)
@pytest.mark.sampled(8)
def test_a_program_runs_as_python_runs_it(line: str, cache: Path, tmp_path: Path) -> None:
    for name, text in PROGRAMS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    own = python(*line.split(), cache=cache, cwd=tmp_path)
    done = python(*RUNNER, *line.split(), cache=cache, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (own.returncode, own.stdout, own.stderr)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a script or '-m' and a module"),
        (["--on"], "expected a value after '--on'"),
        (["--on", "moon", "x.py"], "expected '--on' gpu or cpu or emulator, found 'moon'"),
        (["--seed", "7", "x.py"], "expected '--check' with '--seed'"),
        (["--check", "--seed", "x", "x.py"], "expected a number after '--seed', found 'x'"),
        (["--check", "--on", "gpu", "x.py"], "expected '--on' cpu or emulator with '--check'"),
        (["-m"], "expected a value after '-m'"),
        (["--of", "x.py"], "unknown option '--of'"),
        (["missing.py"], "cannot read 'missing.py': No such file or directory"),
    ],
)
def test_wrong_usage(words: list[str], message: str, cache: Path) -> None:
    done = python(*RUNNER, *words, cache=cache)
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: {message}\n")
    assert done.stdout == ""


def test_help(cache: Path) -> None:
    done = python(*RUNNER, "--help", cache=cache)
    assert done.returncode == 0
    for word in ("--on gpu", "--on cpu", "-m MODULE", "--help", "SCRIPT"):
        assert word in done.stdout


FILLING = """
import cuda.tile as ct
import numpy as np
@ct.kernel
def fill(y, n):
    ct.scatter(y, ct.bid(0), n)
y = np.zeros(3, np.int32)
ct.launch(None, (3,), fill, (y, 5))
print(y.tolist())
"""


RACING = """
import cuda.tile as ct
import numpy as np
@ct.kernel
def race(y):
    ct.scatter(y, 0, ct.bid(0))
y = np.zeros(1, np.int32)
ct.launch(None, (8,), race, (y,))
"""


def test_checks_on_request(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "nested.py").write_text(NESTED)
    (tmp_path / "script.py").write_text(RACING)

    def report(*words: str) -> str:
        return python(*RUNNER, *words, "script.py", cache=cache, cwd=tmp_path).stderr

    assert report("--on=cpu") == ""
    first, second = report("--check", "--seed=1"), report("--check", "--seed=2")
    for each in (first, second):
        assert "ct.scatter: races with another access to argument 'y'" in each
    # The seed decides which blocks meet first, also in a child process.
    assert first != second
    assert first in report("--check", "--seed=1", "nested.py")


NESTED = """
import subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)
"""


@pytest.mark.parametrize(("outer", "inner"), [("gpu", "cpu"), ("cpu", "gpu")])
def test_the_inner_of_two_devices_wins(outer: str, inner: str, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "nested.py").write_text(NESTED)
    (tmp_path / "probe.py").write_text(DEVICE_PROBE + "show()\n")
    words = ("--on", outer, "nested.py", *RUNNER, "--on", inner, "probe.py")
    done = python(*RUNNER, *words, cache=cache, cwd=tmp_path)
    assert done.stdout == {"gpu": ON_GPU, "cpu": ON_CPU}[inner], done.stderr


def test_kernels_and_logs_on_the_cpu_need_nothing_of_nvidias(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(HIDING + FILLING)
    done = python(*RUNNER, "--on=cpu", script, cache=cache, PATH="", CUDA_TILE_LOGS="TILEIR")
    assert done.stdout == "[5, 5, 5]\n", done.stderr
    assert "store_ptr_tko" in done.stderr
