"""`tilewright compile --emit sass`: our cubins as nvdisasm prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run

import tilewright
from tilewright.emit.toolchain import find_nvdisasm

KERNEL = """\
cuda_tile.module @kernels {
  entry @store(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %m = addi %n, %n : tile<i32>
    %t = store_ptr_tko weak %x, %m : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@pytest.fixture
def kernel(folder: Path) -> Path:
    path = folder / "store.mlir"
    path.write_text(KERNEL)
    return path


def fake_nvdisasm(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a shell script in the position of nvdisasm; `$file` is the cubin."""
    fake = folder / "nvdisasm"
    fake.write_text(f'#!/bin/sh\nfor file in "$@"; do :; done\n{script}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_NVDISASM", str(fake))


def test_nvdisasm_gets_the_cubin(
    run: Run, folder: Path, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_nvdisasm(folder, monkeypatch, f'cp "$file" {folder}/seen.cubin; echo "SASS of $*"')
    result = run("compile", "store.mlir", "--emit", "sass")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("SASS of --print-code --print-line-info ")
    assert (folder / "seen.cubin").read_bytes() == tilewright.compile(KERNEL).cubin
    assert run("compile", "store.mlir", "-o", "store.sass") == (0, "", "")
    assert (folder / "store.sass").read_text().startswith("SASS of ")


def test_errors_of_nvdisasm(
    run: Run, folder: Path, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_nvdisasm(folder, monkeypatch, 'echo "nvdisasm fatal : cannot read $file" >&2; exit 255')
    code, out, err = run("compile", "store.mlir", "--emit", "sass")
    assert (code, out) == (3, "")
    assert "SASS that nvdisasm cannot print: nvdisasm fatal : cannot read module.cubin" in err
    fake_nvdisasm(folder, monkeypatch, "exit 7")
    assert (
        "SASS that nvdisasm cannot print: exit 7" in run("compile", "store.mlir", "--emit=sass").err
    )
    (folder / "nvdisasm").chmod(0o644)
    assert "cannot be started: Permission denied" in run("compile", "store.mlir", "--emit=sass").err


def test_without_nvdisasm(run: Run, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_NVDISASM", raising=False)
    monkeypatch.setattr("tilewright.emit.toolchain._installed_tool", lambda name: None)
    code, out, err = run("compile", "store.mlir", "--emit", "sass")
    assert (code, out) == (3, "")
    assert "SASS without nvdisasm: install the package nvidia-cuda-nvdisasm" in err
    module = tilewright.compile(KERNEL)
    with pytest.raises(tilewright.Unsupported, match="SASS without nvdisasm"):
        _ = module.sass


def test_sass_of_a_kernel(run: Run, kernel: Path) -> None:
    """The kernel adds and stores: an integer addition, a store to global memory, and `EXIT`."""
    try:
        find_nvdisasm()
    except tilewright.Unsupported as error:
        pytest.skip(error.feature)
    code, out, err = run("compile", "store.mlir", "--emit", "sass", "--line-info")
    assert (code, err) == (0, "")
    assert ".text.store" in out
    assert "STG" in out
    assert "EXIT" in out
    # The store of the source is in line 4, and no other line has one.
    line = ""
    stores: set[str] = set()
    for row in out.splitlines():
        line = row.rpartition("line ")[2] if "//## File" in row else line
        stores |= {line} if "STG" in row else set()
    assert stores == {"4"}
    sass = tilewright.compile(KERNEL).sass
    assert "STG" in sass
    assert "//## File" not in sass
