"""A client of cuTile Python, run in a process of its own through one of the doors to a compiler."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tilewright.emit.note import Note, read_note

CLIENT = """
import sys
import cuda.tile as ct
from cuda.tile import compilation

@ct.kernel
def add(a, b, c, size: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(c, (at,), ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,)))

def array():
    return compilation.ArrayConstraint(
        ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
        may_alias_internally=False, stride_constant=(1,), base_addr_divisible_by=16)

def export(path, size=256, kernel=add):
    signature = compilation.KernelSignature(
        [array(), array(), array(), size], compilation.CallingConvention.cutile_python_v1())
    compilation.export_kernel(
        kernel, [signature], path, gpu_code="sm_90", output_format="cubin")

if __name__ == "__main__":
    export(sys.argv[1])
"""
"""Compiles a kernel for a GPU that need not be there."""

HIDING = """
import importlib.metadata as metadata
own = metadata.version
def version(name):
    if name.startswith("nvidia-"):
        raise metadata.PackageNotFoundError(name)
    return own(name)
metadata.version = version
"""
"""Make cuTile assume that NVIDIA's packages are not installed."""

TOOLS = ("tileiras", "tileirdisasm")
SOURCES = Path(__file__).parents[2] / "src"


def put_on_path(folder: Path, log: Path | None = None) -> str:
    """A PATH with our tools on it; the log gets a line for each file that is compiled."""
    folder.mkdir()
    for tool in TOOLS:
        script = folder / tool
        count = f'case "$*" in *-o*) echo "$*" >>"{log}";; esac\n' if log else ""
        script.write_text(f'#!/bin/sh\n{count}exec "{sys.executable}" -m tilewright.{tool} "$@"\n')
        script.chmod(0o755)
    return os.pathsep.join([str(folder), os.environ.get("PATH", "")])


def python(
    *words: str | Path,
    cache: Path,
    sources: Path = SOURCES,
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run Python with its own cache of cuTile and without one of ours."""
    inherited = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    environment: Mapping[str, str] = {
        **os.environ,
        "CUDA_TILE_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(sources), *map(os.path.abspath, inherited)]),
        "TILEWRIGHT_CACHE": "0",
        **variables,
    }
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def maker(cubin: Path) -> Note | None:
    """The Tilewright that made a cubin, by its note."""
    return read_note(cubin.read_bytes())


ADDING = """
import torch
x, y = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda")
z = torch.zeros_like(x)
ct.launch(torch.cuda.current_stream(), (8,), add, (x, y, z, 128))
torch.cuda.synchronize()
assert torch.equal(z, x + y)
print("added")
"""
"""A client that launches on a GPU."""


def kept(cache: Path) -> list[bytes]:
    """All cubins in a cache of cuTile."""
    with sqlite3.connect(cache / "cache.db") as database:
        return [row[0] for row in database.execute("SELECT blob FROM cache ORDER BY atime")]
