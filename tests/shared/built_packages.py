"""Build the wheel and the sdist, and install a wheel into an empty environment, offline."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SECONDS = 600
"""A guard against a process that never ends."""


def build_backend(folder: Path) -> dict[str, str]:
    """The environment in which hatchling can be imported.

    The extra `dev` has hatchling. An environment that was set up before it had gets it from the
    package index.
    """
    if find_spec("hatchling") is not None:
        return dict(os.environ)
    target = folder / "hatchling"
    command = ["pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(target)]
    run_python([*command, "hatchling>=1.27"])
    paths = [str(target), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run_python(
    arguments: list[str], folder: Path = ROOT, variables: dict[str, str] | None = None
) -> None:
    """Run a module of Python; its output is the message if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, env=variables,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def build(kind: str, source: Path, target: Path, backend: dict[str, str]) -> Path:
    """Build the wheel or the sdist of a folder of sources, with the backend of `pip install`."""
    target.mkdir(parents=True, exist_ok=True)
    run_python(["hatchling", "build", "-t", kind, "-d", str(target)], source, backend)
    (built,) = target.iterdir()
    return built


def unpack(sdist: Path, target: Path) -> Path:
    """Unpack an sdist, but for its tests, which no build needs, and return the folder in it."""
    with tarfile.open(sdist) as archive:
        members = [each for each in archive if each.name.split("/")[1:2] != ["tests"]]
        archive.extractall(target, members, filter="data")
    (folder,) = target.iterdir()
    return folder


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def empty_environment(folder: Path, wheel: Path) -> Path:
    """Install a wheel and what it requires into a new environment; return its folder of programs.

    Requirements are links to the files of this environment, so that nothing is downloaded, and
    nothing else of this environment can be imported.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]
    run_python(["pip", "--python", str(python), "install", *options, str(wheel)])
    (site,) = folder.glob("lib/python*/site-packages")
    (metadata,) = site.glob("tilewright-*.dist-info")
    for each in requirements_of(Distribution.at(metadata)):
        link_distribution(each, site)
    run_python(["pip", "--python", str(python), "check", "--disable-pip-version-check"])
    return folder / "bin"


def requirements_of(first: Distribution) -> Iterator[Distribution]:
    """Yield what a distribution requires, directly or not, without extras."""
    pending, seen = [first], {first.name}
    while pending:
        for text in pending.pop().requires or ():
            requirement = Requirement(text)
            unwanted = requirement.marker is not None and not requirement.marker.evaluate(
                {"extra": ""}
            )
            if unwanted or requirement.name in seen:
                continue
            seen.add(requirement.name)
            required = distribution(requirement.name)
            pending.append(required)
            yield required


def link_distribution(installed: Distribution, site: Path) -> None:
    """Link the files of an installed distribution into a folder of packages."""
    for file in installed.files or ():
        # Programs are outside the folder of packages, and not needed.
        if ".." in file.parts:
            continue
        source, target = Path(str(file.locate())), site / file
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)


def clean_variables(home: Path) -> dict[str, str]:
    """An environment without the variables of this process, which may name the checkout."""
    path = os.pathsep.join(("/usr/bin", "/bin"))
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}
