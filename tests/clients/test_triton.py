"""Triton's back ends for Tile IR: Triton-to-tile-IR, FlagTree, and the one in Meta's Triton.

They start `$TRITON_TILEIRAS_PATH/tileiras`, else one of a toolkit or of the path, with standard
error in a file. Of a failure they read that file: two messages say that a configuration takes too
much memory, and a tuner leaves it out; with anything else the tuner fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.assembly import parse_module
from tilewright.emit.note import own_note, read_note

COMMAND = ("--gpu-name=sm_90", "--opt-level=3")
OWN = {"TILEWRIGHT_CACHE": "0", "TILEWRIGHT_CACHE_DIR": "/nowhere"}
"""Variables without which the caches of the user are used; clients may clear all others."""


class OutOfResources(NamedTuple):
    """What a tuner takes from standard error to leave a configuration out."""

    resource: str
    required: int
    limit: int


def read_failure(log: str) -> OutOfResources | None:
    """Read what their tuners read; None is an error of the program or the compiler."""
    if "uses too much shared data" in log:
        sizes = re.search(r"0x([0-9a-f]+) bytes, 0x([0-9a-f]+) max", log, re.I)
        if sizes is not None:
            return OutOfResources("shared memory", int(sizes[1], 16), int(sizes[2], 16))
    sizes = re.search(r"allocated tmem out of resource:\s*(\d+)\s*vs\s*(\d+)", log)
    return OutOfResources("tensor memory", int(sizes[1]), int(sizes[2])) if sizes else None


CALLS = {
    "Meta": ((), {}),
    "Triton-to-tile-IR": (("--lineinfo",), {"CUDA_HOME": "/nowhere"}),
}
"""Options, and all of the environment. Triton-to-tile-IR names the folder above that of the
compiler as the toolkit, which ours is not."""


@pytest.mark.parametrize(("options", "environment"), CALLS.values(), ids=CALLS)
def test_the_command_line(
    tileiras, kernel: Path, options: tuple[str, ...], environment: Mapping[str, str]
) -> None:
    cubin = kernel.with_suffix(".cubin")
    words = (*COMMAND, *options, str(kernel), "-o", str(cubin))
    done = tileiras(*words, env={**OWN, **environment})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_note(cubin.read_bytes()) == own_note()


def test_a_wrong_program_is_no_reason_to_prune(tileiras, kernel: Path) -> None:
    text = "cuda_tile.module @m {\nentry @f() {\n%0 = iota : tile<8xf32>\nreturn\n}\n}"
    kernel.write_bytes(write_bytecode(parse_module(text, "text")))
    done = tileiras(*COMMAND, str(kernel), "-o", "cubin")
    assert done.returncode != 0
    assert done.stderr
    assert read_failure(done.stderr) is None


def test_the_version_is_a_cache_key(tileiras) -> None:
    first, second = (tileiras("--version") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    assert own_note().digest in first.stdout


def test_its_own_finder(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not importlib.util.find_spec("triton"):
        pytest.skip("Triton is not installed")
    if not importlib.util.find_spec("triton.backends.tileir"):
        pytest.skip("the installed Triton has no back end for Tile IR")
    monkeypatch.setenv("TRITON_TILEIRAS_PATH", str(tools))
    settings = importlib.import_module("triton.backends.tileir.conf").TileIREnvConf
    assert settings.get_tileiras_path() == str(tools / "tileiras")
