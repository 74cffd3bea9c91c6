"""The wheel and the sdist: what they contain, and that an installed wheel works."""

from __future__ import annotations

import subprocess
import tarfile
from email.parser import BytesParser
from pathlib import Path

import numpy as np
import pytest
from built_packages import (
    ROOT,
    SECONDS,
    build,
    build_backend,
    clean_variables,
    contents,
    empty_environment,
    unpack,
)

import tilewright
from tilewright.driver.examples import EXAMPLES
from tilewright.support.identity import identity

PACKAGE = ROOT / "src" / "tilewright"

VECTORS = ("--grid", "4", "--arg", "iota:64xf32", "--arg", "ones:64xf32")

# `sin` is a function of libdevice.
SINE = """\
entry @sine(%p: tile<ptr<f32>>, %x: tile<f32>) {
  %y = sin %x : tile<f32>
  %t = store_ptr_tko weak %p, %y : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return build_backend(tmp_path_factory.mktemp("backend"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, backend: dict[str, str]) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"), backend)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory, backend: dict[str, str]) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"), backend)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    return empty_environment(tmp_path_factory.mktemp("environment"), wheel)


def sources() -> dict[str, bytes]:
    """The files of the package and the examples, by their names in the wheel."""
    files = {
        f"tilewright/{path.relative_to(PACKAGE).as_posix()}": path
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    files |= {f"tilewright/examples/{name}": ROOT / "examples" / name for name in EXAMPLES}
    return {name: path.read_bytes() for name, path in files.items()}


def test_the_table_of_examples_is_complete() -> None:
    assert sorted(EXAMPLES) == sorted(path.name for path in (ROOT / "examples").iterdir())


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    files = contents(wheel)
    start = f"tilewright-{tilewright.__version__}.dist-info/"
    metadata = {name.removeprefix(start) for name in files if name.startswith(start)}
    assert metadata == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert files[f"{start}licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    packaged = {name: data for name, data in files.items() if not name.startswith(start)}
    expected = sources()
    assert packaged.keys() == expected.keys()
    assert packaged == expected
    needed = ("py.typed", "explain/page.css", "explain/page.js", "examples/add.mlir")
    assert packaged.keys() >= {f"tilewright/{name}" for name in needed}


def test_the_metadata_of_the_wheel(wheel: Path) -> None:
    start = f"tilewright-{tilewright.__version__}.dist-info"
    facts = BytesParser().parsebytes(contents(wheel)[f"{start}/METADATA"])
    assert facts["Version"] == tilewright.__version__
    assert facts["License-Expression"] == "Apache-2.0 WITH LLVM-exception"
    assert facts["License-File"] == "LICENSE"
    extras = {"cutile", "dev", "docs", "gpu", "lsp", "ray", "samples", "triton", "tune"}
    assert set(facts.get_all("Provides-Extra", [])) == extras


def test_the_sdist_builds_the_same_wheel(
    wheel: Path, sdist: Path, tmp_path: Path, backend: dict[str, str]
) -> None:
    folder = unpack(sdist, tmp_path / "unpacked")
    again = build("wheel", folder, tmp_path / "wheel", backend)
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_the_sdist_has_what_contributors_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "tests/conftest.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".ci", "dist/", "build/"))]
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.exhaustive
def test_an_installed_wheel_works(programs: Path, tmp_path: Path) -> None:
    """In a folder that is not the checkout, from an environment that has nothing else."""

    def command(*arguments: str, tool: str = "tilewright") -> str:
        done = subprocess.run(
            [programs / tool, *arguments], cwd=tmp_path, env=clean_variables(tmp_path),
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    site = str(programs.parent)
    assert command("-c", "import tilewright; print(tilewright.__file__)", tool="python").startswith(
        site
    )
    versions = command("--version").splitlines()
    assert versions[0] == f"tilewright {tilewright.__version__}"
    assert all(site in line for line in versions[2:]), versions
    command("examples", "-o", "kernels")
    assert sorted(path.name for path in (tmp_path / "kernels").iterdir()) == sorted(EXAMPLES)
    command("compile", "kernels/add.mlir", "-o", "add.cubin")
    assert (tmp_path / "add.cubin").read_bytes().startswith(b"\x7fELF")
    (tmp_path / "sine.mlir").write_text(SINE)
    assert ".entry sine" in command("compile", "sine.mlir", "--emit", "ptx")
    for device in ("cpu", "emulator"):
        outputs = ("--arg", f"{device}.npy=zeros:64xf32", "--arg", "64")
        command("run", "kernels/add.mlir", "--on", device, *VECTORS, *outputs)
        assert np.load(tmp_path / f"{device}.npy").tolist() == [i + 1 for i in range(64)]
    assert "kernel add at kernels/add.mlir:3" in command("explain", "kernels/add.mlir")
    command("explain", "kernels/add.mlir", "--html", "add.html")
    page = (tmp_path / "add.html").read_text()
    assert (PACKAGE / "explain" / "page.js").read_text().strip()[:40] in page
    assert "vector-alignment" in command("remarks", "vector-alignment")
    assert "_tilewright" in command("completion", "bash")
    assert "Tilewright" in command("--version", tool="tileiras")
    assert "tileirdisasm" in command("--help", tool="tileirdisasm")
    digest = "from tilewright.support.identity import identity; print(identity())"
    assert command("-c", digest, tool="python").strip() == identity()
