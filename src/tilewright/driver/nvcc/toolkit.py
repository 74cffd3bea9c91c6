"""Locate nvcc and the toolkit that it belongs to."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from typing import Final, NamedTuple

from tilewright.emit.toolchain import chosen_file, on_the_path, toolkit_folders, wheel_folders
from tilewright.support.diagnostics import Unsupported

NVCC_VARIABLE: Final = "TILEWRIGHT_NVCC"
OLDEST: Final = (13, 3)
"""The first release with `--enable-tile`."""
PROFILE: Final = "nvcc.profile"
"""The settings of nvcc, in the folder of the executable."""

_INSIDE: Final = os.path.join("bin", "nvcc")
_RELEASE: Final = re.compile(r"\brelease (\d+)\.(\d+)\b")
_HERE: Final = re.compile(r"^#\$ _HERE_=(.+)$", re.MULTILINE)
_PROBED: Final = "TILEWRIGHT_PROBED_NVCC"
"""Set for programs that may be an nvcc. A script that runs `tilewright nvcc` would else find
itself, without end."""
_SECONDS: Final = 120
"""After this time a program that answers neither is no nvcc."""


class Nvcc(NamedTuple):
    """An nvcc that compiles CUDA Tile C++."""

    path: str
    folder: str
    """The folder of the executable and its profile: `bin` of the toolkit."""
    version: tuple[int, int]


def find_nvcc() -> Nvcc:
    """Locate nvcc: TILEWRIGHT_NVCC, CUDA_HOME, CUDA_PATH, a wheel, the path, /usr/local/cuda.

    Those without CUDA Tile C++ are skipped; without any other, `Unsupported` lists them.
    """
    if os.name == "nt":
        raise Unsupported("nvcc on Windows")
    if probed := os.environ.get(_PROBED):
        raise Unsupported(f"'{probed}' as nvcc, since it runs `tilewright nvcc`")
    chosen = chosen_file(NVCC_VARIABLE)
    skipped: list[str] = []
    for path in dict.fromkeys([chosen] if chosen else _candidates()):
        version = _version(path)
        if version is not None and version >= OLDEST and (folder := _folder(path)):
            return Nvcc(path, folder, version)
        release = "no release of nvcc" if version is None else f"release {_spell(version)}"
        skipped.append(f"'{path}' ({release})")
    actual = f", found {', '.join(skipped)}" if skipped else ", found none"
    raise Unsupported(
        f"CUDA Tile C++ without its compiler: expected nvcc {_spell(OLDEST)} or later{actual}; "
        f"install the package nvidia-cuda-nvcc, or name an nvcc in {NVCC_VARIABLE}"
    )


def _candidates() -> Iterator[str]:
    named, default = toolkit_folders()[:-1], toolkit_folders()[-1:]
    folders = [*named, *wheel_folders()]
    paths = [os.path.join(folder, _INSIDE) for folder in folders]
    if path := on_the_path("nvcc"):
        paths.append(path)
    paths += [os.path.join(folder, _INSIDE) for folder in default]
    return filter(os.path.isfile, paths)


def _spell(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _answer(path: str, *arguments: str) -> str:
    """Run a program that may be anything; return what it prints."""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, _PROBED: path},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(done.stdout + done.stderr)


def _version(path: str) -> tuple[int, int] | None:
    release = _RELEASE.search(_answer(path, "--version"))
    return None if release is None else (int(release[1]), int(release[2]))


def _folder(path: str) -> str:
    """Return the folder of the real nvcc; empty if unknown. A script may stand before it."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isfile(os.path.join(folder, PROFILE)):
        return folder
    named = _HERE.search(_answer(path, "--dryrun", "nothing.cu"))
    return os.path.abspath(named[1]) if named is not None else ""
