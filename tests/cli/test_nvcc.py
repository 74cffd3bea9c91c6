"""`tilewright nvcc` with an nvcc that only shows what it is given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.driver.nvcc import toolkit
from tilewright.driver.nvcc.shadow import PREFIX
from tilewright.driver.nvcc.toolkit import find_nvcc
from tilewright.support.diagnostics import Unsupported
from tilewright.support.identity import identity

STAND_IN = """\
#!/bin/sh
here=$(dirname "$0")
case "$1" in
--version) echo "Cuda compilation tools, release RELEASE, V13.9.1" ;;
compiler) "$here/tileiras" --version ;;
profile) cat "$here/nvcc.profile"; ls "$here" "$here/.." ;;
fail) echo "k.cu(3): error: no" >&2; exit 7 ;;
wait) echo "$here" > where.new; mv where.new where; exec sleep 600 ;;
*) printf '<%s>' "$@" ;;
esac
"""


def make_toolkit(root: Path, release: str = "13.9") -> Path:
    """A toolkit folder whose nvcc is a shell script; returns its nvcc."""
    tools = root / "bin"
    tools.mkdir(parents=True)
    (root / "include").mkdir()
    (tools / "nvcc.profile").write_text("TOP = $(_HERE_)/..\nINCLUDES += -I$(TOP)/include\n")
    for name, text in {"nvcc": STAND_IN, "tileiras": "#!/bin/sh\necho theirs\n"}.items():
        (tools / name).write_text(text.replace("RELEASE", release))
        (tools / name).chmod(0o755)
    return tools / "nvcc"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = make_toolkit(tmp_path / "a toolkit")
    monkeypatch.setenv("TILEWRIGHT_NVCC", str(path))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["-x", "a b", "", "--", "-o"],
        ["k.cu", "--help"],
        ["-h", "-O3"],
        ["help"],
    ],
)
def test_arguments_are_passed_as_they_are(run: Run, stand_in: Path, words: Sequence[str]) -> None:
    assert run("nvcc", *words) == (0, "".join(f"<{word}>" for word in words), "")


def test_output_and_exit_code_are_those_of_nvcc(run: Run, stand_in: Path, temporary: Path) -> None:
    assert run("nvcc", "fail") == (7, "", "k.cu(3): error: no\n")
    assert not list(temporary.iterdir())


def test_nvcc_starts_our_compiler(run: Run, stand_in: Path, temporary: Path) -> None:
    code, out, err = run("nvcc", "compiler")
    assert (code, err) == (0, "")
    assert identity() in out
    assert not list(temporary.iterdir())


def test_headers_are_those_of_the_toolkit(run: Run, stand_in: Path) -> None:
    """Dependency files name them, after the links are gone."""
    out = run("nvcc", "profile").out.split("\n")
    assert f"TOP = {stand_in.parent.parent}" in out
    assert {"nvcc", "nvcc.profile", "tileiras", "bin", "include"} <= set(out)


def test_the_function_returns_the_output(stand_in: Path, tmp_path: Path) -> None:
    done = tilewright.nvcc([tmp_path / "k.cu", "-c"], capture=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"<{tmp_path}/k.cu><-c>", "")


def test_help_is_ours_only_if_it_is_the_only_argument(run: Run) -> None:
    code, out, err = run("nvcc", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: tilewright nvcc ARGS...")
    assert "nvcc --help" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_files(
    stand_in: Path, temporary: Path, tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "tilewright", "nvcc", "wait"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    while not (tmp_path / "where").exists():
        assert process.poll() is None
        time.sleep(0.01)
    [folder] = temporary.iterdir()
    assert folder.name.startswith(PREFIX)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (128 + number, b"")
    assert not list(temporary.iterdir())


def test_without_space_for_links(
    run: Run, stand_in: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "symlink", full)
    code, out, err = run("nvcc", "k.cu")
    assert (code, out) == (2, "")
    assert err.startswith("tilewright: error: cannot make a toolkit in ")
    assert err.endswith(": No space left on device\n")
    assert not list(temporary.iterdir())


class TestSearch:
    @pytest.fixture(autouse=True)
    def _nothing_installed(self, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
        for name in ("TILEWRIGHT_NVCC", "CUDA_HOME", "CUDA_PATH"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        monkeypatch.setattr(toolkit, "wheel_folders", list)
        # Not the default folder of this machine, but those of the variables.
        folders = toolkit.toolkit_folders
        monkeypatch.setattr(toolkit, "toolkit_folders", lambda: [*folders()[:-1], "/nowhere"])

    def test_the_order(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        paths = {name: make_toolkit(tmp_path / name) for name in "vhpwd"}
        default = str(tmp_path / "d")
        named = toolkit.toolkit_folders
        monkeypatch.setattr(toolkit, "toolkit_folders", lambda: [*named()[:-1], default])
        assert find_nvcc().path == str(paths["d"])
        monkeypatch.setenv("PATH", f"{tmp_path / 'p' / 'bin'}:/usr/bin:/bin")
        assert find_nvcc().path == str(paths["p"])
        monkeypatch.setattr(toolkit, "wheel_folders", lambda: [str(tmp_path / "w")])
        assert find_nvcc().path == str(paths["w"])
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / "h"))
        assert find_nvcc().path == str(paths["h"])
        monkeypatch.setenv("TILEWRIGHT_NVCC", str(paths["v"]))
        assert find_nvcc().path == str(paths["v"])

    def test_old_releases_are_skipped(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_toolkit(tmp_path / "old", "13.2")
        new = make_toolkit(tmp_path / "new", "13.3")
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / "old"))
        monkeypatch.setenv("CUDA_PATH", str(tmp_path / "new"))
        assert find_nvcc() == (str(new), str(new.parent), (13, 3))

    def test_old_releases_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = make_toolkit(tmp_path / "old", "12.9")
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / "old"))
        with pytest.raises(Unsupported) as raised:
            find_nvcc()
        assert f"expected nvcc 13.3 or later, found '{path}' (release 12.9);" in str(raised.value)

    def test_what_is_no_nvcc(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "nvcc").write_text("not a program")
        monkeypatch.setenv("TILEWRIGHT_NVCC", str(tmp_path / "nvcc"))
        with pytest.raises(Unsupported, match=r"nvcc' \(no release of nvcc\);"):
            find_nvcc()

    def test_nothing(self, run: Run) -> None:
        code, out, err = run("nvcc", "k.cu")
        assert (code, out) == (3, "")
        assert "expected nvcc 13.3 or later, found none; install" in err

    def test_a_script_that_runs_ours(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It does not find itself, but the nvcc after it."""
        script = tmp_path / "nvcc"
        command = f'"{sys.executable}" -m tilewright nvcc'
        script.write_text(f'#!/bin/sh\necho >> {tmp_path}/runs\nexec {command} "$@"\n')
        script.chmod(0o755)
        path = make_toolkit(tmp_path / "real")
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(toolkit, "toolkit_folders", lambda: [str(tmp_path / "real")])
        assert find_nvcc().path == str(path)
        assert (tmp_path / "runs").read_text() == "\n"

    def test_a_script_before_nvcc(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Distributions have them; the toolkit is that of the nvcc that it runs."""
        path = make_toolkit(tmp_path / "real")
        path.write_text(
            path.read_text().replace("*)", f'--dryrun) echo "#$ _HERE_={path.parent}" >&2 ;;\n*)')
        )
        script = tmp_path / "nvcc"
        script.write_text(f'#!/bin/sh\nexec "{path}" "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("TILEWRIGHT_NVCC", str(script))
        assert find_nvcc().folder == str(path.parent)
