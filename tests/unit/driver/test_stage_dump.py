"""`TILEWRIGHT_DUMP`: every stage of a compilation as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import tilewright
from tilewright.driver.files import FileError
from tilewright.driver.settings import Settings
from tilewright.driver.stage_dump import StageDump
from tilewright.support.diagnostics import UserError
from tilewright.target.arch import ARCHES

PROGRAM = """\
cuda_tile.module @kernels {
  entry @store(%p: tile<ptr<i32>>, %a: tile<i32>) {
    %x = addi %a, %a : tile<i32>
    %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""

FILES = {
    "0-input.mlir", "1-cuda_tile.mlir", "2-nv_tileaa.mlir", "3-nv_tileas.mlir", "4-nvgpu.mlir",
    "5-nvvm.mlir", "6-llvm.ll", "7-ptx.ptx", "8-cubin.cubin", "options.txt",
}  # fmt: skip


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "dumps"
    monkeypatch.setenv("TILEWRIGHT_DUMP", str(folder))
    return folder


def test_every_stage_is_a_file(dump: Path) -> None:
    made = tilewright.compile(PROGRAM, "sm_80", 2)
    [folder] = dump.iterdir()
    assert folder.name == "store.0"
    assert {file.name for file in folder.iterdir()} == FILES
    for number, stage in enumerate(made.stages, 1):
        [file] = folder.glob(f"{number}-{stage}.*")
        assert file.read_text() == made.stages[stage]
    assert (folder / "8-cubin.cubin").read_bytes() == made.cubin
    # The locations of the source survive, so that the dumped program compiles to the same.
    assert "store_ptr_tko" in (folder / "0-input.mlir").read_text()
    again = tilewright.compile(folder / "0-input.mlir", "sm_80", 2, emit="ptx")
    assert again.ptx == made.ptx
    options = (folder / "options.txt").read_text().splitlines()
    assert {"kernels: store", "arch: sm_80", "opt_level: 2"} <= set(options)


def test_each_compilation_has_a_folder(dump: Path) -> None:
    for _ in range(2):
        tilewright.compile(PROGRAM, emit="ptx")
    tilewright.compile(PROGRAM.replace("@store", "@other"), emit="ptx")
    assert {folder.name for folder in dump.iterdir()} == {"store.0", "store.1", "other.0"}


def test_a_dump_bypasses_the_cache(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        tilewright.compile(PROGRAM, cache=True)
    assert len(list(dump.iterdir())) == 2


def test_a_failure_leaves_the_stages_before_it_and_the_reason(dump: Path) -> None:
    text = "define ptx_kernel void @wrong() {\n  ret i32 0\n}\n"
    with pytest.raises(UserError, match="LLVM rejects the program"):
        tilewright.compile(text)
    folder = dump / "wrong.0"
    assert {file.name for file in folder.iterdir()} == {
        "0-input.ll", "6-llvm.ll", "error.txt", "options.txt",
    }  # fmt: skip
    assert "UserError: error: LLVM rejects the program" in (folder / "error.txt").read_text()


def test_without_the_variable_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
    tilewright.compile(PROGRAM, emit="ptx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "folder"), [("a/../b", "a_.._b.0"), ("..", "module.0"), ("x" * 300, "x" * 100 + ".0")]
)
def test_names_of_kernels_are_no_paths(tmp_path: Path, name: str, folder: str) -> None:
    StageDump(str(tmp_path), [name], Settings(ARCHES["sm_90"]))
    assert [each.name for each in tmp_path.iterdir()] == [folder]


def test_a_folder_that_cannot_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path / "file"))
    with pytest.raises(FileError, match="TILEWRIGHT_DUMP: cannot make a folder in"):
        tilewright.compile(PROGRAM, emit="ptx")
