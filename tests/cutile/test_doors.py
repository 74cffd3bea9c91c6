"""The doors through which cuTile Python comes to us, with NVIDIA's packages installed or hidden.

Each test proves by the note in the cubin who made it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from cutile_doors import CLIENT, HIDING, SOURCES, kept, maker, put_on_path, python

from tilewright.emit.note import own_note

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")

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


@pytest.mark.peer
def test_without_a_door_the_cubin_is_not_ours(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(client, tmp_path / "made.cubin", cache=cache)
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") is None


def test_unmodified_script(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(*RUNNER, client, tmp_path / "made.cubin", cache=cache)
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()
    assert kept(cache) == [(tmp_path / "made.cubin").read_bytes()]


def test_unmodified_module(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(
        *RUNNER, "-m", "client", tmp_path / "made.cubin", cache=cache, PYTHONPATH=paths(client)
    )
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()


def paths(client: Path) -> str:
    return f"{SOURCES}:{client.parent}"


def test_one_line_in_the_program(client: Path, cache: Path, tmp_path: Path) -> None:
    client.write_text(ENABLING + CLIENT)
    done = python(client, tmp_path / "made.cubin", cache=cache)
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()


def test_path_where_nvidias_packages_are_absent(client: Path, cache: Path, tmp_path: Path) -> None:
    client.write_text(HIDING + CLIENT)
    done = python(client, tmp_path / "made.cubin", cache=cache, PATH=put_on_path(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()


@pytest.mark.peer
def test_nvidias_packages_come_before_the_path(client: Path, cache: Path, tmp_path: Path) -> None:
    done = python(client, tmp_path / "made.cubin", cache=cache, PATH=put_on_path(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    assert maker(tmp_path / "made.cubin") is None


@pytest.mark.peer
def test_compilers_do_not_share_cubins(client: Path, cache: Path, tmp_path: Path) -> None:
    for door in ((), RUNNER):
        done = python(*door, client, tmp_path / "made.cubin", cache=cache)
        assert done.returncode == 0, done.stderr
    cubins = kept(cache)
    assert len(cubins) == 2
    assert maker(tmp_path / "made.cubin") == own_note()


def changed_compiler(folder: Path) -> Path:
    """A copy of the compiler that differs by one line."""
    package = folder / "tilewright"
    shutil.copytree(SOURCES / "tilewright", package, ignore=shutil.ignore_patterns("__pycache__"))
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


def test_one_line_of_the_compiler_changes_what_cutile_keeps_in_process(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    client.write_text(ENABLING + COUNTING + CLIENT)
    compilers = [SOURCES, SOURCES, changed_compiler(tmp_path / "changed")]
    counts: list[int] = []
    makers: list[object] = []
    for sources in compilers:
        done = python(client, tmp_path / "made.cubin", cache=cache, sources=sources)
        assert done.returncode == 0, done.stderr
        counts.append(done.stdout.count("compiled"))
        makers.append(maker(tmp_path / "made.cubin"))
    assert counts == [1, 0, 1]
    assert makers[0] == makers[1] == own_note()
    assert makers[2] not in (None, own_note())


def test_one_line_of_the_compiler_changes_what_cutile_keeps_on_the_path(
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
    raise Unsupported("sums", next(
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


def test_errors_on_the_path_have_the_place_in_the_kernel(
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
    for words in ("CompilerExecutionError", f'"{client}":{line}:', "in add", "unsupported: sums"):
        assert words in done.stdout


SPAWNING = """
import multiprocessing, subprocess
from client import export

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=export, args=(sys.argv[1],))
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", f"import client; client.export({sys.argv[2]!r}, 128)"])
"""


def test_processes_that_a_program_starts_come_to_us_too(
    client: Path, cache: Path, tmp_path: Path
) -> None:
    script = tmp_path / "starts.py"
    script.write_text("import sys" + SPAWNING)
    spawned, called = tmp_path / "spawned.cubin", tmp_path / "called.cubin"
    done = python(*RUNNER, script, spawned, called, cache=cache, PYTHONPATH=paths(client))
    assert done.returncode == 0, done.stderr
    assert maker(spawned) == maker(called) == own_note()


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


def test_what_a_program_puts_into_its_environment_holds(client: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    client.write_text(f"import os\nos.environ['CUDA_TILE_CACHE_DIR'] = {str(other)!r}\n{CLIENT}")
    done = python(*RUNNER, client, tmp_path / "made.cubin", cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert len(kept(other)) == 1


def test_an_import_that_fails_may_be_tried_again(client: Path, cache: Path, tmp_path: Path) -> None:
    client.write_text(
        "import sys\nsys.modules['cuda.tile._stub'] = None\n"
        "try:\n    import cuda.tile\nexcept ImportError:\n    print('failed')\n"
        f"del sys.modules['cuda.tile._stub']\n{CLIENT}"
    )
    done = python(*RUNNER, client, tmp_path / "made.cubin", cache=cache)
    assert done.stdout == "failed\n", done.stderr
    assert maker(tmp_path / "made.cubin") == own_note()


def test_other_versions_of_cutile_are_refused_by_name(cache: Path, tmp_path: Path) -> None:
    package = tmp_path / "cuda" / "tile"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '99.1'\n")
    script = tmp_path / "script.py"
    script.write_text("import cuda.tile\n")
    done = python(*RUNNER, script, cache=cache)
    assert done.returncode == 1
    assert done.stderr.endswith("unsupported: cuTile Python 99.1 (known: 1.7.0)\n")


MIRROR = """
import __main__, pickle, sys
class Thing: pass
print(sys.argv, __name__, __main__.__file__, __main__.__spec__ is None, __main__.Thing is Thing)
print(type(pickle.loads(pickle.dumps(Thing()))) is Thing, sys.path[0], __doc__, __builtins__)
"""


def test_a_program_sees_what_python_would_show_it(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "mirror.py"
    script.write_text('"""Words."""\n' + MIRROR)
    words = (script, "--help", "-m", "x", "--on", "cpu")
    assert python(*RUNNER, *words, cache=cache).stdout == python(*words, cache=cache).stdout
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "__main__.py").write_text("import sys\nprint(sys.argv, sys.path[0], __name__)")
    assert (
        python(*RUNNER, folder, "a", cache=cache).stdout == python(folder, "a", cache=cache).stdout
    )


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("raise SystemExit(7)", 7),
        ("import sys; sys.exit('words')", 1),
        ("raise ValueError", 1),
        ("this is no Python", 1),
        ("pass", 0),
    ],
)
def test_exit_codes_are_those_of_python(
    program: str, code: int, cache: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(program)
    own = python(script, cache=cache)
    done = python(*RUNNER, script, cache=cache)
    assert done.returncode == own.returncode == code
    assert done.stderr.splitlines()[-1:] == own.stderr.splitlines()[-1:]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a script or '-m' and a module"),
        (["--on"], "expected a value behind '--on'"),
        (["--on", "moon", "x.py"], "expected '--on' gpu or cpu, found 'moon'"),
        (["-m"], "expected a value behind '-m'"),
        (["--of", "x.py"], "unknown option '--of'"),
        (["missing.py"], "cannot open 'missing.py': there is no such file"),
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


def test_kernels_on_the_cpu(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import cuda.tile as ct\nimport numpy as np\n"
        "@ct.kernel\ndef fill(y, n):\n    ct.scatter(y, ct.bid(0), n)\n"
        "y = np.zeros(3, np.int32)\nct.launch(None, (3,), fill, (y, 5))\nprint(y.tolist())\n"
    )
    done = python(*RUNNER, "--on=cpu", script, cache=cache)
    assert done.stdout == "[5, 5, 5]\n", done.stderr
