"""cuTile.jl, the front end in Julia: one version for both tools, and remarks as YAML.

It starts the file of its preference `tileiras`, and `tileirdisasm` beside it, with CUDA_ROOT set to
the folder above, and reads both of their streams as one text. All of `--version` is in the key of
its cache.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import tilewright
from tilewright.bytecode.versions import NEWEST, VERSIONS, spell
from tilewright.emit.note import own_note, read_note
from tilewright.tileiras.run import main


def text_of(tool: Path, *words: str | Path) -> str:
    """What a tool writes to either stream."""
    environment = {**os.environ, "CUDA_ROOT": str(tool.parent.parent)}
    done = subprocess.run(
        [tool, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def test_both_tools_have_a_version(tools: Path) -> None:
    for tool in ("tileiras", "tileirdisasm"):
        version = re.search(r"V(\d+)\.(\d+)\.(\d+)", text_of(tools / tool, "--version"))
        assert version is not None
        assert (int(version[1]), int(version[2])) == NEWEST


def test_versions_by_compiling_nothing(tmp_path: Path) -> None:
    source, cubin = tmp_path / "probe.tile", tmp_path / "probe.cubin"
    for version in VERSIONS:
        empty = tilewright.read("cuda_tile.module @m {}")
        source.write_bytes(tilewright.write_bytecode(empty, spell(version)))
        assert main([str(source), "-o", str(cubin), "--gpu-name", "sm_100"]) == 0
        assert read_note(cubin.read_bytes()) == own_note()
        cubin.unlink()


def test_remarks(tools: Path, kernel: Path, tmp_path: Path) -> None:
    """It splits the file at `---` into documents."""
    cubin, remarks = tmp_path / "out.cubin", tmp_path / "out.remarks.yaml"
    command = [kernel, "-o", cubin, "--gpu-name", "sm_90", "-O3", "--lineinfo"]
    asking = ["--remark-format=yaml", "--remarks=all", f"--remarks-output-file={remarks}"]
    assert text_of(tools / "tileiras", *command, *asking) == ""
    assert read_note(cubin.read_bytes()) == own_note()
    before, *documents = re.split(r"^---", remarks.read_text(), flags=re.M)
    assert before == ""
    assert len(documents) > 2
    for document in documents:
        assert re.match(r" !(Passed|Missed|Failure|Analysis)\nPass: .*\nName: ", document)
        assert document.count("\n  - Reason:") <= 1
        assert document.endswith("\n...\n")


def test_the_disassembler(tools: Path, kernel: Path) -> None:
    assert "entry @add" in text_of(tools / "tileirdisasm", kernel, "--print-debug-info")
